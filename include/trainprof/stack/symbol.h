/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions. A symbol is used only when it covers the address (start <= address < start +
 * size): the nearest symbol below would invent names for most of a stripped library. Where no
 * symbol covers it, the unwind table still gives the bounds of the function.
 *
 * Code made at run time is named by /tmp/perf-PID.map in the target's mount namespace, if its
 * compiler writes one; it is read again while it grows. Believed is only a regular file of the
 * target's user, no symbolic link, up to 64 MiB; lines that make no sense are skipped.
 */
#ifndef TRAINPROF_STACK_SYMBOL_H
#define TRAINPROF_STACK_SYMBOL_H

#include "trainprof/stack/maps.h"
#include "trainprof/stack/modules.h"

struct tp_symbol {
	const char *name; /* as in the file (mangled); "" when unknown. Lent by the module */
	uint64_t start; /* first address of the function; the frame's own when bounds are unknown */
	uint64_t end;   /* one past it; equal to start when bounds are unknown */
};

/* Look up the function of a frame. Tables are loaded when first asked for. Never fails. */
void tp_symbol_find(const struct tp_stack_frame *frame, struct tp_symbol *out);

#endif
