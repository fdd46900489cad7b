/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PM sampling of one GPU: what can be counted there, and windows in which it is. Between windows
 * nothing is held of the GPU. Every call may block as long as the driver does, or crash in CUPTI:
 * this is for the helper process (pm_helper.h) alone. One thread.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_SESSION_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_SESSION_H

#include "pm_metric_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Means over a stretch of a window. */
struct tp_pm_bin {
	uint64_t time_ns; /* its end; CLOCK_MONOTONIC */
	double values[TP_N_PM_METRICS];
};

typedef void tp_pm_bin_fn(void *context, const struct tp_pm_bin *bin);

/* Sums of samples, by time. */
struct tp_pm_sum {
	double seconds[TP_N_PM_METRICS]; /* in which each was known */
	double values[TP_N_PM_METRICS];
	double length_s;
};

struct tp_pm_session {
	const struct tp_pm_library *library;
	uint32_t device; /* in order of buses */
	char chip[32];
	uint8_t *availability; /* heap, as the set's image */
	struct tp_pm_metric_set set;

	/* Of a window. */
	struct pm_sampling *sampling;
	uint8_t *data; /* heap: decoded samples */
	size_t data_bytes;
	uint64_t opened_ns;   /* host's clock when sampling began */
	uint64_t gpu_zero_ns; /* the GPU's, of the first sample's end; 0 = none has come */
	uint64_t n_samples;
	bool has_overflowed;
	struct tp_pm_sum sum; /* of the bin that is being filled */
};

/* What the GPU is and what it counts. False: `failure` says why; nothing is to be closed. */
bool tp_pm_session_open(struct tp_pm_session *out, const struct tp_pm_library *library,
			uint32_t device, struct tp_pm_failure *failure);

void tp_pm_session_close(struct tp_pm_session *session);

/* From here on the GPU samples, and its clocks may be locked. False: nothing is held. */
bool tp_pm_window_open(struct tp_pm_session *session, struct tp_pm_failure *failure);
/* Take what was sampled since; each whole bin is handed over. False: the window has to be closed.
 */
bool tp_pm_window_read(struct tp_pm_session *session, tp_pm_bin_fn *each, void *context,
		       struct tp_pm_failure *failure);
/* Whatever happened. */
void tp_pm_window_close(struct tp_pm_session *session);

#endif
