/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether the main thread hands whole steps to a pool of threads and waits, as with XLA
 * and TensorFlow. A main thread that is a member of a team computes as much as any member, and
 * waits less than it computes. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_OFFLOADED_WORK_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_OFFLOADED_WORK_H

#include "analyze/analysis.h"

/* Needs timelines, thread roles and the main thread. */
bool tp_offloaded_work_is_seen(const struct tp_analysis *analysis);

#endif
