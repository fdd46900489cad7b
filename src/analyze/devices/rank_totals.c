/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the windows of all devices to the parts of the job, weighted by device time, and computes
 * bounds for the gain from removing a part. */
#include "analyze/numeric/stats.h"
#include "analyze/partition/step_facts.h"
#include "analyze/thresholds.h"
#include "rank_data.h"

#include "trainprof/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool has_steps(const struct tp_rank_analysis *analysis)
{
	for (size_t i = 0; i < analysis->n_ranks; i++)
		if (analysis->ranks[i].steps.n)
			return true;
	return false;
}

static void to_parts(const uint64_t label_ns[TP_N_LABELS], uint64_t part_ns[TP_N_PARTS])
{
	memset(part_ns, 0, TP_N_PARTS * sizeof(*part_ns));
	for (int i = 0; i < TP_N_LABELS; i++)
		part_ns[tp_label_part((enum tp_label)i)] += label_ns[i];
}

/* ---- the job ---- */

/* Sum of the devices' windows with the same number: one row is one step of the job. */
struct total_rows {
	uint64_t (*part_ns)[TP_N_PARTS];
	uint64_t *length_ns;
	size_t *group; /* tracing window in which the row was recorded */
	size_t n;
	size_t n_windows; /* sum over all devices */
};

static void add_window(struct total_rows *rows, struct tp_profile *profile,
		       const struct tp_device_work *device, size_t window)
{
	size_t row = window - device->from;
	uint64_t part_ns[TP_N_PARTS];
	to_parts(device->after_ns[window], part_ns);
	for (int part = 0; part < TP_N_PARTS; part++)
		rows->part_ns[row][part] += part_ns[part];
	rows->length_ns[row] += device->windows[window].end_ns - device->windows[window].start_ns;
	for (int label = 0; label < TP_N_LABELS; label++)
		profile->label_ns[label] += device->after_ns[window][label];
	rows->n_windows++;
	if (row >= rows->n)
		rows->n = row + 1;
}

/* The group is the number of untraced intervals before the row. Devices are traced at the same
 * time, so the first device that has a row decides. */
static void group_rows(struct total_rows *rows, const struct tp_rank_analysis *analysis)
{
	const struct tp_intervals *shut = &analysis->shut;
	size_t known = 0;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		const struct tp_device_work *device = &analysis->devices[i];
		size_t before = 0;
		for (; known < device->to - device->from; known++) {
			uint64_t start_ns = device->windows[device->from + known].start_ns;
			while (before < shut->n && shut->items[before].start_ns < start_ns)
				before++;
			rows->group[known] = before;
		}
	}
}

static void collect_rows(struct total_rows *rows, const struct tp_rank_analysis *analysis)
{
	size_t most = 0;
	for (size_t i = 0; i < analysis->n_devices; i++)
		if (analysis->devices[i].to - analysis->devices[i].from > most)
			most = analysis->devices[i].to - analysis->devices[i].from;
	rows->part_ns = tp_arena_array(analysis->arena, most, sizeof(*rows->part_ns));
	rows->length_ns = tp_arena_array(analysis->arena, most, sizeof(*rows->length_ns));
	for (size_t i = 0; i < analysis->n_devices; i++)
		for (size_t k = analysis->devices[i].from; k < analysis->devices[i].to; k++)
			add_window(rows, analysis->profile, &analysis->devices[i], k);
	rows->group = tp_arena_array(analysis->arena, most, sizeof(*rows->group));
	group_rows(rows, analysis);
	for (size_t row = 0; row < rows->n; row++)
		analysis->profile->total_ns += rows->length_ns[row];
}

/* ---- parts ---- */

/* Steps of one tracing window are more similar than those of different windows, so the interval
 * comes from the differences between windows; with a single window, from its steps. */
