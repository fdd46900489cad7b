/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when GPU tracing windows open and close. The progress of the target in each window is
 * compared with its progress right before and after it, from which the governor derives length and
 * frequency. This code reads no clock and communicates with no agent. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_TRACE_WINDOWS_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_TRACE_WINDOWS_H

#include "gpu_trace_governor.h"
#include "progress_rate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_gpu_trace_windows_state {
	TP_GPU_WINDOWS_WAITING, /* no agent yet, or the program is warming up */
	TP_GPU_WINDOWS_OPEN,
	TP_GPU_WINDOWS_CLOSED, /* the cost of the last window is not known yet */
	TP_GPU_WINDOWS_PAUSED,
	TP_GPU_WINDOWS_ENDED, /* permanently: see tp_gpu_trace_governor_has_residue() */
};

/* Reports of the agents; times of the last window. */
struct tp_gpu_agents_state {
	bool is_there;
	bool is_collecting; /* according to the agents */
	bool lacks_room;    /* a GPU's memory is nearly full: no window opens */
	uint64_t n_events;  /* records so far */
	uint64_t opened_ns; /* collection began; 0 = unknown, or not yet */
	uint64_t closed_ns; /* collection ended; 0 = unknown, or not yet */
};

struct tp_gpu_trace_windows {
	const struct tp_progress *progress; /* borrowed */
	struct tp_gpu_trace_governor governor;
	struct tp_gpu_window_schedule order; /* of the next window */
	enum tp_gpu_trace_windows_state state;
	uint64_t seen_ns;   /* when an agent was first seen; 0 = not yet */
	uint64_t asked_ns;  /* when the last window was requested */
	uint64_t opened_ns; /* when it began (0 = not yet) or was abandoned, and when it ended,
			       according to the agents */
	uint64_t closed_ns;
	uint64_t n_events;  /* count when it was requested */
	uint64_t beside_ns; /* length of the stretches that it is compared with */
	/* By series: right before the last window, and before the first one; count_ns 0 =
	 * unknown. */
	struct tp_progress_rate before[TP_PROGRESS_SERIES];
	struct tp_progress_rate first[TP_PROGRESS_SERIES];
	enum tp_progress_kind measured_by; /* series that measured the last window */
	size_t n;                          /* windows that began and were closed */
	unsigned n_left_out;               /* windows skipped for lack of space */
	uint64_t put_off_ns;               /* no window before this time, after one was skipped */
	uint64_t traced_ns;                /* total time inside windows */
};

void tp_gpu_trace_windows_init(struct tp_gpu_trace_windows *windows,
			       const struct tp_progress *progress, double max_overhead_ratio,
			       uint64_t seed);
/* Called several times per second. Returns true if a window should be open. */
bool tp_gpu_trace_windows_tick(struct tp_gpu_trace_windows *windows,
			       const struct tp_gpu_agents_state *agents, uint64_t now_ns);

/* Called when the target or the measurement ends: evaluates the last window with the available
 * data. */
void tp_gpu_trace_windows_finish(struct tp_gpu_trace_windows *windows,
				 const struct tp_gpu_agents_state *agents, uint64_t now_ns);

/* The total cost of windows for the program so far, in ns, with its standard error. False:
 * unknown. */
bool tp_gpu_trace_windows_lost(const struct tp_gpu_trace_windows *windows, double *lost_ns,
			       double *error_ns);
/* Appends one line about a measurement of `seconds`: "traced in 5 windows, 0.9 % of the time, which
 * cost 0.41 % ± 0.1 % by its steps". */
void tp_gpu_trace_windows_describe(const struct tp_gpu_trace_windows *windows, double seconds,
				   char *out, size_t size);

#endif
