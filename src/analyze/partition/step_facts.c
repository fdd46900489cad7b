/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the step.* facts. */
#include "step_facts.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>

static const struct {
	enum tp_fact fact;
	enum tp_label label;
	unsigned sources; /* enum tp_label_source */
} by_label[] = {
	{TP_FACT_STEP_TEAM_WAIT, TP_LABEL_COMPUTE_SPIN, TP_LABELS_OF_SAMPLES},
	{TP_FACT_STEP_COMM_WAIT, TP_LABEL_COMMUNICATION_WAIT,
	 TP_LABELS_OF_SAMPLES | TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_COLLECTIVE, TP_LABEL_COMMUNICATION_COLLECTIVE, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_UNCAPTURED, TP_LABEL_COMMUNICATION_UNCAPTURED, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_FAULT, TP_LABEL_MEMORY_FAULT, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_STACKS},
	{TP_FACT_STEP_SWAP, TP_LABEL_MEMORY_SWAP, TP_LABELS_OF_SAMPLES},
	{TP_FACT_STEP_ALLOC, TP_LABEL_MEMORY_ALLOC, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_COPY, TP_LABEL_MEMORY_COPY, TP_LABELS_OF_SAMPLES},
	{TP_FACT_STEP_H2D, TP_LABEL_MEMORY_H2D, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_D2H, TP_LABEL_MEMORY_D2H, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_D2D, TP_LABEL_MEMORY_D2D, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_PREP, TP_LABEL_DATALOADER_PREP, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_STACKS},
	{TP_FACT_STEP_FETCH, TP_LABEL_DATALOADER_FETCH, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_STACKS},
	{TP_FACT_STEP_HANDOVER, TP_LABEL_DATALOADER_HANDOVER,
	 TP_LABELS_OF_SAMPLES | TP_LABELS_OF_STACKS},
	{TP_FACT_STEP_PAUSE, TP_LABEL_DATALOADER_PAUSE, TP_LABELS_OF_SAMPLES},
	{TP_FACT_STEP_LOADER_QUEUE, TP_LABEL_DATALOADER_QUEUE, TP_LABELS_OF_SAMPLES},
	{TP_FACT_STEP_NEXT, TP_LABEL_DATALOADER_NEXT, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_INTERPRETER, TP_LABEL_HOST_INTERPRETER,
	 TP_LABELS_OF_SAMPLES | TP_LABELS_OF_STACKS},
	{TP_FACT_STEP_GIL, TP_LABEL_HOST_GIL, TP_LABELS_OF_SAMPLES},
	{TP_FACT_STEP_LOGGING, TP_LABEL_HOST_LOGGING, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_CHECKPOINT, TP_LABEL_HOST_CHECKPOINT,
	 TP_LABELS_OF_SAMPLES | TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_HOST_KERNEL, TP_LABEL_HOST_KERNEL,
	 TP_LABELS_OF_SAMPLES | TP_LABELS_OF_STACKS},
	{TP_FACT_STEP_DISPATCH, TP_LABEL_HOST_DISPATCH, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_LAUNCH, TP_LABEL_HOST_LAUNCH, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_SYNC, TP_LABEL_HOST_SYNC, TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_GC, TP_LABEL_HOST_GC, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_COMPILE, TP_LABEL_HOST_COMPILE, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_SPANS},
	{TP_FACT_STEP_RUNNABLE, TP_LABEL_IDLE_RUNNABLE,
	 TP_LABELS_OF_SAMPLES | TP_LABELS_OF_SWITCHES},
	{TP_FACT_STEP_SLEEP, TP_LABEL_IDLE_SLEEP, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_OS_CALLS},
	{TP_FACT_STEP_IDLE_IO, TP_LABEL_IDLE_IO, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_OS_CALLS},
	{TP_FACT_STEP_LOCK, TP_LABEL_IDLE_LOCK, TP_LABELS_OF_SAMPLES | TP_LABELS_OF_OS_CALLS},
	{TP_FACT_STEP_IDLE_UNKNOWN, TP_LABEL_IDLE_UNKNOWN,
	 TP_LABELS_OF_SAMPLES | TP_LABELS_OF_SPANS},
};

void tp_step_facts_shares(struct tp_profile *profile, enum tp_label_source source,
			  enum tp_origin origin)
{
	for (int part = 0; part < TP_N_PARTS; part++)
		profile->facts[tp_part_facts[part]] = profile->parts[part].share;
	double total = (double)profile->total_ns;
	for (size_t i = 0; i < TP_ARRAY_LEN(by_label); i++)
		if (by_label[i].sources & source)
			tp_profile_set(profile, by_label[i].fact,
				       (double)profile->label_ns[by_label[i].label] / total, origin,
				       1);
}

static const enum tp_fact time_facts[] = {TP_FACT_STEP_TIME, TP_FACT_STEP_MEDIAN, TP_FACT_STEP_P95,
					  TP_FACT_STEP_CV};

static void set_interval(struct tp_profile *profile, enum tp_fact fact, double low, double high)
{
	profile->facts[fact].has_interval = true;
	profile->facts[fact].low = low;
	profile->facts[fact].high = high;
}

void tp_step_facts_times(struct tp_profile *profile, const double *length_ns, size_t n,
			 struct tp_estimate *mean)
{
	tp_stats_describe(length_ns, n, &profile->step_time);
	tp_stats_mean(length_ns, n, mean);
	double squares = 0;
	for (size_t i = 0; i < n; i++)
		squares += (length_ns[i] - mean->value) * (length_ns[i] - mean->value);
	double deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	const struct tp_stat *time = &profile->step_time;
	enum tp_origin origin =
		tp_steps_are_measured(profile) ? TP_ORIGIN_MEASURED : TP_ORIGIN_SAMPLED;
	tp_profile_set(profile, TP_FACT_STEP_COUNT, (double)n, origin, 1);
	tp_profile_set(profile, TP_FACT_STEP_TIME, mean->value, origin, 1);
	set_interval(profile, TP_FACT_STEP_TIME, mean->low, mean->high);
	tp_profile_set(profile, TP_FACT_STEP_MEDIAN, time->median, origin, 1);
	set_interval(profile, TP_FACT_STEP_MEDIAN, time->median_low, time->median_high);
	tp_profile_set(profile, TP_FACT_STEP_P95, time->p95, origin, 1);
	tp_profile_set(profile, TP_FACT_STEP_CV, deviation / mean->value, origin, 1);
	for (size_t i = 0; i < TP_ARRAY_LEN(time_facts); i++)
		profile->facts[time_facts[i]].n = n;
}

void tp_step_facts_set_missing(struct tp_profile *profile)
{
	const char *why = profile->n_steps ? "no step is whole and steady" : profile->steps_reason;
	for (size_t i = 0; i < TP_ARRAY_LEN(time_facts); i++)
		tp_profile_set_missing(profile, time_facts[i], why);
	if (profile->n_steps)
		tp_profile_set(profile, TP_FACT_STEP_COUNT, 0, TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_STEP_COUNT, why);
}
