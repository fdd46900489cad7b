/* SPDX-License-Identifier: Apache-2.0 */
/* Finds runs on a CPU that are too short for a sample: a timer needs tens of microseconds to fire,
 * more in a virtual machine, and one that expires after its thread has left the CPU fires in a
 * later, longer run. */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_UNDERSAMPLED_RUNS_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_UNDERSAMPLED_RUNS_H

#include "analyze/analysis.h"

/* Returns the share of the main thread's CPU time in such runs, and the length below which no
 * sample falls. Both are 0 if short runs have samples as well, or if no runs are recorded. */
double tp_undersampled_runs_share(const struct tp_analysis *analysis, uint64_t *below_ns);

#endif
