/* Stacks of samples: rows of SAMPLING_CALLCHAINS, a frame each. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_STACKS_H
#define TRAINPROF_SRC_IMPORT_NSYS_STACKS_H

#include "nsys_threads.h"

enum {
	/* Rows that are put in order together; whose order is worse has shorter stacks. */
	TP_NSYS_FRAMES_SORTED = 1 << 20,
	/* Samples that keep their stacks: 48 bytes each. */
	TP_NSYS_STACKS_MOST = 1 << 22,
};

/* Zero-initialised is empty and valid. */
struct tp_nsys_stacks {
	struct tp_map by_sample; /* id of a sample -> stack, and the depth it has reached << 32 */
	struct tp_map frames;    /* numbers of symbol and module -> frame */
};

void tp_nsys_stacks_read(struct tp_nsys_stacks *stacks, struct tp_nsys_threads *threads);
/* The teller's; 0 for a sample without. */
uint32_t tp_nsys_stacks_find(const struct tp_nsys_stacks *stacks,
			     const struct tp_nsys_cell *sample);
void tp_nsys_stacks_release(struct tp_nsys_stacks *stacks);

#endif
