/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the recorded steps of all ranks with other durations of compute operations. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_RANK_REPLAY_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_RANK_REPLAY_H

#include "collective_match.h"

/* The length of a compute operation: the mean of its name, or its own, times its device's scale. */
struct tp_rank_change {
	const double *scale;   /* by device */
	const double *mean_ns; /* by string id; NULL = lengths as recorded */
};

/* The recorded order of events; heap. */
struct tp_rank_replay {
	const struct tp_collectives *all;
	struct tp_replay_event *events;
	size_t n_events;
	uint32_t **collective_of; /* by device and operation */
	int64_t start_ns;
};

void tp_rank_replay_init(struct tp_rank_replay *replay, const struct tp_collectives *all);
void tp_rank_replay_release(struct tp_rank_replay *replay);
/* Returns the time from the first to the last operation after the change, in ns. An operation
 * begins as long after the operations that had ended before it on its device as it did when it was
 * recorded; a collective ends as long after its last member arrives. */
double tp_rank_replay_length(const struct tp_rank_replay *replay,
			     const struct tp_rank_change *change);

#endif
