/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions that touch fresh memory: their own samples are mostly at the end of page
 * faults. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_FIRST_TOUCH_H
#define TRAINPROF_SRC_ANALYZE_STEPS_FIRST_TOUCH_H

#include "analyze/analysis.h"

/* If the main thread takes a page fault every few instructions, an interrupt that the kernel held
 * back hits the instruction after the fault, and the loop around it does nothing else. Sets the
 * leaf of a page fault for stacks whose innermost function spends most of its time in faults.
 * Changes nothing if the kernel is not sampled. */
void tp_first_touch_mark(struct tp_analysis *analysis);

#endif
