/* SPDX-License-Identifier: Apache-2.0 */
/* Time of the main thread in phases other than the training itself. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PHASE_TIME_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PHASE_TIME_H

#include "analyze/analysis.h"
#include "analyze/numeric/intervals.h"

enum tp_side_phase {
	TP_SIDE_EVALUATION,
	TP_SIDE_CHECKPOINT,
	TP_SIDE_CHECKPOINT_WAIT, /* of checkpoint time, blocked in storage */
	TP_SIDE_LOGGING,
	TP_N_SIDES
};

/* Unions, heap; all zero = no time. */
struct tp_phase_time {
	struct tp_intervals side[TP_N_SIDES];
};

/* Needs the labels of the main thread. */
void tp_phase_time_build(struct tp_phase_time *out, const struct tp_analysis *analysis);
void tp_phase_time_release(struct tp_phase_time *phases);

uint64_t tp_phase_time_between(const struct tp_phase_time *phases, enum tp_side_phase side,
			       uint64_t from_ns, uint64_t to_ns);

#endif
