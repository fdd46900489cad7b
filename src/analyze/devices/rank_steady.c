/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which steps of an imported trace are steady, by the code that decides it for sampled runs
 * (steady/step_kind.c). A step of the job is as long as that of the device with the longest steps,
 * and has the checkpoint or evaluation of any rank. It lasts until the next one begins, so what is
 * between two marks belongs to it. */
#include "analyze/numeric/stats.h"
#include "analyze/partition/step_facts.h"
#include "analyze/steady/step_kind.h"
#include "analyze/steady/step_window.h"
#include "rank_data.h"
#include "rank_names.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct job_steps {
	struct tp_rank_analysis *analysis;
	struct tp_profile *profile;
	const struct tp_device_work *device; /* whose steps are reported */
	struct tp_phase_time phases;         /* on its clock */
	struct tp_step_levels levels;
};

/* Devices of a rank are adjacent and have the same steps. */
static bool is_first_of_rank(const struct tp_rank_analysis *analysis, size_t d)
{
	return !d || analysis->devices[d - 1].rank != analysis->devices[d].rank;
}

static struct tp_interval until_next(const struct tp_device_work *device, size_t i)
{
	bool is_last = i + 1 == device->n_windows;
	return (struct tp_interval){device->windows[i].start_ns,
				    is_last ? device->windows[i].end_ns
					    : device->windows[i + 1].start_ns};
}

/* ---- kinds ---- */

/* Lengths by the marks of the thread and by the windows of the device, each until the next one. */
static void measure_steps(const struct job_steps *s, double *marked_ns, double *device_ns)
{
	const struct tp_intervals *marks = &s->analysis->ranks[s->device->rank].steps;
	for (size_t i = 0; i < s->device->n_windows; i++) {
		struct tp_interval all = until_next(s->device, i);
		uint64_t until_ns =
			i + 1 < marks->n ? marks->items[i + 1].start_ns : marks->items[i].end_ns;
		marked_ns[i] = (double)(until_ns - marks->items[i].start_ns);
		device_ns[i] = (double)(all.end_ns - all.start_ns);
	}
}

/* A step is long only if both clocks, of the host and of the device, say so, each compared with its
 * own median: a thread that runs ahead waits in one step for many, and the first window of a device
 * that lags has all of its lag. */
static void list_steps(const struct job_steps *s)
{
	const struct tp_device_work *device = s->device;
	struct tp_profile *profile = s->profile;
	size_t n = device->n_windows;
	double *marked_ns = tp_alloc((n + 1) * sizeof(*marked_ns));
	double *device_ns = tp_alloc((n + 1) * sizeof(*device_ns));
	profile->steps = tp_arena_array(&profile->arena, n, sizeof(*profile->steps));
	profile->n_steps = n;
	measure_steps(s, marked_ns, device_ns);
	double usual = tp_stats_median(device_ns, n) / fmax(1, tp_stats_median(marked_ns, n));
	for (size_t i = 0; i < n; i++) {
		uint64_t start_ns = device->windows[i].start_ns;
		bool is_whole = i >= device->from && i < device->to;
		double length_ns = fmin(device_ns[i], usual * marked_ns[i]);
		profile->steps[i] =
			(struct tp_step){.start_ns = start_ns,
					 .end_ns = start_ns + (uint64_t)length_ns,
					 .kind = is_whole ? TP_STEP_STEADY : TP_STEP_CUT};
	}
	free(marked_ns);
	free(device_ns);
}

static struct tp_intervals side_of_rank(struct tp_rank_analysis *analysis,
					const struct tp_rank_work *rank, enum tp_side_phase side)
{
	enum tp_span_sense sense = side == TP_SIDE_EVALUATION   ? TP_SENSE_EVALUATION
				   : side == TP_SIDE_CHECKPOINT ? TP_SENSE_CHECKPOINT
								: TP_SENSE_LOGGING;
	enum tp_label label =
		side == TP_SIDE_CHECKPOINT ? TP_LABEL_HOST_CHECKPOINT : TP_LABEL_HOST_LOGGING;
	struct tp_intervals list = tp_rank_spans_of(analysis, rank, sense);
	for (size_t i = 0; side != TP_SIDE_EVALUATION && i < rank->host.n; i++)
		if (rank->host.pieces[i].label == label)
			tp_intervals_add(&list, rank->host.pieces[i].start_ns,
					 rank->host.pieces[i].end_ns);
	tp_intervals_merge(&list);
	return list;
}

