/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums labels over steps and window, exactly, and computes bounds for the gain from removing a
 * part.
 *
 * Needs: labels of the main thread, steps with their kinds, window. Gives: parts, label_ns, shares
 * with intervals, per-step parts, hidden, solo, brackets, limiter, the step.* share facts.
 */
#include "analyze/analysis.h"
#include "analyze/attribution/group_activity.h"
#include "analyze/numeric/intervals.h"
#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "step_facts.h"

#include "trainprof/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Equal slices replace steps if there are none, so that shares still get an interval. */
enum { N_SLICES = 50 };

struct partition {
	struct tp_analysis *analysis;
	struct tp_interval *windows; /* steady steps, or the one window */
	size_t n_windows;
	uint64_t (*part_ns)[TP_N_PARTS]; /* by window, or by slice if there are no steps */
	uint64_t *length_ns;
	size_t n_rows;
};

static const struct tp_timeline *labeled_timeline(const struct tp_analysis *analysis)
{
	return tp_analysis_timeline(analysis, analysis->main_task);
}

/* Sums labels inside [from, to). The timeline is in order; *cursor only moves forward. Time without
 * a segment is idle.unknown, so that the sum always equals the length. */
static void sum_labels(const struct tp_timeline *timeline, size_t *cursor, uint64_t from_ns,
		       uint64_t to_ns, uint64_t label_ns[TP_N_LABELS])
{
	uint64_t covered = 0;
	while (*cursor < timeline->n && timeline->segments[*cursor].end_ns <= from_ns)
		(*cursor)++;
	for (size_t i = *cursor; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->start_ns >= to_ns)
			break;
		uint64_t length = tp_segment_ns_in(segment, from_ns, to_ns);
		label_ns[segment->label] += length;
		covered += length;
	}
	label_ns[TP_LABEL_IDLE_UNKNOWN] += to_ns - from_ns - covered;
}

static void labels_to_parts(const uint64_t label_ns[TP_N_LABELS], uint64_t part_ns[TP_N_PARTS])
{
	memset(part_ns, 0, TP_N_PARTS * sizeof(*part_ns));
	for (int i = 0; i < TP_N_LABELS; i++)
		part_ns[tp_label_part((enum tp_label)i)] += label_ns[i];
}

static void sum_steps(struct partition *p)
{
	struct tp_profile *profile = p->analysis->profile;
	size_t cursor = 0;
	for (size_t i = 0; i < profile->n_steps; i++) {
		struct tp_step *step = &profile->steps[i];
		uint64_t label_ns[TP_N_LABELS] = {0};
		sum_labels(labeled_timeline(p->analysis), &cursor, step->start_ns, step->end_ns,
			   label_ns);
		labels_to_parts(label_ns, step->part_ns);
		if (step->kind != TP_STEP_STEADY)
			continue;
		for (int label = 0; label < TP_N_LABELS; label++)
			profile->label_ns[label] += label_ns[label];
		p->windows[p->n_windows++] = (struct tp_interval){step->start_ns, step->end_ns};
		memcpy(p->part_ns[p->n_rows], step->part_ns, sizeof(step->part_ns));
		p->length_ns[p->n_rows++] = step->end_ns - step->start_ns;
	}
}

static void sum_window(struct partition *p)
{
	struct tp_profile *profile = p->analysis->profile;
	uint64_t start = profile->window_start_ns;
	uint64_t length = profile->window_end_ns - start;
	size_t cursor = 0;
	for (uint64_t i = 0; i < N_SLICES; i++) {
		uint64_t from = start + length * i / N_SLICES;
		uint64_t to = start + length * (i + 1) / N_SLICES;
		uint64_t label_ns[TP_N_LABELS] = {0};
		sum_labels(labeled_timeline(p->analysis), &cursor, from, to, label_ns);
		for (int label = 0; label < TP_N_LABELS; label++)
			profile->label_ns[label] += label_ns[label];
		labels_to_parts(label_ns, p->part_ns[p->n_rows]);
		p->length_ns[p->n_rows++] = to - from;
	}
	p->windows[p->n_windows++] = (struct tp_interval){start, profile->window_end_ns};
}