static void set_share(struct tp_part_result *result, const struct total_rows *rows,
		      enum tp_part part, bool is_of_steps)
{
	double *values = tp_alloc((rows->n + 1) * sizeof(*values));
	double *lengths = tp_alloc((rows->n + 1) * sizeof(*lengths));
	for (size_t i = 0; i < rows->n; i++) {
		values[i] = (double)rows->part_ns[i][part];
		lengths[i] = (double)rows->length_ns[i];
		result->time_ns += rows->part_ns[i][part];
	}
	struct tp_estimate estimate;
	tp_stats_ratio_groups(values, lengths, rows->group, rows->n, &estimate);
	if (estimate.n_batches < 2)
		tp_stats_ratio(values, lengths, rows->n, &estimate);
	result->share = (struct tp_quantity){.is_known = true,
					     .has_interval = true,
					     .origin = TP_ORIGIN_MEASURED,
					     .value = estimate.value,
					     .low = estimate.low,
					     .high = estimate.high,
					     .coverage = 1,
					     .n = rows->n};
	/* Rows are sums over devices: a step of the job is their mean. */
	double n_devices = rows->n ? (double)rows->n_windows / (double)rows->n : 1;
	for (size_t i = 0; i < rows->n; i++)
		values[i] /= n_devices;
	if (is_of_steps)
		tp_stats_describe(values, rows->n, &result->per_step);
	free(values);
	free(lengths);
}

/* No step is shorter than the work of the busiest other resource in it, without waits; and removing
 * the instants at which only X works leaves a feasible schedule (docs/design/waits.md#brackets). */
static void set_bracket(struct tp_profile *profile, const struct tp_rank_analysis *analysis,
			enum tp_part part, double n)
{
	uint64_t total_ns = 0;
	uint64_t busy_ns[TP_N_PARTS] = {0};
	uint64_t solo_ns = 0;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		solo_ns += analysis->devices[i].solo_ns[part];
		total_ns += analysis->devices[i].total_ns[part];
		for (int other = 0; other < TP_N_PARTS; other++)
			busy_ns[other] += analysis->devices[i].busy_ns[other];
	}
	uint64_t busiest_ns = 0;
	for (int other = 0; other < TP_N_PARTS; other++)
		if (other != (int)part && other != TP_PART_IDLE && busy_ns[other] > busiest_ns)
			busiest_ns = busy_ns[other];
	struct tp_part_result *result = &profile->parts[part];
	result->hidden_ns = total_ns > result->time_ns ? total_ns - result->time_ns : 0;
	result->solo_ns = solo_ns < result->time_ns ? solo_ns : result->time_ns;
	double high = (double)(profile->total_ns - result->solo_ns) / n;
	double low = (double)busiest_ns / n;
	result->without_high_ns = high;
	result->without_low_ns = low < high ? low : high;
	result->work_ns = part == TP_PART_IDLE ? 0 : (double)busy_ns[part] / n;
}

static void find_largest_part(struct tp_profile *profile)
{
	uint64_t largest_ns = 0;
	for (int part = 0; part < TP_N_PARTS; part++) {
		if (part == TP_PART_COMPUTE || profile->parts[part].time_ns <= largest_ns ||
		    (part == TP_PART_IDLE && profile->is_idle_unknown))
			continue;
		largest_ns = profile->parts[part].time_ns;
		profile->largest_loss = (enum tp_part)part;
	}
	if ((double)largest_ns < TP_LARGEST_PART_MIN * (double)profile->total_ns)
		profile->largest_loss = TP_N_PARTS;
}

static void find_limiter(struct tp_profile *profile)
{
	int largest = 0;
	for (int part = 1; part < TP_N_PARTS; part++)
		if (profile->parts[part].time_ns > profile->parts[largest].time_ns &&
		    (part != TP_PART_IDLE || !profile->is_idle_unknown))
			largest = part;
	profile->limiter = (enum tp_part)largest;
	if (profile->limiter == TP_PART_COMPUTE && profile->largest_loss < TP_N_PARTS)
		profile->limiter = profile->largest_loss;
}

/* ---- steps ---- */

static uint64_t length_of(const struct tp_device_work *device)
{
	uint64_t sum = 0;
	for (size_t i = device->from; i < device->to; i++)
		sum += device->windows[i].end_ns - device->windows[i].start_ns;
	return sum;
}

const struct tp_device_work *tp_ranks_slow_device(const struct tp_rank_analysis *analysis)
{
	const struct tp_device_work *found = NULL;
	double longest = -1;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		const struct tp_device_work *device = &analysis->devices[i];
		size_t n = device->to - device->from;
		double mean = n ? (double)length_of(device) / (double)n : 0;
		if (!n || !analysis->ranks[device->rank].steps.n || mean <= longest)
			continue;
		longest = mean;
		found = device;
	}
	return found;
}

