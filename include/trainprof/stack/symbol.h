/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions. A symbol is used only if it covers the address (start <= address < start +
 * size): the nearest symbol below would give wrong names for most of a stripped library. Where no
 * symbol covers it, the unwind table still gives the bounds of the function.
 *
 * Code generated at run time is named by /tmp/perf-PID.map in the target's mount namespace, if its
 * compiler writes one; the file is read again while it grows. It is trusted only if it is a regular
 * file of the target's user, not a symbolic link, and at most 64 MiB; invalid lines are skipped.
 */
#ifndef TRAINPROF_STACK_SYMBOL_H
#define TRAINPROF_STACK_SYMBOL_H

#include "trainprof/stack/maps.h"
#include "trainprof/stack/modules.h"

struct tp_symbol {
	const char *name; /* as in the file (mangled); "" if unknown. Borrowed from the module */
	uint64_t start;   /* first address of the function; the frame's own if bounds are unknown */
	uint64_t end;     /* one past it; equal to start if bounds are unknown */
};

/* Looks up the function of a frame. Tables are loaded at first use. Never fails. */
void tp_symbol_find(const struct tp_stack_frame *frame, struct tp_symbol *out);

#endif
