/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulates a training loop and its data loader, to predict the step time with other workers.
 *
 * Workers make batches, one batch each at a time, and the trainer uses them in order. A worker
 * begins a batch while fewer than n_workers * n_ahead batches are begun or ready and not yet taken
 * by the trainer. There are two kinds of work: waits (disk, sleep, device) always take their own
 * time; CPU work runs at full speed while there are enough CPUs for all, otherwise all, including
 * other programs, get the same share. The two alternate within a batch and a step, as they do over
 * the samples of a batch.
 *
 * Not modelled: caches and memory bandwidth (`slowdown` represents both), the cost of starting
 * workers, and which threads the kernel's scheduler prefers: `is_trainer_first` is one extreme of
 * that. Times are in ns.
 */
#ifndef TRAINPROF_SRC_ANALYZE_REPLAY_LOADER_REPLAY_H
#define TRAINPROF_SRC_ANALYZE_REPLAY_LOADER_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

enum { TP_REPLAY_WORKERS_MAX = 256 };

struct tp_replay_work {
	double cpu_ns;
	double wait_ns;
};

struct tp_loader_replay {
	const struct tp_replay_work *batches; /* time to make each batch; borrowed */
	const struct tp_replay_work *steps;   /* the trainer's work on each batch; borrowed */
	size_t n;              /* length of both arrays; they are repeated if n is small */
	unsigned n_workers;    /* 0 = the trainer makes its batches itself */
	unsigned n_ahead;      /* per worker, at least 1 */
	bool is_in_turn;       /* batch k belongs to worker (k mod n_workers), as in PyTorch */
	double n_cpus;         /* CPUs that the program may use, more than 0 */
	double others;         /* CPUs that other programs want at the same time */
	double team;           /* CPUs that the trainer's work keeps busy, at least 1 */
	bool is_trainer_first; /* the trainer always has its CPUs; otherwise all get the same share
				*/
	/* Relative extra time of CPU work while all CPUs are busy; 0 of it while half are. */
	double slowdown;
};

struct tp_replayed {
	double step_ns; /* mean, without the first steps, in which the queue fills; 0 if n is 0 */
	double delay_ratio; /* fraction of the time that workers and trainer want a CPU without
			       having one */
};

struct tp_replayed tp_loader_replay(const struct tp_loader_replay *replay);

#endif