static int step_order(const void *a, const void *b)
{
	const struct tp_step *x = a;
	const struct tp_step *y = b;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void set_steps(struct tp_profile *profile, const struct tp_rank_analysis *analysis)
{
	const struct tp_device_work *device =
		analysis->reported ? analysis->reported : tp_ranks_slow_device(analysis);
	size_t n_windows = device ? device->n_windows : 0;
	profile->steps = tp_arena_array(&profile->arena, n_windows + analysis->n_left_out,
					sizeof(*profile->steps));
	for (size_t i = 0; i < n_windows; i++) {
		struct tp_step *step = &profile->steps[profile->n_steps++];
		bool is_judged = i >= device->from && i < device->to;
		step->start_ns = device->windows[i].start_ns;
		step->end_ns = device->windows[i].end_ns;
		step->kind = is_judged ? TP_STEP_STEADY : TP_STEP_CUT;
		if (is_judged)
			to_parts(device->after_ns[i], step->part_ns);
		else
			tp_ranks_partition_steps(analysis, device, step, 1);
		profile->n_steady += is_judged;
	}
	for (size_t i = 0; i < analysis->n_left_out; i++)
		profile->steps[profile->n_steps++] = analysis->left_out[i];
	if (profile->n_steps)
		qsort(profile->steps, profile->n_steps, sizeof(*profile->steps), step_order);
}

static void set_window(struct tp_profile *profile, const struct tp_rank_analysis *analysis)
{
	profile->window_start_ns = UINT64_MAX;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		const struct tp_device_work *device = &analysis->devices[i];
		if (device->from == device->to)
			continue;
		if (device->windows[device->from].start_ns < profile->window_start_ns)
			profile->window_start_ns = device->windows[device->from].start_ns;
		if (device->windows[device->to - 1].end_ns > profile->window_end_ns)
			profile->window_end_ns = device->windows[device->to - 1].end_ns;
	}
	if (profile->window_start_ns > profile->window_end_ns)
		profile->window_start_ns = profile->window_end_ns;
}

/* Facts from samples and switches exist for the job if all judged ranks have them. */
static void set_host_shares(struct tp_profile *profile, const struct tp_rank_analysis *analysis)
{
	bool all_switches = true;
	bool all_samples = true;
	bool all_os_calls = true;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		const struct tp_device_work *device = &analysis->devices[i];
		const struct tp_rank_host *host = &analysis->ranks[device->rank].host;
		if (device->from == device->to)
			continue;
		all_switches &= host->has_switches;
		all_samples &= host->has_samples;
		all_os_calls &= host->has_os_calls;
	}
	if (all_switches)
		tp_step_facts_shares(profile, TP_LABELS_OF_SWITCHES, TP_ORIGIN_MEASURED);
	if (all_os_calls)
		tp_step_facts_shares(profile, TP_LABELS_OF_OS_CALLS, TP_ORIGIN_MEASURED);
	if (all_samples)
		tp_step_facts_shares(profile, TP_LABELS_OF_STACKS, TP_ORIGIN_SAMPLED);
}

void tp_ranks_sum(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	struct total_rows rows = {0};
	set_window(profile, analysis);
	collect_rows(&rows, analysis);
	profile->is_of_steps = has_steps(analysis);
	if (!profile->total_ns)
		return;
	double n = profile->is_of_steps ? (double)rows.n_windows : (double)analysis->n_devices;
	profile->bracket_ns = (double)profile->total_ns / n;
	for (int part = 0; part < TP_N_PARTS; part++) {
		set_share(&profile->parts[part], &rows, (enum tp_part)part, profile->is_of_steps);
		set_bracket(profile, analysis, (enum tp_part)part, n);
	}
	if (profile->is_of_steps)
		set_steps(profile, analysis);
	if (!profile->n_steady)
		tp_step_facts_set_missing(profile);
	find_largest_part(profile);
	find_limiter(profile);
	tp_step_facts_shares(profile, TP_LABELS_OF_SPANS, TP_ORIGIN_MEASURED);
	set_host_shares(profile, analysis);
	assert(tp_profile_is_exact(profile));
}
