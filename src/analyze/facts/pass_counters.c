/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters of the whole program. Needs: window. Gives: pmu.* */
#include "analyze/thresholds.h"
#include "window_gauges.h"

#include "trainprof/model/fact.h"

#include <stdio.h>

/* Share of the time in which the counters really counted; 1 if it is unknown. */
static double running_ratio(const struct tp_analysis *analysis)
{
	size_t n;
	double least = 1;
	const struct tp_gauge *readings =
		tp_trace_gauges(analysis->trace, TP_METRIC_PMU_RUNNING, TP_NO_TASK, &n);
	for (size_t i = 0; i < n; i++)
		if (readings[i].value < least)
			least = readings[i].value;
	return least;
}

struct ratio {
	enum tp_fact fact;
	enum tp_metric above;
	enum tp_metric below;
	double scale;
	const char *missing; /* reason if other counters work */
};

static void set_ratio(struct tp_analysis *analysis, const struct ratio *ratio)
{
	double above;
	double below;
	double cycles;
	double running = running_ratio(analysis);
	bool is_known = tp_window_gauges_host(analysis, ratio->above, &above) &&
			tp_window_gauges_host(analysis, ratio->below, &below) && below > 0;
	if (is_known && running >= TP_COUNTERS_RUNNING_MIN) {
		tp_profile_set(analysis->profile, ratio->fact, ratio->scale * above / below,
			       TP_ORIGIN_MEASURED, running);
		return;
	}
	char text[120];
	snprintf(text, sizeof(text), "the counters shared the hardware and ran %.1f %% of the time",
		 100 * running);
	bool has_any = tp_window_gauges_host(analysis, TP_METRIC_PMU_CYCLES, &cycles);
	tp_profile_set_missing(
		analysis->profile, ratio->fact,
		is_known ? text
			 : tp_window_gauges_reason(analysis, "pmu",
						   has_any ? ratio->missing
							   : "hardware counters were not read"));
}

enum tp_status tp_pass_counters(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	static const struct ratio ratios[] = {
		{TP_FACT_PMU_IPC, TP_METRIC_PMU_INSTRUCTIONS, TP_METRIC_PMU_CYCLES, 1,
		 "instructions were not counted"},
		{TP_FACT_PMU_LLC, TP_METRIC_PMU_LLC_MISSES, TP_METRIC_PMU_INSTRUCTIONS, 1000,
		 "this CPU has no event for misses of the last cache"},
		{TP_FACT_PMU_MEMORY, TP_METRIC_PMU_MEMORY, TP_METRIC_PMU_SLOTS, 1,
		 "this CPU has no top-down events"},
	};
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
		set_ratio(analysis, &ratios[i]);
	return TP_OK;
}
