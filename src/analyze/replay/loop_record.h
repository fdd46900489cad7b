/* SPDX-License-Identifier: Apache-2.0 */
/* The steady steps of a run in the form that the replay of its loader needs. */
#ifndef TRAINPROF_SRC_ANALYZE_REPLAY_LOOP_RECORD_H
#define TRAINPROF_SRC_ANALYZE_REPLAY_LOOP_RECORD_H

#include "analyze/analysis.h"
#include "loader_replay.h"

/* Heap memory; a zero-initialised record is empty. */
struct tp_loop_record {
	struct tp_replay_work *batches; /* of a worker, or of the trainer if it has none */
	struct tp_replay_work *steps;   /* of the trainer, without loading and waits for data */
	size_t n;
	double step_ns;     /* mean, as measured */
	unsigned n_workers; /* 0 = the trainer loads the data */
	unsigned n_ahead;   /* per worker; 2 if no setting is known */
	bool is_in_turn;    /* a PyTorch loader with workers: its setting was seen */
	double n_cpus;      /* CPUs that the program may use */
	double others;      /* CPUs that other programs used */
	double delay_ratio; /* fraction of the time that workers and trainer wanted a CPU without
			       having one */
	double team;
};

/*
 * Returns NULL, or the reason why no record could be built; the record must be released in both
 * cases. Needs labels, steps, the window, loader.* and cpu.*.
 *
 * There are as many batches as steps. The work of a batch is known only as a mean: all the time of
 * the workers except waits for room in the queue, for work, and for a CPU. The variation between
 * batches is measured where the trainer waited: from one batch that it waited for to the next one
 * of the same worker.
 */
const char *tp_loop_record_build(struct tp_loop_record *out, const struct tp_analysis *analysis);
void tp_loop_record_release(struct tp_loop_record *record);

#endif
