/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that touch fresh memory: their own instructions are the ends of page faults. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_FIRST_TOUCH_H
#define TRAINPROF_SRC_ANALYZE_STEPS_FIRST_TOUCH_H

#include "analyze/analysis.h"

/*
 * Where the main thread takes a page fault every few instructions, an interrupt that the kernel
 * held back meets the instruction behind the fault, and the loop around it does nothing else.
 * Stacks whose innermost function spends most of its time in faults are given the leaf of a fault.
 * Nothing changes where the kernel is not sampled.
 */
void tp_first_touch_mark(struct tp_analysis *analysis);

#endif
