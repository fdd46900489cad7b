/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which hardware counters are sampled on a chip: as many of a list of wishes as it knows and as fit
 * into a single pass, for PM sampling has no second one. Made without a GPU, by CUPTI's host calls.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_METRIC_SET_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_METRIC_SET_H

#include "pm_library.h"

#include "trainprof/model/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PM_METRIC_SET_MAX = 24 };

struct tp_pm_metric_set {
	struct pm_host *host; /* theirs; evaluates samples */
	const char *names[TP_PM_METRIC_SET_MAX];
	uint8_t rows[TP_PM_METRIC_SET_MAX]; /* of the list of wishes */
	size_t n;
	uint8_t *image; /* heap: how the hardware is to be set up */
	size_t image_bytes;
};

/* What went wrong, in CUPTI's words. */
struct tp_pm_failure {
	const char *call;
	int result;
};

/*
 * `availability`: what this GPU has free, NULL: all that its chip has. Returns false, with
 * `failure` set, when not even one counter can be had; `out` needs no release then.
 */
bool tp_pm_metric_set_build(struct tp_pm_metric_set *out, const struct tp_pm_library *library,
			    const char *chip, const uint8_t *availability,
			    struct tp_pm_failure *failure);
void tp_pm_metric_set_release(struct tp_pm_metric_set *set, const struct tp_pm_library *library);

/* What CUPTI evaluated of one sample, which took `seconds`, as metrics by their numbers less
 * TP_METRIC_PM_FIRST. NAN: the chip has no such counter, or the value is none. */
void tp_pm_metric_set_convert(const struct tp_pm_metric_set *set, const double *values,
			      double seconds, double out[TP_N_PM_METRICS]);

#endif
