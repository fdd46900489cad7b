/* SPDX-License-Identifier: Apache-2.0 */
/* Where the main thread is: phases are timed for the truth file and marked for trainprof. */
#ifndef TRAINER_PHASES_H
#define TRAINER_PHASES_H

#include <stdint.h>

enum part {
	PART_COMPUTE,
	PART_COMMUNICATION,
	PART_MEMORY,
	PART_DATALOADER,
	PART_HOST,
	PART_IDLE,
	N_PARTS,
};

enum phase {
	PHASE_LOOP, /* between the others */
	PHASE_NEXT_BATCH,
	PHASE_FORWARD,
	PHASE_BACKWARD,
	PHASE_SGD,
	PHASE_ALL_REDUCE,
	PHASE_SCRATCH,
	PHASE_COPY,
	PHASE_METRICS,
	PHASE_LOG,
	PHASE_CHECKPOINT,
	PHASE_PAUSE,
	N_PHASES,
};

struct knobs;
struct loader;

uint64_t clock_ns(void);

/* From here on phases of the calling thread count. Called in each rank. */
void phases_start(const struct knobs *knobs, int rank);
/* A step begins, and the one before ends. */
void phases_step(void);
/* The last step ended: the window is closed. */
void phases_stop(void);

void phase_enter(enum phase phase);
void phase_leave(void);
/* A stretch with a mark of its own around phases; costs nobody anything. */
void phases_evaluation(int is_begin);

/* Time in the all-reduce until the last rank arrived. */
void phases_add_wait(uint64_t wait_ns);
void phases_set_loss(double first, double last);

/* Write the truth file, if one is wanted. */
void phases_write(const struct loader *loader);

#endif