/* ---- lanes -------------------------------------------------------------------------------- */

static void fill_foreground(const struct tp_analysis *analysis,
			    struct tp_intervals lanes[TP_N_PARTS])
{
	const struct tp_timeline *timeline = labeled_timeline(analysis);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		tp_intervals_add(&lanes[tp_label_part(segment->label)], segment->start_ns,
				 segment->end_ns);
	}
}

static void fill_background(const struct tp_activities *group, struct tp_intervals *lane)
{
	for (size_t i = 0; i < group->n; i++) {
		const struct tp_activity *item = &group->items[i];
		bool is_busy = item->kind == TP_ACTIVITY_WORK || item->kind == TP_ACTIVITY_READ ||
			       item->kind == TP_ACTIVITY_TRANSFER;
		if (is_busy)
			tp_intervals_add(lane, item->start_ns, item->end_ns);
	}
}

/* Lanes: the main thread first, by parts (docs/design/waits.md#parts), then concurrent
 * activities. */
static void measure_lanes(struct partition *p, struct tp_lane_times *times)
{
	static const enum tp_part order[TP_N_PARTS] = {TP_PART_DATALOADER, TP_PART_COMMUNICATION,
						       TP_PART_MEMORY,     TP_PART_COMPUTE,
						       TP_PART_HOST,       TP_PART_IDLE};
	static const struct {
		enum tp_thread_role role;
		enum tp_part part;
	} beside[] = {{TP_THREAD_LOADER, TP_PART_DATALOADER},
		      {TP_THREAD_TEAM, TP_PART_COMPUTE},
		      {TP_THREAD_COMM, TP_PART_COMMUNICATION},
		      {TP_THREAD_OTHER, TP_PART_COMPUTE}}; /* a pool of processes */
	struct tp_intervals parts[TP_N_PARTS] = {0};
	struct tp_intervals background[TP_ARRAY_LEN(beside)] = {0};
	struct tp_lane lanes[TP_N_PARTS + TP_ARRAY_LEN(beside)];
	size_t n = 0;
	fill_foreground(p->analysis, parts);
	for (int i = 0; i < TP_N_PARTS; i++)
		lanes[n++] =
			(struct tp_lane){order[i], false, parts[order[i]].items, parts[order[i]].n};
	for (size_t i = 0; i < TP_ARRAY_LEN(beside); i++) {
		struct tp_activities group;
		if (beside[i].role == TP_THREAD_OTHER)
			tp_activities_build_pool(&group, p->analysis);
		else
			tp_activities_build(&group, p->analysis, beside[i].role);
		fill_background(&group, &background[i]);
		lanes[n++] = (struct tp_lane){beside[i].part, true, background[i].items,
					      background[i].n};
	}
	tp_lanes_partition(times, lanes, n, p->windows, p->n_windows, TP_PART_IDLE);
	for (int i = 0; i < TP_N_PARTS; i++)
		free(parts[i].items);
	for (size_t i = 0; i < TP_ARRAY_LEN(beside); i++)
		free(background[i].items);
}

/* Time a loader worker needs per step: no step can be shorter on average, however fast the rest. */
static double loader_supply_ns(const struct partition *p)
{
	const struct tp_analysis *analysis = p->analysis;
	uint64_t busy = 0;
	size_t workers = 0;
	uint64_t from = p->windows[0].start_ns;
	uint64_t to = p->windows[p->n_windows - 1].end_ns;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		if (analysis->threads[task].role != TP_THREAD_LOADER ||
		    analysis->threads[task].is_helper)
			continue;
		uint64_t own = 0;
		const struct tp_timeline *timeline = &analysis->timelines[task];
		for (size_t i = 0; i < timeline->n; i++) {
			const struct tp_segment *segment = &timeline->segments[i];
			enum tp_activity_kind kind =
				tp_activity_of(analysis, TP_THREAD_LOADER, segment);
			if (kind <= TP_ACTIVITY_READ)
				own += tp_segment_ns_in(segment, from, to);
		}
		busy += own;
		workers += own > 0;
	}
	if (!workers || to <= from)
		return 0;
	double share = (double)busy / (double)workers / (double)(to - from);
	double mean = (double)p->analysis->profile->total_ns / (double)p->n_windows;
	return share * mean;
}

