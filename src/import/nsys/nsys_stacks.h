/* SPDX-License-Identifier: Apache-2.0 */
/* Reads stacks of samples: rows of SAMPLING_CALLCHAINS, one frame each. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_STACKS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_STACKS_H

#include "nsys_thread_table.h"

enum {
	/* Number of rows that are sorted together; if the rows are less ordered, stacks are
	 * shorter. */
	TP_NSYS_FRAMES_SORTED = 1 << 20,
	/* Maximum number of samples that keep their stacks, 16 bytes each; and of those that come
	 * after one with a larger number outside of the rows sorted with them. */
	TP_NSYS_STACKS_MAX = 1 << 22,
	TP_NSYS_STACKS_UNSORTED = 1 << 18,
};

struct tp_nsys_stack {
	uint64_t sample;
	uint32_t stack;   /* stack of the thread emitter */
	uint32_t reached; /* depth, plus one */
};

/* Zero-initialised is empty and valid. */
struct tp_nsys_stacks {
	struct tp_nsys_stack *items; /* sorted by sample except late ones; heap */
	size_t n;
	size_t n_ordered;
	size_t capacity;
	struct tp_map late;   /* sample -> index, for samples after the sorted ones */
	struct tp_map frames; /* numbers of symbol and module -> frame */
};

void tp_nsys_stacks_read(struct tp_nsys_stacks *stacks, struct tp_nsys_threads *threads);
/* Returns the stack of the thread emitter; 0 for a sample without a stack. */
uint32_t tp_nsys_stacks_find(const struct tp_nsys_stacks *stacks,
			     const struct tp_sqlite_cell *sample);
void tp_nsys_stacks_release(struct tp_nsys_stacks *stacks);

#endif
