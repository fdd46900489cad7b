/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts trainprof's own CPU time by stage. A change of stage reads the monotonic clock, which
 * takes 0.03 us. The CPU time of the thread is a system call, which takes some us when nothing of
 * it is in the caches: it is read after each fourth round of the sampler's loop, and after one that
 * took long. If the stages seem to have taken more, another program had the CPU, and all stages of
 * these rounds are scaled down. The rest is waking up, and belongs to no stage. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_STAGE_CLOCK_H
#define TRAINPROF_SRC_COLLECT_MACHINE_STAGE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum tp_stage {
	TP_STAGE_NONE,     /* waiting, waking up, the loop itself */
	TP_STAGE_RINGS,    /* records of perf and of agents */
	TP_STAGE_UNWIND,   /* unwinding of native stacks, including loading the tables */
	TP_STAGE_SYMBOLS,  /* names of frames */
	TP_STAGE_PYTHON,   /* Python stacks */
	TP_STAGE_COUNTERS, /* loop counters */
	TP_STAGE_PROC,     /* accounting in /proc and /sys */
	TP_STAGE_OFFCPU,   /* inspection of waiting threads */
	TP_STAGE_STORE,    /* writing of the recording */
	TP_N_STAGES,
};

struct tp_stage_clock {
	enum tp_stage stage; /* current */
	uint64_t since_ns;   /* by the monotonic clock */
	uint64_t turn_ns[TP_N_STAGES];
	double cpu_ns[TP_N_STAGES]; /* of updated rounds; [0] is not used */
	uint64_t turn_cpu_ns;       /* CPU time of the thread when it was last read */
	uint64_t earlier_ns;        /* time of stages in rounds since then */
	unsigned n_rounds;          /* since then */
};

/* Returns the previous stage. With a NULL clock nothing is recorded. */
enum tp_stage tp_stage_enter(struct tp_stage_clock *clock, enum tp_stage stage);
/* The same for a time that was read just now. */
enum tp_stage tp_stage_enter_at(struct tp_stage_clock *clock, enum tp_stage stage, uint64_t now_ns);

/* Returns a limit of the CPU time that was used since `since_ns`, a monotonic time in this round. A
 * short time counts whole, which saves a system call; of a longer one another program may have had
 * a part, and it is at most what was used since the CPU time was last read, fewer than four short
 * rounds before. With a NULL clock all of it counts. */
uint64_t tp_stage_used_ns(const struct tp_stage_clock *clock, uint64_t since_ns);

/* Ends a round; returns true if the CPU time of the thread shall be read. */
bool tp_stage_end_round(struct tp_stage_clock *clock);
/* Ends all rounds since the last call; cpu_ns is the current CPU time of the thread. */
void tp_stage_update(struct tp_stage_clock *clock, uint64_t cpu_ns);

#endif
