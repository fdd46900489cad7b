/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges a sampled run together with its devices: parts, shares and steps as for imported traces
 * (docs/design/ranks.md#parts-of-imported-traces), with the labels of the main thread where no
 * device works.
 *
 * Needs: device work, labels of the main thread, steps with their kinds, window. Gives: parts,
 * label_ns, shares, steady steps, window, devices, kernels, collectives, the facts from these, and
 * analysis->beside_devices.
 *
 * Only steady steps that were traced completely are judged. If there are none, the parts stay those
 * of the main thread, with a warning.
 */
#include "analyze/analysis.h"
#include "analyze/partition/step_facts.h"
#include "analyze/thresholds.h"
#include "driver_crosscheck.h"
#include "rank_data.h"
#include "trace_window_cost.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- selection of steps --------------------------------------------------------------------- */

/* Returns true if all of the step's device work was recorded. */
static bool is_traced(const struct tp_rank_analysis *ranks, const struct tp_rank_work *rank,
		      const struct tp_step *step)
{
	return step->start_ns >= rank->first_ns && step->start_ns < rank->last_ns &&
	       !tp_intervals_covered(&ranks->untraced, step->start_ns, step->end_ns);
}

/* Uses the trainer's steps for each rank. Ranks of one job step together, and clocks of one machine
 * agree. */
static void copy_steps(const struct tp_analysis *analysis, struct tp_rank_work *rank)
{
	const struct tp_profile *profile = analysis->profile;
	rank->steps.n = 0;
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->kind != TP_STEP_STEADY || !is_traced(analysis->ranks, rank, step))
			continue;
		TP_ARRAY_PUSH(rank->steps.items, rank->steps.n, rank->steps.capacity) =
			(struct tp_interval){step->start_ns, step->end_ns};
	}
}

/* Warns if steps with tracing take longer than those without. */
static void warn_slowed(struct tp_analysis *analysis, const struct tp_intervals *traced)
{
	const struct tp_profile *profile = analysis->profile;
	double all_ns = 0;
	double traced_ns = (double)tp_intervals_sum(traced);
	for (size_t i = 0; i < profile->n_steps; i++)
		if (profile->steps[i].kind == TP_STEP_STEADY)
			all_ns += (double)(profile->steps[i].end_ns - profile->steps[i].start_ns);
	size_t n_others = profile->n_steady - traced->n;
	if (traced->n < TP_STEPS_COMPARED_MIN || n_others < TP_STEPS_COMPARED_MIN)
		return;
	double ratio = traced_ns / (double)traced->n / ((all_ns - traced_ns) / (double)n_others);
	/* Windows are compared with the steps next to them: programs change by themselves, too. */
	const struct tp_quantity *beside = &profile->facts[TP_FACT_WINDOWS_SLOWDOWN];
	if (beside->is_known)
		ratio = 1 + (beside->low > 0 ? beside->value : 0);
	if (ratio < 1 + TP_SLOWED_MUCH)
		return;
	char text[120];
	snprintf(text, sizeof(text), "steps in which the GPU was traced took %.0f %% longer",
		 100 * (ratio - 1));
	tp_profile_warn(analysis->profile, "slowed-by-tracing", text,
			"parts are of steps that were traced",
			"trainprof run --gpu-trace=off -- ...");
}

/* Adds the parts of an interval that lie outside all gaps. */
static void add_traced(const struct tp_intervals *untraced, struct tp_interval all,
		       struct tp_intervals *out)
{
	uint64_t at_ns = all.start_ns;
	for (size_t i = 0; i < untraced->n && at_ns < all.end_ns; i++) {
		const struct tp_interval *gap = &untraced->items[i];
		if (gap->end_ns <= at_ns || gap->start_ns >= all.end_ns)
			continue;
		if (gap->start_ns > at_ns)
			tp_intervals_add(out, at_ns, gap->start_ns);
		at_ns = gap->end_ns;
	}
	if (at_ns < all.end_ns)
		tp_intervals_add(out, at_ns, all.end_ns);
}

/* Without steps: replaces the slices of the whole time by slices of the traced time. */
static void slice_traced(const struct tp_intervals *untraced, struct tp_device_work *device)
{
	if (!device->n_windows)
		return;
	struct tp_intervals traced = {0};
	uint64_t n_slices = device->n_windows;
	add_traced(untraced,
		   (struct tp_interval){device->windows[0].start_ns,
					device->windows[device->n_windows - 1].end_ns},
		   &traced);
	uint64_t slice_ns = tp_intervals_sum(&traced) / n_slices + 1;
	free(device->windows);
	device->windows = tp_alloc((n_slices + traced.n + 1) * sizeof(*device->windows));
	device->n_windows = 0;
	for (size_t i = 0; i < traced.n; i++)
		for (uint64_t from = traced.items[i].start_ns; from < traced.items[i].end_ns;
		     from += slice_ns) {
			uint64_t left_ns = traced.items[i].end_ns - from;
			device->windows[device->n_windows++] =
				(struct tp_interval){from, from + (left_ns < slice_ns ? left_ns
										      : slice_ns)};
		}
	device->to = device->n_windows;
	free(traced.items);
}

