/* SPDX-License-Identifier: Apache-2.0 */
/* What to say where steps are too short to be found: why, and a command that may find them. Texts
 * are in the analysis' arena. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_STEPS_HINT_H
#define TRAINPROF_SRC_ANALYZE_STEPS_STEPS_HINT_H

#include "analyze/analysis.h"

/* Why no breakpoint times the steps: a clause without a stop. */
const char *tp_steps_hint_no_breakpoint(const struct tp_analysis *analysis);

/* "trainprof run --rate=400 --max-overhead=5% -- ./train 20": samples more often and may time calls
 * that come more often, both at a higher cost. NULL where the recording was made by no such
 * command, or by this one. */
const char *tp_steps_hint_command(const struct tp_analysis *analysis);

#endif