/* Ranks have clocks of their own: only how long a phase lasts within a step is taken from each. */
static void add_side(struct job_steps *s, enum tp_side_phase side)
{
	struct tp_rank_analysis *analysis = s->analysis;
	const struct tp_profile *profile = s->profile;
	uint64_t *longest_ns = tp_alloc((profile->n_steps + 1) * sizeof(*longest_ns));
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		const struct tp_rank_work *rank = &analysis->ranks[device->rank];
		if (!is_first_of_rank(analysis, d) || !rank->steps.n)
			continue;
		struct tp_intervals list = side_of_rank(analysis, rank, side);
		for (size_t i = device->from; list.n && i < device->to; i++) {
			size_t row = i - device->from + s->device->from;
			struct tp_interval all = until_next(device, i);
			uint64_t ns = tp_intervals_covered(&list, all.start_ns, all.end_ns);
			if (row < profile->n_steps && ns > longest_ns[row])
				longest_ns[row] = ns;
		}
		free(list.items);
	}
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		uint64_t end_ns = step->start_ns + longest_ns[i];
		tp_intervals_add(&s->phases.side[side], step->start_ns,
				 end_ns < step->end_ns ? end_ns : step->end_ns);
	}
	free(longest_ns);
}

/* A trace of which every step is excluded, by --skip or as start-up, is judged by its last one. */
static void keep_one(const struct job_steps *s)
{
	struct tp_step *steps = s->profile->steps;
	for (size_t i = s->device->from; i < s->device->to; i++)
		if (steps[i].kind == TP_STEP_STEADY)
			return;
	if (s->device->to > s->device->from)
		steps[s->device->to - 1].kind = TP_STEP_STEADY;
}

/* ---- results ---- */

/* From mark to mark, also where a device lags behind. */
static void set_times(const struct job_steps *s)
{
	const struct tp_intervals *marks = &s->analysis->ranks[s->device->rank].steps;
	double *times = tp_alloc((marks->n + 1) * sizeof(*times));
	size_t n = 0;
	for (size_t i = s->device->from; i < s->device->to; i++) {
		uint64_t until_ns =
			i + 1 < marks->n ? marks->items[i + 1].start_ns : marks->items[i].end_ns;
		if (s->profile->steps[i].kind == TP_STEP_STEADY)
			times[n++] = (double)(until_ns - marks->items[i].start_ns);
	}
	struct tp_estimate mean;
	if (n)
		tp_step_facts_times(s->profile, times, n, &mean);
	free(times);
}

static void warn_single(const struct job_steps *s, const char *what, double time_ns)
{
	char text[120];
	snprintf(text, sizeof(text), "one of %zu steps has %s of %.1f ms", s->profile->n_steps,
		 what, time_ns / 1e6);
	tp_profile_warn(s->profile, "single-special-step", text,
			"it is not judged: how often such a step comes is not known from one",
			"capture from one such step until after the next");
}

/* The share of time from the first such step to the last: whole rounds, so the place and the length
 * of the capture do not matter. Returns it; 0 = not known. */
static double set_round_share(const struct job_steps *s, enum tp_step_kind kind,
			      enum tp_side_phase side, enum tp_fact fact, const char *what)
{
	struct tp_profile *profile = s->profile;
	const struct tp_step *first = NULL;
	const struct tp_step *last = NULL;
	for (size_t i = 0; i < profile->n_steps; i++) {
		if (profile->steps[i].kind != kind)
			continue;
		first = first ? first : &profile->steps[i];
		last = &profile->steps[i];
	}
	if (!first)
		return 0;
	if (first == last) {
		double time_ns = (double)tp_phase_time_between(&s->phases, side, first->start_ns,
							       first->end_ns);
		warn_single(s, what, time_ns);
		tp_profile_set_missing(profile, fact, "the trace has only one");
		return 0;
	}
	double share =
		(double)tp_phase_time_between(&s->phases, side, first->start_ns, last->start_ns) /
		(double)(last->start_ns - first->start_ns);
	tp_profile_set(profile, fact, share, TP_ORIGIN_MEASURED, 1);
	return share;
}

/* A slow step without a name. */
static void warn_slow(const struct job_steps *s)
{
	const struct tp_step *slow = NULL;
	size_t n = 0;
	for (size_t i = 0; i < s->profile->n_steps; i++) {
		n += s->profile->steps[i].kind == TP_STEP_SLOW;
		slow = s->profile->steps[i].kind == TP_STEP_SLOW ? &s->profile->steps[i] : slow;
	}
	if (n == 1)
		warn_single(s, "a length", (double)(slow->end_ns - slow->start_ns));
}