static bool has_windows(const struct tp_rank_analysis *ranks)
{
	for (size_t i = 0; i < ranks->n_devices; i++)
		if (ranks->devices[i].to > ranks->devices[i].from)
			return true;
	return false;
}

/* If there are no steps, the window covers all device work; otherwise it covers the traced
 * steps. */
static void build_windows(struct tp_analysis *analysis)
{
	struct tp_rank_analysis *ranks = analysis->ranks;
	bool has_steps = analysis->profile->n_steady > 0;
	bool has_traced = !has_steps;
	for (uint32_t i = 0; i < ranks->n_ranks; i++) {
		if (i == ranks->own && analysis->main_task != TP_NO_TASK)
			tp_rank_host_use_labels(ranks, i, analysis);
		else
			tp_rank_host_build(ranks, i, analysis);
		if (has_steps)
			copy_steps(analysis, &ranks->ranks[i]);
		has_traced |= ranks->ranks[i].steps.n > 0;
	}
	if (has_traced)
		tp_ranks_find_windows(ranks);
	for (size_t i = 0; !has_steps && i < ranks->n_devices; i++)
		slice_traced(&ranks->untraced, &ranks->devices[i]);
	tp_trace_window_cost_set(analysis);
	if (has_steps && ranks->own < ranks->n_ranks)
		warn_slowed(analysis, &ranks->ranks[ranks->own].steps);
}

/* One window is a single sample: its steps are no evidence about other windows. */
static void warn_one_window(struct tp_profile *profile, const struct tp_rank_analysis *ranks)
{
	if (ranks->shut.n &&
	    !tp_intervals_covered(&ranks->shut, profile->window_start_ns, profile->window_end_ns))
		tp_profile_warn(profile, "one-window",
				"the parts are of steps in a single window of GPU tracing",
				"how much they differ from window to window is not known",
				"let it run longer, or: trainprof run --gpu-trace=windows "
				"--max-overhead=5% -- ...");
}

/* ---- the main thread together with devices -------------------------------------------------- */

static bool is_of_device(enum tp_label label)
{
	switch (label) {
	case TP_LABEL_COMPUTE_MATH:
	case TP_LABEL_COMMUNICATION_COLLECTIVE:
	case TP_LABEL_MEMORY_H2D:
	case TP_LABEL_MEMORY_D2H:
	case TP_LABEL_MEMORY_D2D:
	case TP_LABEL_MEMORY_P2P:
	case TP_LABEL_MEMORY_SET:
		return true;
	default:
		return false;
	}
}

/* The first judged device of the trainer: all of them have the same host. */
static const struct tp_device_work *trainer_device(const struct tp_rank_analysis *ranks)
{
	for (size_t i = 0; i < ranks->n_devices; i++)
		if (ranks->devices[i].rank == ranks->own && ranks->devices[i].n_pieces)
			return &ranks->devices[i];
	return NULL;
}

struct cutting {
	struct tp_segment *out; /* heap */
	size_t n;
	size_t capacity;
	const struct tp_device_work *device;
	size_t next; /* index of its next segment */
};

static void cut_emit(struct cutting *c, const struct tp_segment *like, uint64_t from_ns,
		     uint64_t to_ns, const struct tp_rank_segment *piece)
{
	if (to_ns <= from_ns)
		return;
	struct tp_segment segment = *like;
	segment.start_ns = from_ns;
	segment.end_ns = to_ns;
	if (piece) {
		segment.label = piece->label;
		segment.is_of_device = is_of_device(piece->label);
	}
	TP_ARRAY_PUSH(c->out, c->n, c->capacity) = segment;
}

static void cut_segment(struct cutting *c, const struct tp_segment *segment)
{
	const struct tp_rank_segment *pieces = c->device->pieces;
	uint64_t at = segment->start_ns;
	while (c->next < c->device->n_pieces && pieces[c->next].end_ns <= at)
		c->next++;
	for (size_t i = c->next; i < c->device->n_pieces && pieces[i].start_ns < segment->end_ns;
	     i++) {
		uint64_t from = pieces[i].start_ns > at ? pieces[i].start_ns : at;
		uint64_t to =
			pieces[i].end_ns < segment->end_ns ? pieces[i].end_ns : segment->end_ns;
		cut_emit(c, segment, at, from, NULL);
		cut_emit(c, segment, from, to, &pieces[i]);
		at = to;
	}
	cut_emit(c, segment, at, segment->end_ns, NULL);
}

static void cut_main_thread(struct tp_analysis *analysis)
{
	struct cutting c = {.device = trainer_device(analysis->ranks)};
	if (!c.device || analysis->main_task == TP_NO_TASK)
		return;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	for (size_t i = 0; i < timeline->n; i++)
		cut_segment(&c, &timeline->segments[i]);
	analysis->beside_devices.n = c.n;
	analysis->beside_devices.segments =
		tp_arena_copy(analysis->arena, c.out, c.n * sizeof(*c.out));
	free(c.out);
}

