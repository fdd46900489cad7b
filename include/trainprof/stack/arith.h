/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies an instruction as scalar or vector arithmetic: a sampled leaf in scalar arithmetic is
 * in a loop that the compiler did not vectorise. */
#ifndef TRAINPROF_STACK_ARITH_H
#define TRAINPROF_STACK_ARITH_H

#include "trainprof/stack/maps.h"

enum tp_arith {
	TP_ARITH_NONE,   /* no arithmetic (loads, branches, addresses), or unknown */
	TP_ARITH_SCALAR, /* one floating-point value */
	TP_ARITH_VECTOR, /* several values of any type */
};

/* Classifies the instruction at the frame's address (not at a return address), read from the
 * module's file. x86-64 and aarch64; NONE elsewhere, in code without a file, and if it cannot be
 * read. */
enum tp_arith tp_arith_at(const struct tp_stack_frame *frame);

#endif
