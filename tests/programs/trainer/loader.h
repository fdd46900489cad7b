/* SPDX-License-Identifier: Apache-2.0 */
/* Batches for the trainer: produced by itself, by threads, or by forked processes, ahead of use. */
#ifndef TRAINER_LOADER_H
#define TRAINER_LOADER_H

#include <stdint.h>

struct knobs;
struct loader;

/* Counters of one producer; without workers, of the trainer, which then produces the batches. */
struct worker_stat {
	int pid;
	int tid;
	uint64_t n_batches;
	uint64_t busy_ns; /* from accepting a batch number to having the batch ready */
	uint64_t read_ns; /* part of it: open, read, close */
	uint64_t decode_ns;
	uint64_t sleep_ns;
	uint64_t handover_ns; /* reporting that the batch is ready, not in busy_ns */
};

/* `first` is the number of the first batch and `stride` the distance to the next, for ranks. */
struct loader *loader_open(const struct knobs *knobs, const char *set, int first, int stride);
void loader_close(struct loader *loader);

/* Copies the next batch out; waits for it, or produces it. */
void loader_next(struct loader *loader, float *inputs, int *classes);

int loader_worker_count(const struct loader *loader);
const struct worker_stat *loader_worker_stat(const struct loader *loader, int i);

#endif
