/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the driver's readings with the trace. */
#include "driver_crosscheck.h"

#include "analyze/thresholds.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Readings of one kind, over all GPUs. */
struct reading_sum {
	size_t n;
	double sum;
	double squares;
};

struct crosscheck {
	const struct tp_rank_analysis *ranks;
	uint64_t from_ns;         /* start of the first work; before it nothing was traced */
	struct tp_intervals busy; /* of all devices, concatenated; heap */
	struct reading_sum all;
	struct reading_sum inside;
	struct reading_sum traced; /* share of device work in the periods of `inside` */
};

static void add(struct reading_sum *reading_sum, double value)
{
	reading_sum->n++;
	reading_sum->sum += value;
	reading_sum->squares += value * value;
}

static double mean_of(const struct reading_sum *reading_sum)
{
	return reading_sum->n ? reading_sum->sum / (double)reading_sum->n : 0;
}

static double variance_of_mean(const struct reading_sum *reading_sum)
{
	double n = (double)reading_sum->n;
	double rest = reading_sum->squares - n * mean_of(reading_sum) * mean_of(reading_sum);
	return n > 1 && rest > 0 ? rest / (n - 1) / n : 0;
}

static bool differ(const struct reading_sum *a, const struct reading_sum *b)
{
	double apart = fabs(mean_of(a) - mean_of(b));
	return a->n >= TP_READINGS_MIN && b->n >= TP_READINGS_MIN &&
	       apart > TP_DRIVER_DIFFERS_MUCH &&
	       apart > TP_DRIVER_CHANCE * sqrt(variance_of_mean(a) + variance_of_mean(b));
}

/* The mapping of CUDA devices to NVML devices is unknown, so the device is certain only if there is
 * a single one. */
static const struct tp_device_work *only_device(const struct tp_rank_analysis *ranks)
{
	const struct tp_device_work *found = NULL;
	for (size_t i = 0; i < ranks->n_devices; i++) {
		if (!ranks->devices[i].n_ops)
			continue;
		if (found)
			return NULL;
		found = &ranks->devices[i];
	}
	return found;
}

static void compare_reading(struct crosscheck *crosscheck, enum tp_metric metric, uint32_t track,
			    uint64_t span_ns, bool has_device)
{
	const struct tp_rank_analysis *ranks = crosscheck->ranks;
	size_t n;
	const struct tp_gauge *reading_sum = tp_trace_gauges(ranks->trace, metric, track, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t end_ns = reading_sum[i].time_ns;
		if (end_ns < crosscheck->from_ns + span_ns)
			continue;
		add(&crosscheck->all, reading_sum[i].value);
		if (tp_intervals_covered(&ranks->untraced, end_ns - span_ns, end_ns))
			continue;
		add(&crosscheck->inside, reading_sum[i].value);
		if (has_device)
			add(&crosscheck->traced,
			    (double)tp_intervals_covered(&crosscheck->busy, end_ns - span_ns,
							 end_ns) /
				    (double)span_ns);
	}
}

/* Many programs open the nodes of all devices; devices that they do not use are no longer read. */
static bool is_used(const struct crosscheck *crosscheck, enum tp_metric metric, uint32_t track)
{
	const struct tp_trace *trace = crosscheck->ranks->trace;
	size_t n;
	const struct tp_gauge *reading_sum = tp_trace_gauges(trace, metric, track, &n);
	return trace->tracks[track].device >= 0 && trace->tracks[track].number == TP_TRACK_WHOLE &&
	       n && reading_sum[n - 1].time_ns >= crosscheck->from_ns;
}

static void compare_gpus(struct crosscheck *crosscheck, enum tp_metric metric, uint64_t span_ns)
{
	const struct tp_trace *trace = crosscheck->ranks->trace;
	size_t n_gpus = 0;
	crosscheck->all = crosscheck->inside = crosscheck->traced = (struct reading_sum){0};
	for (uint32_t i = 0; i < trace->n_tracks; i++)
		n_gpus += is_used(crosscheck, metric, i);
	for (uint32_t i = 0; i < trace->n_tracks; i++)
		if (is_used(crosscheck, metric, i))
			compare_reading(crosscheck, metric, i, span_ns,
					n_gpus == 1 && only_device(crosscheck->ranks));
}

