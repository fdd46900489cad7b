/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses an interval of a running program; of a launcher, each of its ranks by itself. */
#ifndef TRAINPROF_SRC_CLI_LIVE_LIVE_ANALYSIS_H
#define TRAINPROF_SRC_CLI_LIVE_LIVE_ANALYSIS_H

#include "trainprof/analyze/analyze.h"
#include "trainprof/model/profile.h"
#include "trainprof/model/window.h"
#include "trainprof/report/live.h"
#include "trainprof/report/report.h"

#include <sys/types.h>

struct tp_live_analysis {
	struct tp_trace trace;
	struct tp_profile *profiles; /* heap */
	size_t n_profiles;
	struct tp_live_rank *ranks; /* heap, one per profile; NULL = the program is no job */
	size_t shown;               /* index of the profile that is shown in detail */
	struct tp_report report;    /* of that profile; `directory` is the caller's */
};

/* Analyses the records between the two times. Of a job it shows the rank that waits least for the
 * others, but keeps to the one with pid `before` (0 = none) while that waits about as little.
 * Returns NULL if the interval cannot be analysed; the caller frees the result. */
struct tp_live_analysis *tp_live_analysis_new(struct tp_window *window,
					      const struct tp_run_info *run, uint64_t from_ns,
					      uint64_t until_ns, const struct tp_patterns *patterns,
					      pid_t before);
void tp_live_analysis_free(struct tp_live_analysis *analysis);

const struct tp_profile *tp_live_analysis_profile(const struct tp_live_analysis *analysis);
/* Returns the pid of the rank that is shown; 0 if the program is no job. */
pid_t tp_live_analysis_pid(const struct tp_live_analysis *analysis);

#endif
