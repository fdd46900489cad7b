/* SPDX-License-Identifier: Apache-2.0 */
/* PM sampling of one GPU: its countable metrics, and windows in which they are sampled. Between
 * windows no resource of the GPU is held. Every call may block as long as the driver does, or crash
 * in CUPTI, so only the helper process (pm_helper.h) uses it. One thread. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_SESSION_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_SESSION_H

#include "pm_metric_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Means over a part of a window. */
struct tp_pm_bin {
	uint64_t time_ns; /* its end, CLOCK_MONOTONIC */
	double values[TP_N_PM_METRICS];
};

typedef void tp_pm_bin_fn(void *context, const struct tp_pm_bin *bin);

/* Sums of samples weighted by time. */
struct tp_pm_sum {
	double seconds[TP_N_PM_METRICS]; /* time in which each was known */
	double values[TP_N_PM_METRICS];
	double length_s;
};

struct tp_pm_session {
	const struct tp_pm_library *library;
	uint32_t device; /* in order of buses */
	char chip[32];
	uint8_t *availability; /* heap, like the set's image */
	struct tp_pm_metric_set set;

	/* Exists during a window. */
	struct pm_sampling *sampling;
	uint8_t *data; /* heap: decoded samples */
	size_t data_bytes;
	uint64_t opened_ns;   /* the host's clock when sampling began */
	uint64_t gpu_zero_ns; /* GPU time of the end of the first sample; 0 = none has come */
	uint64_t n_samples;
	bool has_overflowed;
	struct tp_pm_sum sum; /* of the current bin */
};

/* Queries the GPU and its counters. Returns false with the reason in `failure`; nothing must be
 * closed then. */
bool tp_pm_session_open(struct tp_pm_session *out, const struct tp_pm_library *library,
			uint32_t device, struct tp_pm_failure *failure);

void tp_pm_session_close(struct tp_pm_session *session);

/* Starts sampling; the GPU's clocks may be locked from here on. Returns false if nothing is
 * held. */
bool tp_pm_window_open(struct tp_pm_session *session, struct tp_pm_failure *failure);
/* Reads the samples since the last call and delivers each complete bin. Returns false if the window
 * must be closed. */
bool tp_pm_window_read(struct tp_pm_session *session, tp_pm_bin_fn *each, void *context,
		       struct tp_pm_failure *failure);
/* Must be called in any case. */
void tp_pm_window_close(struct tp_pm_session *session);

#endif
