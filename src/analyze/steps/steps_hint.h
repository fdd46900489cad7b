/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for steps that are too short to be found: the reason, and a command that may find them.
 * They are in the analysis' arena. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_STEPS_HINT_H
#define TRAINPROF_SRC_ANALYZE_STEPS_STEPS_HINT_H

#include "analyze/analysis.h"

/* Returns why no breakpoint times the steps, as a clause without a full stop. */
const char *tp_steps_hint_no_breakpoint(const struct tp_analysis *analysis);

/* Returns "trainprof run --rate=400 --max-overhead=5% -- ./train 20": it samples more often and may
 * time calls that are more frequent, both at a higher cost. If the recording was already made at
 * that rate: the calls that mark a step. NULL if it was not made by run or attach. */
const char *tp_steps_hint_command(const struct tp_analysis *analysis);

#endif
