/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides how long and how often the GPU is traced, from the measured cost of earlier windows, so
 * that the cost stays below --max-overhead. Pure: no clock, no system call.
 *
 * With s = slowdown in a window, c = cost of opening and closing one, T = time from one window to
 * the next, w = length of a window and B = the budget:
 *
 * 	(w (s - 1) + c) / T  <=  0.8 B      c / T  <=  0.2 B      w / T  <=  5 x B, at most half
 *
 * which is  d = min(5 %, (0.8 % - c / T) / (s - 1)),  T >= c / 0.2 %  at B = 1 %. s and c are the
 * measured values plus one standard error. Before the first measurement, and if nothing shows how
 * fast the program progresses, s is the worst published value: 2.8 (an injected agent with vLLM,
 * parca-agent#3213, read 2026-11-20; Proton on nanoGPT: 1.03).
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_TRACE_GOVERNOR_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_TRACE_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cost of a window. Errors are standard errors. */
struct tp_gpu_window_cost {
	uint64_t length_ns;
	double slowdown; /* s - 1 */
	double slowdown_error;
	double lost_ns; /* total loss of the program, including opening and closing */
	double lost_error_ns;
	/* slowdown of the program between windows now, compared with the time before the first
	 * one */
	double residue;
	double residue_error; /* for the stretch after this window */
	double first_error;   /* for the stretch before the first one: the same for all windows */
};

/* A mean and its uncertainty. */
struct tp_gpu_mean {
	size_t n;
	double sum;
	double squares;
	double error_squares; /* of each value's own error */
};

struct tp_gpu_trace_governor {
	double budget; /* --max-overhead; a ratio */
	uint64_t seed;
	struct tp_gpu_mean slowdown;
	struct tp_gpu_mean fixed_ns; /* c */
	struct tp_gpu_mean lost_ns;
	struct tp_gpu_mean residue;
	double first_error; /* more windows do not reduce it */
	uint64_t period_ns; /* of the last schedule that used measured costs; 0 = none yet */
};

struct tp_gpu_window_schedule {
	uint64_t length_ns; /* minimum length of the next window */
	uint64_t most_ns;   /* maximum length, if it waits for whole steps */
	uint64_t period_ns; /* T */
	uint64_t start_ns;  /* after the start of the last window: T plus a random part of it */
};

enum { TP_GPU_WINDOW_EVENTS_MAX = 2000000 }; /* events per window */

/* `seed` randomises the phases of windows: any number. */
void tp_gpu_trace_governor_init(struct tp_gpu_trace_governor *governor, double max_overhead_ratio,
				uint64_t seed);
void tp_gpu_trace_governor_add(struct tp_gpu_trace_governor *governor,
			       const struct tp_gpu_window_cost *cost);
/* `step_ns`: length of a step outside windows; 0 = unknown. `last_ns`: the actual length of the
 * last window, which must be amortised before the next one; 0 = there was none. */
void tp_gpu_trace_governor_next(struct tp_gpu_trace_governor *governor, uint64_t step_ns,
				uint64_t last_ns, struct tp_gpu_window_schedule *out);
/* True if the program runs so much slower since the first window, also between windows, that
 * tracing must end for good: after three windows, by more than half of the budget and by more than
 * two standard errors. */
bool tp_gpu_trace_governor_has_residue(const struct tp_gpu_trace_governor *governor);

double tp_gpu_mean_value(const struct tp_gpu_mean *mean); /* 0 if nothing was added */
/* The larger of the scatter of the values and their own uncertainty. */
double tp_gpu_mean_error(const struct tp_gpu_mean *mean);

#endif
