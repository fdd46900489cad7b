/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When windows of GPU tracing open and close. Each window is compared with the stretches right
 * before and behind it, by what the target got on in them; from that the governor takes how long
 * and how often windows are. Nothing here asks for the time or talks to an agent.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_TRACE_WINDOWS_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_TRACE_WINDOWS_H

#include "gpu_trace_governor.h"
#include "progress_rate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_gpu_trace_windows_state {
	TP_GPU_WINDOWS_WAITING, /* no agent yet, or the program warms up */
	TP_GPU_WINDOWS_OPEN,
	TP_GPU_WINDOWS_CLOSED, /* what the last one cost is not known yet */
	TP_GPU_WINDOWS_PAUSED,
	TP_GPU_WINDOWS_ENDED, /* for good: see tp_gpu_trace_governor_has_residue() */
};

/* What agents say; times of the last window. */
struct tp_gpu_agents_state {
	bool is_there;
	bool is_collecting; /* by what they say of themselves */
	bool lacks_room;    /* a GPU's memory is nearly full: no window opens */
	uint64_t n_events;  /* records so far */
	uint64_t opened_ns; /* collecting began; 0: not told, or not yet */
	uint64_t closed_ns; /* likewise it ended */
};

struct tp_gpu_trace_windows {
	const struct tp_progress *progress; /* borrowed */
	struct tp_gpu_trace_governor governor;
	struct tp_gpu_window_schedule order; /* for the next window */
	enum tp_gpu_trace_windows_state state;
	uint64_t seen_ns;   /* when an agent was there first; 0 = not yet */
	uint64_t asked_ns;  /* of the last window: when it was asked for */
	uint64_t opened_ns; /* when it began (0: it has not yet) or was given up, and ended: as far
			     * as agents say */
	uint64_t closed_ns;
	uint64_t n_events;  /* when it was asked for */
	uint64_t beside_ns; /* length of the stretches that it is compared with */
	/* By series: right before the last window, and before the first one; count_ns 0: unknown.
	 */
	struct tp_progress_rate before[TP_PROGRESS_SERIES];
	struct tp_progress_rate first[TP_PROGRESS_SERIES];
	enum tp_progress_kind told_by; /* of the last window that could be measured */
	size_t n;                      /* windows that began and were closed */
	unsigned n_left_out;           /* for want of room */
	uint64_t put_off_ns;           /* none before, after one that was left out */
	uint64_t traced_ns;            /* in them */
};

void tp_gpu_trace_windows_init(struct tp_gpu_trace_windows *windows,
			       const struct tp_progress *progress, double max_overhead_ratio,
			       uint64_t seed);
/* A look, some times a second. Returns whether a window is to be open. */
bool tp_gpu_trace_windows_tick(struct tp_gpu_trace_windows *windows,
			       const struct tp_gpu_agents_state *agents, uint64_t now_ns);

/* The target ends, or measuring does: the last window is judged by what there is. */
void tp_gpu_trace_windows_finish(struct tp_gpu_trace_windows *windows,
				 const struct tp_gpu_agents_state *agents, uint64_t now_ns);

/* All that windows cost the program so far, in ns, with its standard error. False: nothing told. */
bool tp_gpu_trace_windows_lost(const struct tp_gpu_trace_windows *windows, double *lost_ns,
			       double *error_ns);
/* In one line, of a measurement of that many seconds: "traced in 5 windows, 0.9 % of the time,
 * which cost 0.41 % ± 0.1 % by its steps". */
void tp_gpu_trace_windows_describe(const struct tp_gpu_trace_windows *windows, double seconds,
				   char *out, size_t size);

#endif
