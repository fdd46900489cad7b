/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs that the program uses, from their driver's values and from hardware counters. Needs:
 * window, facts of devices. Gives: gpus, gpu.*, and the kind of device if the trace does not
 * contain it. */
#include "analyze/facts/window_gauges.h"
#include "analyze/steady/counter_windows.h"
#include "analyze/thresholds.h"
#include "rank_data.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"
#include "trainprof/model/gpu.h"
#include "trainprof/model/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum how { MEAN, PEAK, RATE, GROWTH };

struct origin {
	enum tp_metric metric;
	enum how how;
};

static const struct {
	struct origin first;
	struct origin second;
	bool is_time; /* a ratio, recorded as ns per second */
} rows[TP_N_GPU_STATS] = {
#define X(id, name, unit, metric, how, other, other_how)                                           \
	[TP_GPU_##id] = {{TP_METRIC_GPU_##metric, how},                                            \
			 {TP_METRIC_GPU_##other, other_how},                                       \
			 TP_METRIC_GPU_##metric == TP_METRIC_GPU_POWER_CAPPED ||                   \
				 TP_METRIC_GPU_##metric == TP_METRIC_GPU_HEAT_CAPPED},
	TP_GPU_STAT_MAP(X)
#undef X
};

/* ---- one value of one device --------------------------------------------------------------- */

/* Returns the readings inside the window. */
static const struct tp_gauge *window_of(const struct tp_analysis *analysis, enum tp_metric metric,
					uint32_t track, size_t *n)
{
	const struct tp_profile *profile = analysis->profile;
	const struct tp_gauge *all = tp_trace_gauges(analysis->trace, metric, track, n);
	while (*n && all->time_ns < profile->window_start_ns) {
		all++;
		(*n)--;
	}
	while (*n && all[*n - 1].time_ns > profile->window_end_ns)
		(*n)--;
	return all;
}

static bool is_counted(enum tp_metric metric)
{
	return metric >= TP_METRIC_GPU_PM_SM_ACTIVE && metric < TP_METRIC_GPU_PM_OPEN;
}

/* Source of a metric if it is worth naming; NULL otherwise. */
static const char *source_of(enum tp_metric metric)
{
	bool is_gpm = metric >= TP_METRIC_GPU_SM_ACTIVE && metric <= TP_METRIC_GPU_NVLINK_TX;
	return is_counted(metric) ? "hardware counters" : is_gpm ? "GPM" : NULL;
}

/* Share of the window that the readings cover. */
static double covered_share(const struct tp_analysis *analysis, enum tp_metric metric,
			    const struct tp_gauge *readings, size_t n)
{
	const struct tp_profile *profile = analysis->profile;
	double window = (double)(profile->window_end_ns - profile->window_start_ns);
	double seen = (double)(readings[n - 1].time_ns - readings[0].time_ns + TP_GPU_READING_NS);
	if (is_counted(metric))
		seen = (double)(n * TP_PM_BIN_NS);
	return window > 0 && seen < window ? seen / window : 1;
}

static double level_of(enum how how, const struct tp_gauge *readings, size_t n)
{
	double sum = 0;
	double most = readings[0].value;
	for (size_t i = 0; i < n; i++) {
		sum += readings[i].value;
		most = fmax(most, readings[i].value);
	}
	return how == PEAK ? most : sum / (double)n;
}

/* A reloaded driver restarts its counters, so an interval whose later reading is lower is unknown
 * and left out. Gauges may fall. Returns false if no interval is left. */
static bool delta_of(const struct origin *origin, const struct tp_gauge *readings, size_t n,
		     double *out)
{
	bool may_fall = tp_metric_desc(origin->metric)->kind == TP_METRIC_KIND_GAUGE;
	double growth = 0;
	double seconds = 0;
	for (size_t i = 1; i < n; i++) {
		if (!may_fall && readings[i].value < readings[i - 1].value)
			continue;
		growth += readings[i].value - readings[i - 1].value;
		seconds += (double)(readings[i].time_ns - readings[i - 1].time_ns) * 1e-9;
	}
	*out = origin->how == RATE ? growth / seconds : growth;
	return seconds > 0;
}

static bool read_value(struct tp_quantity *out, const struct tp_analysis *analysis,
		       const struct origin *origin, uint32_t track)
{
	size_t n;
	const struct tp_gauge *readings = window_of(analysis, origin->metric, track, &n);
	bool is_counter = origin->how == RATE || origin->how == GROWTH;
	size_t least = is_counter ? 2 : origin->how == MEAN ? TP_READINGS_MIN : 1;
	double growth = 0;
	if (n < least || (is_counter && !delta_of(origin, readings, n, &growth)))
		return false;
	*out = (struct tp_quantity){.is_known = true,
				    .origin = is_counter ? TP_ORIGIN_MEASURED : TP_ORIGIN_SAMPLED,
				    .n = n,
				    .seen = source_of(origin->metric),
				    .coverage =
					    covered_share(analysis, origin->metric, readings, n)};
	out->value = is_counter ? growth : level_of(origin->how, readings, n);
	return true;
}

/* Reason why a value of the hardware counters is missing. */
static const char *counters_missing(const struct tp_analysis *analysis)
{
	return tp_window_gauges_reason(analysis, "gpupmu", "hardware counters do not have it here");
}

static void set_gpu_value(struct tp_gpu_result *gpu, const struct tp_analysis *analysis,
			  enum tp_gpu_stat figure)
{
	struct tp_quantity *out = &gpu->figures[figure];
	if (read_value(out, analysis, &rows[figure].first, gpu->track)) {
		/* The driver's clock and ours may differ in the last ms. */
		if (rows[figure].is_time)
			out->value = fmin(out->value * 1e-9, 1);
	} else if (!read_value(out, analysis, &rows[figure].second, gpu->track)) {
		*out = (struct tp_quantity){
			.missing = gpu->n < TP_READINGS_MIN ? "too few readings in the window"
				   : is_counted(rows[figure].first.metric)
					   ? counters_missing(analysis)
					   : "the driver does not report it here"};
	}
}

/* ---- selection of devices ------------------------------------------------------------------ */

static bool is_gpu(const struct tp_track *track)
{
	return track->device >= 0 && track->number == TP_TRACK_WHOLE;
}

static bool was_listed(const struct tp_analysis *analysis, uint32_t track)
{
	size_t n;
	const struct tp_gauge *readings =
		tp_trace_gauges(analysis->trace, TP_METRIC_GPU_IS_LISTED, track, &n);
	for (size_t i = 0; i < n; i++)
		if (readings[i].value > 0)
			return true;
	return false;
}

/* Many programs open the nodes of all devices: if NVML lists the processes on any, only the listed
 * devices count. */
static void find_gpus(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_profile *profile = analysis->profile;
	bool any_listed = false;
	for (size_t i = 0; i < trace->n_tracks; i++)
		any_listed |= is_gpu(&trace->tracks[i]) && was_listed(analysis, (uint32_t)i);
	profile->gpus = tp_arena_array(analysis->arena, trace->n_tracks, sizeof(*profile->gpus));
	for (uint32_t i = 0; i < trace->n_tracks; i++) {
		bool listed = is_gpu(&trace->tracks[i]) && was_listed(analysis, i);
		if (!is_gpu(&trace->tracks[i]) || (any_listed && !listed))
			continue;
		struct tp_gpu_result *gpu = &profile->gpus[profile->n_gpus++];
		*gpu = (struct tp_gpu_result){.track = i,
					      .number = trace->tracks[i].device,
					      .is_listed = listed};
		(void)window_of(analysis, TP_METRIC_GPU_IS_LISTED, i, &gpu->n);
		for (int f = 0; f < TP_N_GPU_STATS; f++)
			set_gpu_value(gpu, analysis, (enum tp_gpu_stat)f);
	}
}

/* ---- facts of the job ---------------------------------------------------------------------- */

enum over { OVER_MEAN, OVER_MIN, OVER_MAX, OVER_SUM };

/* A fact is one value, or one divided by another of the same device, aggregated over all
 * devices. */
static const struct {
	enum tp_fact fact;
	enum tp_gpu_stat figure;
	enum tp_gpu_stat divisor; /* TP_N_GPU_STATS = none */
	enum over over;
} facts[] = {
	{TP_FACT_GPU_AWAKE, TP_GPU_AWAKE, TP_N_GPU_STATS, OVER_MEAN},
	{TP_FACT_GPU_AWAKE_LEAST, TP_GPU_AWAKE, TP_N_GPU_STATS, OVER_MIN},
	{TP_FACT_GPU_MEM_USED, TP_GPU_MEM_USED, TP_GPU_MEM_TOTAL, OVER_MAX},
	{TP_FACT_GPU_MEM_OTHERS, TP_GPU_MEM_OTHERS, TP_GPU_MEM_TOTAL, OVER_MAX},
	{TP_FACT_GPU_MEM_TOTAL, TP_GPU_MEM_TOTAL, TP_N_GPU_STATS, OVER_MIN},
	{TP_FACT_GPU_POWER, TP_GPU_POWER, TP_N_GPU_STATS, OVER_SUM},
	{TP_FACT_GPU_ENERGY, TP_GPU_ENERGY, TP_N_GPU_STATS, OVER_SUM},
	{TP_FACT_GPU_CLOCK, TP_GPU_CLOCK, TP_GPU_CLOCK_MAX, OVER_MEAN},
	{TP_FACT_GPU_POWER_CAPPED, TP_GPU_POWER_CAPPED, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_HEAT_CAPPED, TP_GPU_HEAT_CAPPED, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_SLOWED, TP_GPU_SLOWED, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_OTHERS, TP_GPU_OTHERS, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_MEM_GROWTH, TP_GPU_MEM_GROWTH, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_POWER_LIMIT, TP_GPU_POWER_LIMIT, TP_GPU_POWER_DEFAULT, OVER_MIN},
	{TP_FACT_GPU_PCIE_LINK, TP_GPU_PCIE_LINK, TP_GPU_PCIE_LINK_MAX, OVER_MIN},
	{TP_FACT_GPU_PCIE_RX_RATIO, TP_GPU_PCIE_RX, TP_GPU_PCIE_LINK, OVER_MAX},
	{TP_FACT_GPU_PCIE_TX_RATIO, TP_GPU_PCIE_TX, TP_GPU_PCIE_LINK, OVER_MAX},
	{TP_FACT_GPU_SM_ACTIVE, TP_GPU_SM_ACTIVE, TP_N_GPU_STATS, OVER_MEAN},
	{TP_FACT_GPU_OCCUPANCY, TP_GPU_OCCUPANCY, TP_N_GPU_STATS, OVER_MEAN},
	{TP_FACT_GPU_TENSOR, TP_GPU_TENSOR, TP_N_GPU_STATS, OVER_MEAN},
	{TP_FACT_GPU_DRAM, TP_GPU_DRAM, TP_N_GPU_STATS, OVER_MEAN},
	{TP_FACT_GPU_PCIE_TX, TP_GPU_PCIE_TX, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_PCIE_RX, TP_GPU_PCIE_RX, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_NVLINK_TX, TP_GPU_NVLINK_TX, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_NVLINK_RX, TP_GPU_NVLINK_RX, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_L2_HIT, TP_GPU_L2_HIT, TP_N_GPU_STATS, OVER_MEAN},
	{TP_FACT_GPU_DRAM_READ, TP_GPU_DRAM_READ, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_DRAM_WRITTEN, TP_GPU_DRAM_WRITTEN, TP_N_GPU_STATS, OVER_MAX},
	{TP_FACT_GPU_LAUNCHES, TP_GPU_LAUNCHES, TP_N_GPU_STATS, OVER_MEAN},
};

static double join(enum over over, double sum, double value, size_t i)
{
	if (i == 0)
		return value;
	return over == OVER_MIN   ? fmin(sum, value)
	       : over == OVER_MAX ? fmax(sum, value)
				  : sum + value;
}

/* Known only if it is known for every device: the worst of some devices may not be the worst. */
static void set_fact(struct tp_profile *profile, size_t row)
{
	struct tp_quantity out = {.is_known = true, .coverage = 1};
	for (size_t i = 0; i < profile->n_gpus; i++) {
		const struct tp_quantity *figure = &profile->gpus[i].figures[facts[row].figure];
		double value = figure->value;
		if (facts[row].divisor < TP_N_GPU_STATS) {
			const struct tp_quantity *whole =
				&profile->gpus[i].figures[facts[row].divisor];
			value = whole->value > 0 ? value / whole->value : 0;
			if (!whole->is_known || whole->value <= 0)
				figure = whole;
		}
		if (!figure->is_known) {
			tp_profile_set_missing(profile, facts[row].fact,
					       figure->missing ? figure->missing
							       : "it has no memory");
			return;
		}
		out.value = join(facts[row].over, out.value, value, i);
		out.coverage = fmin(out.coverage, figure->coverage);
		out.origin = figure->origin;
		out.seen = figure->seen;
		out.n = i && out.n < figure->n ? out.n : figure->n;
	}
	if (facts[row].over == OVER_MEAN)
		out.value /= (double)profile->n_gpus;
	tp_profile_set(profile, facts[row].fact, out.value, out.origin, out.coverage);
	profile->facts[facts[row].fact].n = out.n;
	profile->facts[facts[row].fact].seen = out.seen;
}

/* If no GPU is used, rules about GPUs do not apply to this run; if GPUs could not be read, they
 * cannot be judged. */
static void set_none(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	const char *why = "GPUs were not observed";
	bool is_foreign = true;
	for (size_t i = 0; i < trace->n_sources; i++) {
		const struct tp_source *source = &trace->sources[i];
		if (strcmp(tp_trace_string(trace, source->name), "nvml") != 0)
			continue;
		is_foreign = source->presence == TP_PRESENCE_PRESENT ||
			     source->presence == TP_PRESENCE_NO_DEVICE;
		why = source->presence == TP_PRESENCE_PRESENT
			      ? "the program uses no GPU that NVML knows of"
			      : tp_window_gauges_reason(analysis, "nvml", why);
	}
	for (int fact = TP_FACT_GPU_COUNT; fact <= TP_FACT_GPU_COUNTED_STEP; fact++)
		(is_foreign ? tp_profile_rule_out
			    : tp_profile_set_missing)(analysis->profile, (enum tp_fact)fact, why);
}

/* A live trace does not contain the capability; the lowest one that the driver reports for the
 * program's GPUs applies to all traced work. */
static void set_capability(struct tp_profile *profile)
{
	double least = INFINITY;
	if (!profile->facts[TP_FACT_DEVICE_COUNT].is_known ||
	    profile->facts[TP_FACT_DEVICE_CAPABILITY].is_known)
		return;
	for (size_t i = 0; i < profile->n_gpus; i++) {
		const struct tp_quantity *capability = &profile->gpus[i].figures[TP_GPU_CAPABILITY];
		least = fmin(least, capability->is_known ? capability->value : 0);
	}
	if (least > 0)
		tp_ranks_set_capability(profile, least);
}

enum tp_status tp_pass_gpus(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	find_gpus(analysis);
	if (!profile->n_gpus) {
		set_none(analysis);
		return TP_OK;
	}
	tp_profile_set(profile, TP_FACT_GPU_COUNT, (double)profile->n_gpus, TP_ORIGIN_MEASURED, 1);
	for (size_t i = 0; i < TP_ARRAY_LEN(facts); i++)
		set_fact(profile, i);
	set_capability(profile);
	tp_counter_windows_set_facts(analysis, counters_missing(analysis));
	return TP_OK;
}
