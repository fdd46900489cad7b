/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What trainprof's own CPU time is spent for. Going from one stage to the next reads the monotonic
 * clock, which takes 0.03 us. Each turn of the sampler's loop asks the kernel for the CPU time of
 * its thread once (0.4 us): where stages seem to have taken more, another program had the CPU, and
 * all of the turn are scaled down. What is left of a turn is waking up, and is of no stage.
 */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_STAGE_CLOCK_H
#define TRAINPROF_SRC_COLLECT_MACHINE_STAGE_CLOCK_H

#include <stdint.h>

enum tp_stage {
	TP_STAGE_NONE,     /* waiting, waking up, the loop itself */
	TP_STAGE_RINGS,    /* records of perf and of agents */
	TP_STAGE_UNWIND,   /* native stacks, with the tables that it takes */
	TP_STAGE_SYMBOLS,  /* names of frames */
	TP_STAGE_PYTHON,   /* stacks of Python */
	TP_STAGE_COUNTERS, /* counters of loops */
	TP_STAGE_PROC,     /* accounts in /proc and /sys */
	TP_STAGE_OFFCPU,   /* looks at threads that wait */
	TP_STAGE_STORE,    /* writing the recording */
	TP_N_STAGES,
};

struct tp_stage_clock {
	enum tp_stage stage; /* now */
	uint64_t since_ns;   /* of the monotonic clock */
	uint64_t turn_ns[TP_N_STAGES];
	double cpu_ns[TP_N_STAGES]; /* of turns that are over; [0] is not kept */
	uint64_t turn_cpu_ns;       /* CPU time of the thread when the turn began */
};

/* Returns the stage that it was in. A clock that is NULL keeps nothing. */
enum tp_stage tp_stage_enter(struct tp_stage_clock *clock, enum tp_stage stage);
/* The same for a time that was read just now. */
enum tp_stage tp_stage_enter_at(struct tp_stage_clock *clock, enum tp_stage stage, uint64_t now_ns);

/* A turn is over; cpu_ns is the CPU time of the thread by now. */
void tp_stage_end_round(struct tp_stage_clock *clock, uint64_t cpu_ns);

#endif
