/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of samples: rows of SAMPLING_CALLCHAINS, a frame each. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_STACKS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_STACKS_H

#include "nsys_thread_table.h"

enum {
	/* Rows that are put in order together; whose order is worse has shorter stacks. */
	TP_NSYS_FRAMES_SORTED = 1 << 20,
	/* Samples that keep their stacks, 16 bytes each; and of those how many may come after one
	 * with a larger number that was not put in order with them. */
	TP_NSYS_STACKS_MAX = 1 << 22,
	TP_NSYS_STACKS_UNSORTED = 1 << 18,
};

struct tp_nsys_stack {
	uint64_t sample;
	uint32_t stack;   /* the teller's */
	uint32_t reached; /* depth, plus one */
};

/* Zero-initialised is empty and valid. */
struct tp_nsys_stacks {
	struct tp_nsys_stack *items; /* by sample but for late ones; heap */
	size_t n;
	size_t n_ordered;
	size_t capacity;
	struct tp_map late;   /* sample -> index behind the ordered ones */
	struct tp_map frames; /* numbers of symbol and module -> frame */
};

void tp_nsys_stacks_read(struct tp_nsys_stacks *stacks, struct tp_nsys_threads *threads);
/* The teller's; 0 for a sample without. */
uint32_t tp_nsys_stacks_find(const struct tp_nsys_stacks *stacks,
			     const struct tp_sqlite_cell *sample);
void tp_nsys_stacks_release(struct tp_nsys_stacks *stacks);

#endif
