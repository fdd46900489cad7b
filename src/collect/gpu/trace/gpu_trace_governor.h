/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides how long and how often the GPU is traced, from what earlier windows cost the program, so
 * that this stays below --max-overhead. Pure: no clock, no system call.
 *
 * With s = slowdown in a window, c = what opening and closing one costs, T = time from one window
 * to the next, w = length of a window and B = what is allowed:
 *
 *	(w (s - 1) + c) / T  <=  0.8 B      c / T  <=  0.2 B      w / T  <=  5 x B, half at most
 *
 * which is  d = min(5 %, (0.8 % - c / T) / (s - 1)),  T >= c / 0.2 %  at B = 1 %. s and c are what
 * was measured plus one standard error. Until something was measured, and where nothing tells how
 * fast the program gets on, s is the worst that was published: 2.8 (an injected agent with vLLM,
 * parca-agent#3213, read 2026-11-20; Proton on nanoGPT: 1.03).
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_TRACE_GOVERNOR_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_TRACE_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a window cost. Errors are standard errors. */
struct tp_gpu_window_cost {
	uint64_t length_ns;
	double slowdown; /* s - 1 */
	double slowdown_error;
	double lost_ns; /* all that the program lost by it, opening and closing included */
	double lost_error_ns;
	/* How much slower it runs between windows now than before the first one. */
	double residue;
	double residue_error; /* of the stretch after this window */
	double first_error;   /* of the one before the first: the same for all windows */
};

/* A mean of what was added, and how well it is known. */
struct tp_gpu_mean {
	size_t n;
	double sum;
	double squares;
	double error_squares; /* of each by itself */
};

struct tp_gpu_trace_governor {
	double budget; /* --max-overhead; a ratio */
	uint64_t seed;
	struct tp_gpu_mean slowdown;
	struct tp_gpu_mean fixed_ns; /* c */
	struct tp_gpu_mean lost_ns;
	struct tp_gpu_mean residue;
	double first_error; /* no number of windows makes it smaller */
	uint64_t period_ns; /* of the last order by measured costs; 0 = none yet */
};

struct tp_gpu_window_schedule {
	uint64_t length_ns; /* of the next window, at least */
	uint64_t most_ns;   /* at most, should it wait for whole steps */
	uint64_t period_ns; /* T */
	uint64_t start_ns;  /* behind the beginning of the last window: T and a random part of it */
};

enum { TP_GPU_WINDOW_EVENTS_MAX = 2000000 }; /* of a window */

/* `seed` is for the phases of windows: any number. */
void tp_gpu_trace_governor_init(struct tp_gpu_trace_governor *governor, double max_overhead_ratio,
				uint64_t seed);
void tp_gpu_trace_governor_add(struct tp_gpu_trace_governor *governor,
			       const struct tp_gpu_window_cost *cost);
/* `step_ns`: of a step outside windows; 0: not known. `last_ns`: how long the last window really
 * was, which has to be paid for before the next one; 0: there was none. */
void tp_gpu_trace_governor_next(struct tp_gpu_trace_governor *governor, uint64_t step_ns,
				uint64_t last_ns, struct tp_gpu_window_schedule *out);
/* Whether the program runs so much slower since it was traced for the first time, also while it is
 * not, that tracing has to end for good: after three windows, by more than half of what is allowed
 * and by more than chance (two standard errors). */
bool tp_gpu_trace_governor_has_residue(const struct tp_gpu_trace_governor *governor);

double tp_gpu_mean_value(const struct tp_gpu_mean *mean); /* 0 when nothing was added */
/* The larger of what values differ by and of what each is uncertain by. */
double tp_gpu_mean_error(const struct tp_gpu_mean *mean);

#endif
