/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the other programs that use the CPUs, for sentences and examples. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_OTHER_NAMES_H
#define TRAINPROF_SRC_ADVISE_JUDGE_OTHER_NAMES_H

#include "trainprof/base/arena.h"
#include "trainprof/model/profile.h"

#define TP_OTHER_PROGRAMS_UNKNOWN "the other programs"

/* Returns "python3 (pid 811) and cc1 (4 processes)"; TP_OTHER_PROGRAMS_UNKNOWN if none is known. */
const char *tp_other_programs_names(const struct tp_profile *profile, struct tp_arena *arena);
/* Returns the CPUs by name: ": python3 0.9, cc1 0.1", or "". */
const char *tp_other_programs_cpus(const struct tp_profile *profile, struct tp_arena *arena);
/* Returns "811 902", or NULL. */
const char *tp_other_programs_pids(const struct tp_profile *profile, struct tp_arena *arena);

#endif
