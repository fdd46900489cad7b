/* SPDX-License-Identifier: Apache-2.0 */
/* The steady steps of a run as the replay of its loader needs them. */
#ifndef TRAINPROF_SRC_ANALYZE_REPLAY_LOOP_RECORD_H
#define TRAINPROF_SRC_ANALYZE_REPLAY_LOOP_RECORD_H

#include "analyze/analysis.h"
#include "loader_replay.h"

/* Heap; zero-initialised is empty. */
struct tp_loop_record {
	struct tp_replay_work *batches; /* of a worker, or of the trainer where there is none */
	struct tp_replay_work
		*steps; /* of the trainer, its own loading and waits for it left out */
	size_t n;
	double step_ns;     /* mean, as measured */
	unsigned n_workers; /* 0: the trainer loads */
	unsigned n_ahead;   /* for each worker; 2 where no setting says it */
	bool is_in_turn;    /* a PyTorch loader with workers: its setting was seen */
	double n_cpus;      /* that the program may use */
	double others;      /* CPUs that other programs had */
	double delay_ratio; /* of the time that workers and trainer wanted a CPU: without one */
	double team;
};

/*
 * NULL and a record to release in any case, or why there is none. Needs labels, steps, the window,
 * loader.* and cpu.*.
 *
 * Batches are as many as steps. What a batch takes is known of all together: a worker's time but
 * its waits for room, for work, and for a CPU. How it differs from batch to batch is seen where the
 * trainer waited: from one batch that it waited for to the next one of the same worker.
 */
const char *tp_loop_record_build(struct tp_loop_record *out, const struct tp_analysis *analysis);
void tp_loop_record_release(struct tp_loop_record *record);

#endif
