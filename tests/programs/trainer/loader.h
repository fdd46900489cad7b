/* SPDX-License-Identifier: Apache-2.0 */
/* Batches for the trainer: made by itself, by threads, or by forked processes, ahead of use. */
#ifndef TRAINER_LOADER_H
#define TRAINER_LOADER_H

#include <stdint.h>

struct knobs;
struct loader;

/* What one producer did; with no workers, what the trainer did in their place. */
struct worker_stat {
	int pid;
	int tid;
	uint64_t n_batches;
	uint64_t busy_ns; /* from taking up a batch to having it ready */
	uint64_t read_ns; /* of that: open, read, close */
	uint64_t decode_ns;
	uint64_t sleep_ns;
	uint64_t handover_ns; /* telling that it is ready, besides busy_ns */
};

/* `first` is the number of the first batch and `stride` the distance to the next, for ranks. */
struct loader *loader_open(const struct knobs *knobs, const char *set, int first, int stride);
void loader_close(struct loader *loader);

/* Copies the next batch out; waits for it, or makes it. */
void loader_next(struct loader *loader, float *inputs, int *classes);

int loader_worker_count(const struct loader *loader);
const struct worker_stat *loader_worker_stat(const struct loader *loader, int i);

#endif