/* ---- recomputing the profile ---------------------------------------------------------------- */

struct before {
	struct tp_step *steps;
	size_t n_steps;
};

/* Clears the results of the partition of the main thread alone; returns its steps. */
static struct before clear(struct tp_profile *profile)
{
	struct before before = {profile->steps, profile->n_steps};
	memset(profile->parts, 0, sizeof(profile->parts));
	memset(profile->label_ns, 0, sizeof(profile->label_ns));
	profile->total_ns = 0;
	profile->steps = NULL;
	profile->n_steps = 0;
	profile->n_steady = 0;
	profile->window_end_ns = 0;
	return before;
}

/* Lists the steps that are not steady and were traced, or were not. */
static void list_others(struct tp_rank_analysis *ranks, const struct before *before,
			const struct tp_device_work *device, bool want_traced)
{
	for (size_t i = 0; i < before->n_steps; i++) {
		const struct tp_step *step = &before->steps[i];
		bool traced = device && is_traced(ranks, &ranks->ranks[device->rank], step);
		if (step->kind != TP_STEP_STEADY && traced == want_traced)
			ranks->left_out[ranks->n_left_out++] = *step;
	}
}

/* Reports the steps that are not steady beside the judged ones, partitioned alike if they were
 * traced: for the main thread alone, a step in which the GPU computes is idle. */
static void keep_other_steps(struct tp_rank_analysis *ranks, const struct before *before)
{
	const struct tp_device_work *device = tp_ranks_slow_device(ranks);
	ranks->left_out = tp_arena_array(ranks->arena, before->n_steps, sizeof(*ranks->left_out));
	list_others(ranks, before, device, true);
	if (ranks->n_left_out)
		tp_ranks_partition_steps(ranks, device, ranks->left_out, ranks->n_left_out);
	list_others(ranks, before, device, false);
	for (size_t i = 0; device && i < before->n_steps; i++)
		ranks->profile->n_untraced +=
			before->steps[i].kind == TP_STEP_STEADY &&
			!is_traced(ranks, &ranks->ranks[device->rank], &before->steps[i]);
}

/* Step times are of all steady steps on the clock of the training thread: judged steps need not be
 * adjacent. */
static void set_step_times(struct tp_profile *profile, const struct before *before)
{
	double *length_ns = tp_alloc((before->n_steps + 1) * sizeof(*length_ns));
	struct tp_estimate mean;
	size_t n = 0;
	for (size_t i = 0; i < before->n_steps; i++)
		if (before->steps[i].kind == TP_STEP_STEADY)
			length_ns[n++] =
				(double)(before->steps[i].end_ns - before->steps[i].start_ns);
	if (n)
		tp_step_facts_times(profile, length_ns, n, &mean);
	free(length_ns);
}

static void sum(struct tp_analysis *analysis)
{
	struct tp_rank_analysis *ranks = analysis->ranks;
	struct tp_profile *profile = analysis->profile;
	struct before before = clear(profile);
	keep_other_steps(ranks, &before);
	tp_ranks_sum(ranks);
	if (profile->is_of_steps)
		set_step_times(profile, &before);
	/* The labels now include those of the host from samples. */
	tp_step_facts_shares(profile, TP_LABELS_OF_SAMPLES, TP_ORIGIN_SAMPLED);
	tp_step_facts_shares(profile, TP_LABELS_OF_SPANS, TP_ORIGIN_MEASURED);
	assert(tp_profile_is_exact(profile));
}

static void build_results(struct tp_analysis *analysis)
{
	struct tp_rank_analysis *ranks = analysis->ranks;
	tp_ranks_partition(ranks);
	cut_main_thread(analysis);
	if (ranks->n_devices > 1)
		tp_ranks_join(ranks);
	sum(analysis);
	tp_ranks_describe_devices(ranks);
	tp_ranks_set_facts(ranks, tp_ranks_describe_kernels(ranks));
	tp_ranks_warn_links(analysis->profile);
	warn_one_window(analysis->profile, ranks);
	tp_driver_crosscheck_compare(ranks);
	if (analysis->profile->not_joined)
		tp_profile_warn(analysis->profile, "not-joined", analysis->profile->not_joined,
				"waits for late ranks cannot be separated from transfers there",
				NULL);
}

enum tp_status tp_pass_devices(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_rank_analysis *ranks = analysis->ranks;
	if (!ranks)
		return TP_OK;
	build_windows(analysis);
	if (has_windows(ranks))
		build_results(analysis);
	else
		tp_profile_warn(analysis->profile, "devices-not-judged",
				"no steady step was traced whole on the GPU",
				"parts are those of the program's main thread", NULL);
	tp_hot_table_release(&ranks->hot);
	tp_ranks_release(ranks);
	analysis->ranks = NULL;
	analysis->untraced = NULL;
	return TP_OK;
}
