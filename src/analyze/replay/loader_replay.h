/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop and its loader, run again on paper: what would a step take with other workers?
 *
 * Workers make batches, one batch each at a time, and the trainer uses them in order. A worker
 * begins a batch while fewer than n_workers * n_ahead are begun or ready and not yet taken by the
 * trainer. Work is of two kinds: waits (a disk, a sleep, a device) take their time whatever else
 * goes on; CPU work goes on at full speed while there are CPUs for all who want one, else all,
 * other programs too, get the same share. The two alternate within a batch and a step, as they do
 * over the samples of a batch.
 *
 * Not modelled: caches and memory bandwidth (`slowdown` stands for both), what starting
 * workers costs, how the kernel's scheduler prefers threads: `is_trainer_first` is one end of that.
 * Times are in ns.
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
	const struct tp_replay_work *batches; /* what it takes to make each; borrowed */
	const struct tp_replay_work *steps;   /* what the trainer does with each; borrowed */
	size_t n;                             /* of both; they repeat where n is small */
	unsigned n_workers;                   /* 0: the trainer makes its batches itself */
	unsigned n_ahead;                     /* for each worker, at least 1 */
	bool is_in_turn;       /* batch k is worker (k mod n_workers)'s, as in PyTorch */
	double n_cpus;         /* that the program may use, more than 0 */
	double others;         /* CPUs that other programs want at the same time */
	double team;           /* CPUs that the trainer's work keeps busy, at least 1 */
	bool is_trainer_first; /* it has its CPUs whoever wants them; else all have the same share
				*/
	/* How much longer CPU work takes while all CPUs are busy; nothing of it where half are. */
	double slowdown;
};

struct tp_replayed {
	double step_ns; /* mean, without the first ones, in which the queue fills; 0 where n is 0 */
	double delay_ratio; /* of the time that workers and trainer want a CPU: without one */
};

struct tp_replayed tp_loader_replay(const struct tp_loader_replay *replay);

#endif
