/* SPDX-License-Identifier: Apache-2.0 */
/* Why a change of a program's command would not reach the program. */
#ifndef TRAINPROF_SRC_CLI_COMPARE_TRIAL_CHECK_H
#define TRAINPROF_SRC_CLI_COMPARE_TRIAL_CHECK_H

#include "trainprof/model/run_info.h"

/* Returns the reason why this prefix (NULL = none) would change nothing, so that equal runs would
 * be compared; NULL = it takes effect. */
const char *tp_trial_check(const struct tp_run_info *run, const char *prefix,
			   struct tp_arena *arena);

#endif
