/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the instruction at a place computes with one number or with several at once: a sampled
 * leaf in scalar arithmetic is in a loop that the compiler did not vectorise.
 */
#ifndef TRAINPROF_STACK_ARITH_H
#define TRAINPROF_STACK_ARITH_H

#include "trainprof/stack/maps.h"

enum tp_arith {
	TP_ARITH_NONE,   /* no arithmetic: loads, branches, addresses; or not known */
	TP_ARITH_SCALAR, /* one floating-point number */
	TP_ARITH_VECTOR, /* several numbers of any kind */
};

/*
 * Of the instruction that begins at the frame's address (not of a return address), by the module's
 * file. x86-64 and aarch64; NONE elsewhere, in code without a file, and where it cannot be read.
 */
enum tp_arith tp_arith_at(const struct tp_stack_frame *frame);

#endif
