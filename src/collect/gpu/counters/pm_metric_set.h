/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the hardware counters to sample on a chip: as many of a list as it knows and as fit into
 * a single pass, because PM sampling has no second one. Built with CUPTI's host calls, without a
 * GPU. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_METRIC_SET_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_METRIC_SET_H

#include "pm_library.h"

#include "trainprof/model/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PM_METRIC_SET_MAX = 24 };

struct tp_pm_metric_set {
	struct pm_host *host; /* CUPTI's object that evaluates samples */
	const char *names[TP_PM_METRIC_SET_MAX];
	uint8_t rows[TP_PM_METRIC_SET_MAX]; /* indices into the list */
	size_t n;
	uint8_t *image; /* heap: the configuration of the hardware */
	size_t image_bytes;
};

/* A failure in CUPTI's words. */
struct tp_pm_failure {
	const char *call;
	int result;
};

/* `availability`: the free counters of this GPU; NULL: all that its chip has. Returns false, with
 * `failure` set, if no counter is available; `out` then needs no release. */
bool tp_pm_metric_set_build(struct tp_pm_metric_set *out, const struct tp_pm_library *library,
			    const char *chip, const uint8_t *availability,
			    struct tp_pm_failure *failure);
void tp_pm_metric_set_release(struct tp_pm_metric_set *set, const struct tp_pm_library *library);

/* Converts the values that CUPTI evaluated for one sample of `seconds` to metrics, indexed by
 * metric minus TP_METRIC_PM_FIRST. NAN: the chip has no such counter, or the value is invalid. */
void tp_pm_metric_set_convert(const struct tp_pm_metric_set *set, const double *values,
			      double seconds, double out[TP_N_PM_METRICS]);

#endif
