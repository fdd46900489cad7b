/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of the main thread: they are timed for the truth file and marked for trainprof. */
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
	PHASE_LOOP, /* between the other phases */
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

/* From here on the phases of the calling thread count. Called in each rank. */
void phases_start(const struct knobs *knobs, int rank);
/* Begins a step and ends the previous one. */
void phases_step(void);
/* Ends the last step and the measured window. */
void phases_stop(void);

void phase_enter(enum phase phase);
void phase_leave(void);
/* Begins or ends a separate mark around phases; the truth does not contain it. */
void phases_evaluation(int is_begin);

/* Adds the time in the all-reduce until the last rank arrived. */
void phases_add_wait(uint64_t wait_ns);
void phases_set_loss(double first, double last);

/* Writes the truth file, if one is wanted. */
void phases_write(const struct loader *loader);

#endif