static void set_fact(const struct crosscheck *crosscheck, enum tp_fact fact,
		     const struct reading_sum *reading_sum)
{
	struct tp_profile *profile = crosscheck->ranks->profile;
	if (reading_sum->n < TP_READINGS_MIN) {
		tp_profile_set_missing(profile, fact,
				       reading_sum->n < crosscheck->inside.n
					       ? "which of several GPUs was traced is not known"
					       : "too few readings of the driver lie in windows");
		return;
	}
	double half = 1.96 * sqrt(variance_of_mean(reading_sum));
	tp_profile_set(profile, fact, mean_of(reading_sum), TP_ORIGIN_SAMPLED, 1);
	profile->facts[fact].n = reading_sum->n;
	profile->facts[fact].has_interval = true;
	profile->facts[fact].low = fmax(0, mean_of(reading_sum) - half);
	profile->facts[fact].high = fmin(1, mean_of(reading_sum) + half);
}

static void warn_difference(const struct crosscheck *crosscheck, const char *what)
{
	char text[160];
	if (!differ(&crosscheck->inside, &crosscheck->all))
		return;
	snprintf(text, sizeof(text), "%s was %.0f %% while the GPU was traced, %.0f %% in all",
		 what, 100 * mean_of(&crosscheck->inside), 100 * mean_of(&crosscheck->all));
	tp_profile_warn(crosscheck->ranks->profile, "windows-unlike-run", text,
			"the parts are of the windows", NULL);
}

static void warn_conflict(const struct crosscheck *crosscheck)
{
	char text[160];
	double awake = mean_of(&crosscheck->inside);
	double traced = mean_of(&crosscheck->traced);
	if (!differ(&crosscheck->inside, &crosscheck->traced))
		return;
	snprintf(text, sizeof(text),
		 "the driver saw the GPU awake for %.0f %% of what was traced, kernels were "
		 "recorded for %.0f %%",
		 100 * awake, 100 * traced);
	tp_profile_warn(crosscheck->ranks->profile, "witness-disagrees", text,
			awake > traced ? "work may be missing, or be of another program"
				       : "the driver's readings are coarse, or times are wrong",
			NULL);
}

static void begin(struct crosscheck *crosscheck, const struct tp_rank_analysis *ranks)
{
	*crosscheck = (struct crosscheck){.ranks = ranks, .from_ns = tp_ranks_first_work(ranks)};
	const struct tp_device_work *device = only_device(ranks);
	/* The driver counts a GPU as active during kernels, not during copies. */
	for (size_t i = 0; device && i < device->n_ops; i++)
		if (device->ops[i].class != TP_OP_COPY)
			tp_intervals_add(&crosscheck->busy, device->ops[i].start_ns,
					 device->ops[i].end_ns);
	tp_intervals_merge(&crosscheck->busy);
}

void tp_driver_crosscheck_compare(const struct tp_rank_analysis *ranks)
{
	struct crosscheck crosscheck;
	if (!ranks->shut.n)
		return;
	begin(&crosscheck, ranks);
	if (crosscheck.from_ns != UINT64_MAX) {
		compare_gpus(&crosscheck, TP_METRIC_GPU_AWAKE, TP_GPU_AWAKE_NS);
		set_fact(&crosscheck, TP_FACT_WINDOWS_AWAKE, &crosscheck.inside);
		set_fact(&crosscheck, TP_FACT_WINDOWS_KERNELS, &crosscheck.traced);
		warn_difference(&crosscheck, "the GPU's time awake");
		warn_conflict(&crosscheck);
		compare_gpus(&crosscheck, TP_METRIC_GPU_SM_ACTIVE, TP_GPM_READING_NS);
		set_fact(&crosscheck, TP_FACT_WINDOWS_SM_ACTIVE, &crosscheck.inside);
		warn_difference(&crosscheck, "the activity of its multiprocessors");
	}
	free(crosscheck.busy.items);
}