static void bracket_part(struct partition *p, enum tp_part part, const struct tp_lane_times *times,
			 double supply_ns)
{
	struct tp_part_result *result = &p->analysis->profile->parts[part];
	double n = (double)p->n_windows;
	double mean = (double)times->window_ns / n;
	double low = mean - (double)times->exposed_ns[part] / n;
	if (part != TP_PART_DATALOADER && supply_ns > low)
		low = supply_ns < mean ? supply_ns : mean;
	result->without_high_ns = mean - (double)times->solo_ns[part] / n;
	result->without_low_ns = low < result->without_high_ns ? low : result->without_high_ns;
}

static void set_share(struct tp_part_result *result, const double *values, const double *lengths,
		      size_t n)
{
	struct tp_estimate estimate;
	tp_stats_ratio(values, lengths, n, &estimate);
	result->share = (struct tp_quantity){
		.is_known = true,
		.has_interval = true,
		.origin = TP_ORIGIN_SAMPLED,
		.value = estimate.value,
		.low = estimate.low,
		.high = estimate.high,
		.coverage = 1,
		.n = n,
	};
}

static void fill_part(struct partition *p, enum tp_part part, const struct tp_lane_times *times,
		      double supply_ns)
{
	struct tp_profile *profile = p->analysis->profile;
	struct tp_part_result *result = &profile->parts[part];
	result->time_ns = times->exposed_ns[part];
	result->hidden_ns = times->total_ns[part] - times->exposed_ns[part];
	result->solo_ns = times->solo_ns[part];
	double *values = tp_alloc(p->n_rows * sizeof(*values));
	double *lengths = tp_alloc(p->n_rows * sizeof(*lengths));
	for (size_t i = 0; i < p->n_rows; i++) {
		values[i] = (double)p->part_ns[i][part];
		lengths[i] = (double)p->length_ns[i];
	}
	set_share(result, values, lengths, p->n_rows);
	if (profile->is_of_steps)
		tp_stats_describe(values, p->n_rows, &result->per_step);
	free(values);
	free(lengths);
	bracket_part(p, part, times, supply_ns);
}

/* Only names the largest part; the verdict itself is a rule. */
static void find_limiter(struct tp_profile *profile)
{
	int largest = 0;
	for (int part = 1; part < TP_N_PARTS; part++)
		if (profile->parts[part].time_ns > profile->parts[largest].time_ns)
			largest = part;
	if ((double)profile->parts[largest].time_ns >= TP_LIMITER_MIN * (double)profile->total_ns)
		profile->limiter = (enum tp_part)largest;
}

enum tp_status tp_pass_partition(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	if (!profile->window_end_ns)
		profile->window_end_ns = analysis->trace->end_ns;
	if (analysis->main_task == TP_NO_TASK || profile->window_end_ns <= profile->window_start_ns)
		return TP_OK;
	size_t rows = profile->n_steps > N_SLICES ? profile->n_steps : N_SLICES;
	struct partition p = {.analysis = analysis};
	p.windows = tp_arena_array(analysis->arena, rows, sizeof(*p.windows));
	p.part_ns = tp_arena_array(analysis->arena, rows, sizeof(*p.part_ns));
	p.length_ns = tp_arena_array(analysis->arena, rows, sizeof(*p.length_ns));
	sum_steps(&p);
	profile->is_of_steps = p.n_rows > 0;
	if (!profile->is_of_steps)
		sum_window(&p);
	struct tp_lane_times times;
	measure_lanes(&p, &times);
	profile->total_ns = times.window_ns;
	double supply_ns = loader_supply_ns(&p);
	for (int part = 0; part < TP_N_PARTS; part++)
		fill_part(&p, (enum tp_part)part, &times, supply_ns);
	assert(tp_profile_is_exact(profile));
	find_limiter(profile);
	tp_step_facts_shares(profile, TP_LABELS_OF_SAMPLES, TP_ORIGIN_SAMPLED);
	return TP_OK;
}
