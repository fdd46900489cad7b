/* SPDX-License-Identifier: Apache-2.0 */
/* Says which steps are left out of the judged window. */
#ifndef TRAINPROF_SRC_ANALYZE_STEADY_STEP_WINDOW_H
#define TRAINPROF_SRC_ANALYZE_STEADY_STEP_WINDOW_H

#include "step_kind.h"

#include "trainprof/model/profile.h"

/* Adds the profile's steps of each kind. */
void tp_step_window_count(const struct tp_profile *profile, size_t counts[TP_N_STEP_KINDS]);
/* Returns for example "warm-up of 40 steps and 8 evaluation, 3 other steps excluded"; a constant or
 * a text of the arena. */
const char *tp_step_window_describe(struct tp_arena *arena, const size_t counts[TP_N_STEP_KINDS]);
/* Warns if the step time settled on several levels. */
void tp_step_window_warn(struct tp_profile *profile, const struct tp_step_levels *levels);

#endif