static void set_facts(const struct job_steps *s)
{
	warn_slow(s);
	double outside = set_round_share(s, TP_STEP_CHECKPOINT, TP_SIDE_CHECKPOINT,
					 TP_FACT_RUN_CHECKPOINT_RATIO, "a checkpoint");
	outside += set_round_share(s, TP_STEP_EVALUATION, TP_SIDE_EVALUATION,
				   TP_FACT_RUN_EVALUATION, "an evaluation");
	if (outside > 0)
		tp_profile_set(s->profile, TP_FACT_RUN_OUTSIDE_RATIO, outside < 1 ? outside : 1,
			       TP_ORIGIN_MEASURED, 1);
}

/* ---- windows ---- */

static void list_left_out(const struct job_steps *s)
{
	struct tp_rank_analysis *analysis = s->analysis;
	analysis->left_out = tp_arena_array(&s->profile->arena, s->profile->n_steps,
					    sizeof(*analysis->left_out));
	for (size_t i = s->device->from; i < s->device->to; i++) {
		struct tp_interval all = until_next(s->device, i);
		if (s->profile->steps[i].kind != TP_STEP_STEADY)
			analysis->left_out[analysis->n_left_out++] =
				(struct tp_step){.start_ns = all.start_ns,
						 .end_ns = all.end_ns,
						 .kind = s->profile->steps[i].kind};
	}
	tp_ranks_partition_steps(analysis, s->device, analysis->left_out, analysis->n_left_out);
}

/* Removes the windows of steps that are not steady. `steps` are those of the device's rank, removed
 * alike; NULL = they were. */
static void remove_windows(struct tp_device_work *device, const struct tp_step *rows, size_t n_rows,
			   struct tp_intervals *steps)
{
	int32_t *number = tp_alloc((device->n_windows + 1) * sizeof(*number));
	size_t n = 0;
	size_t n_removed = 0;
	for (size_t i = 0; i < device->n_windows; i++) {
		bool is_whole = i >= device->from && i < device->to;
		size_t row = i - device->from;
		if (is_whole && row < n_rows && rows[row].kind != TP_STEP_STEADY) {
			number[i] = TP_STEP_LEFT_OUT;
			n_removed++;
			continue;
		}
		number[i] = (int32_t)n;
		device->windows[n] = device->windows[i];
		if (steps)
			steps->items[n] = steps->items[i];
		n++;
	}
	device->n_windows = n;
	device->to -= n_removed;
	if (steps)
		steps->n = n;
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].step >= 0)
			device->ops[i].step = number[device->ops[i].step];
	free(number);
}

static void remove_from_all(const struct job_steps *s)
{
	struct tp_rank_analysis *analysis = s->analysis;
	const struct tp_step *rows = s->profile->steps + s->device->from;
	size_t n_rows = s->device->to - s->device->from;
	for (size_t d = 0; analysis->n_left_out && d < analysis->n_devices; d++) {
		struct tp_rank_work *rank = &analysis->ranks[analysis->devices[d].rank];
		if (rank->steps.n)
			remove_windows(&analysis->devices[d], rows, n_rows,
				       is_first_of_rank(analysis, d) ? &rank->steps : NULL);
	}
}

void tp_ranks_find_steady(struct tp_rank_analysis *analysis, struct tp_analysis *job)
{
	struct tp_profile *profile = analysis->profile;
	struct job_steps s = {.analysis = analysis,
			      .profile = profile,
			      .device = tp_ranks_slow_device(analysis)};
	size_t counts[TP_N_STEP_KINDS] = {0};
	if (!s.device)
		return;
	analysis->reported = s.device;
	list_steps(&s);
	add_side(&s, TP_SIDE_EVALUATION);
	add_side(&s, TP_SIDE_CHECKPOINT);
	add_side(&s, TP_SIDE_LOGGING);
	tp_step_kind_assign(&s.levels, job, &s.phases);
	keep_one(&s);
	set_times(&s);
	set_facts(&s);
	tp_step_window_count(profile, counts);
	profile->window_reason = tp_step_window_describe(&profile->arena, counts);
	tp_step_window_warn(profile, &s.levels);
	list_left_out(&s);
	remove_from_all(&s);
	tp_phase_time_release(&s.phases);
	profile->steps = NULL;
	profile->n_steps = 0;
}
