/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stays on a CPU that are too short for a sample: a timer needs tens of microseconds to fire, in a
 * virtual machine more, and one that is due when its thread has left fires in a later, longer stay.
 */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_UNDERSAMPLED_RUNS_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_UNDERSAMPLED_RUNS_H

#include "analyze/analysis.h"

/* How much of the main thread's time on CPUs that is, and the length below which no sample falls;
 * both 0 where samples fall into short stays as well, or nothing is known of stays. */
double tp_undersampled_runs_share(const struct tp_analysis *analysis, uint64_t *below_ns);

#endif
