/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the steps of ranks: marks of the framework or program, else the period of launches, else
 * the ends of the optimizer, else none. */
#include "analyze/numeric/sequence_period.h"
#include "analyze/thresholds.h"
#include "rank_data.h"
#include "rank_names.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/model/capture_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks ---- */

/* Returns true if the second of two marks begins before the first one ends only because times were
 * rounded, and is not another name of the same step. */
static bool is_next(const struct tp_interval *before, const struct tp_span *span)
{
	uint64_t shared_ns = before->end_ns - span->start_ns;
	return span->end_ns > before->end_ns && shared_ns < (span->end_ns - span->start_ns) / 2 &&
	       shared_ns < (before->end_ns - before->start_ns) / 2;
}

/* The outer one of overlapping marks is the step; equal ones are duplicates. Spans are sorted,
 * enclosing spans first. */
static void steps_of_thread(struct tp_rank_analysis *analysis, uint32_t track,
			    enum tp_span_sense sense, struct tp_intervals *out)
{
	const struct tp_track_spans *spans = &analysis->trace->spans[track];
	for (size_t i = 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		if (span->end_ns <= span->start_ns || tp_rank_sense(analysis, span) != sense)
			continue;
		struct tp_interval *before = out->n ? &out->items[out->n - 1] : NULL;
		if (before && span->start_ns < before->end_ns) {
			if (!is_next(before, span))
				continue;
			before->end_ns = span->start_ns;
		}
		TP_ARRAY_PUSH(out->items, out->n, out->capacity) =
			(struct tp_interval){span->start_ns, span->end_ns};
	}
}

bool tp_ranks_steps_from_marks(struct tp_rank_analysis *analysis)
{
	bool is_found = false;
	for (size_t i = 0; i < analysis->n_ranks; i++) {
		struct tp_rank_work *rank = &analysis->ranks[i];
		if (rank->main == TP_NO_TASK)
			continue;
		steps_of_thread(analysis, rank->main, TP_SENSE_STEP, &rank->steps);
		is_found |= rank->steps.n > 0;
	}
	return is_found;
}

/* ---- launches ---- */

/* The linked ops of a device in launch order. */
struct launches {
	struct tp_op **ops; /* heap, as are the other arrays */
	uint32_t *symbols;
	uint64_t *times_ns;
	size_t n;
	size_t n_symbols;
};

static int launch_order(const void *a, const void *b)
{
	const struct tp_op *x = *(struct tp_op *const *)a;
	const struct tp_op *y = *(struct tp_op *const *)b;
	if (x->launch_start_ns != y->launch_start_ns)
		return x->launch_start_ns < y->launch_start_ns ? -1 : 1;
	/* One launch of a graph starts many ops: in the order in which they ran. */
	return (x > y) - (x < y);
}

static void collect_launches(const struct tp_rank_analysis *analysis,
			     const struct tp_device_work *device, struct launches *out)
{
	uint32_t *symbol_of = tp_alloc((analysis->trace->n_strings + 1) *
				       sizeof(*symbol_of)); /* symbol + 1; 0 = none yet */
	*out = (struct launches){0};
	out->ops = tp_alloc((device->n_ops + 1) * sizeof(struct tp_op *));
	out->symbols = tp_alloc((device->n_ops + 1) * sizeof(*out->symbols));
	out->times_ns = tp_alloc((device->n_ops + 1) * sizeof(*out->times_ns));
	for (size_t i = 0; i < device->n_ops; i++)
		if (device->ops[i].is_linked)
			out->ops[out->n++] = &device->ops[i];
	qsort(out->ops, out->n, sizeof(struct tp_op *), launch_order);
	for (size_t i = 0; i < out->n; i++) {
		uint32_t *symbol = &symbol_of[out->ops[i]->name];
		if (!*symbol)
			*symbol = (uint32_t)++out->n_symbols;
		out->symbols[i] = *symbol - 1;
		out->times_ns[i] = out->ops[i]->launch_start_ns;
	}
	free(symbol_of);
}

static void free_launches(struct launches *launches)
{
	free(launches->ops);
	free(launches->symbols);
	free(launches->times_ns);
}

/* ---- the anchor of a period ---- */

enum anchor { ANCHOR_NONE, ANCHOR_INPUT, ANCHOR_OPTIMIZER };

/* A copy to the device that may be a batch. Smaller copies are single numbers: a learning rate, a
 * scale, a seed. If sizes were not recorded any copy may be a batch. */
static bool is_input_copy(const struct tp_rank_analysis *analysis, const struct tp_op *op)
{
	uint64_t bytes = analysis->trace->details[op->detail].bytes;
	return op->label == TP_LABEL_MEMORY_H2D && (!bytes || bytes >= TP_INPUT_COPY_MIN_BYTES);
}

static bool is_inside(const struct tp_intervals *list, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, list->n, list->items[at].end_ns > time_ns);
	return at < list->n && list->items[at].start_ns <= time_ns;
}

/* Returns for each launched op the evidence that a period with it is a training step; by index. */
static uint8_t *find_anchors(struct tp_rank_analysis *analysis, const struct tp_device_work *device,
			     const struct launches *launches)
{
	const struct tp_rank_work *rank = &analysis->ranks[device->rank];
	struct tp_intervals optimizer = tp_rank_spans_of(analysis, rank, TP_SENSE_OPTIMIZER);
	uint8_t *anchors = tp_alloc(launches->n + 1);
	uint64_t before_ns = 0;
	size_t load = 0;
	const struct tp_intervals *loads = &rank->lanes[TP_LABEL_DATALOADER_NEXT];
	for (size_t i = 0; i < launches->n; i++) {
		const struct tp_op *op = launches->ops[i];
		bool is_copy = is_input_copy(analysis, op);
		while (load < loads->n && loads->items[load].end_ns <= op->launch_start_ns)
			load++;
		bool has_loaded = load && loads->items[load - 1].end_ns > before_ns;
		before_ns = op->launch_start_ns;
		if (is_copy || has_loaded)
			anchors[i] = ANCHOR_INPUT;
		if (op->class == TP_OP_COMPUTE &&
		    (is_inside(&optimizer, op->launch_start_ns) ||
		     tp_rank_kernel_row(analysis, op->name)->group == TP_GROUP_OPTIMIZER))
			anchors[i] = ANCHOR_OPTIMIZER;
	}
	free(optimizer.items);
	return anchors;
}

/* Returns the strongest anchor that every whole period has. */
static enum anchor anchor_of(const struct tp_period *period, const struct launches *launches,
			     const uint8_t *anchors)
{
	enum anchor weakest = ANCHOR_OPTIMIZER;
	enum anchor now = ANCHOR_NONE;
	bool is_open = false;
	for (size_t i = 0; i < launches->n; i++) {
		if (launches->symbols[i] == period->cut) {
			if (is_open && now < weakest)
				weakest = now;
			is_open = true;
			now = ANCHOR_NONE;
		}
		if (anchors[i] > now)
			now = (enum anchor)anchors[i];
	}
	return weakest;
}

/* ---- steps from the period ---- */

/* Steps last from each cut to the next. A cut that comes much too early is another use of the same
 * kernel. */
static void cut_steps(struct tp_rank_work *rank, const struct launches *launches,
		      const struct tp_period *period)
{
	size_t last = SIZE_MAX;
	for (size_t i = 0; i < launches->n; i++) {
		if (launches->symbols[i] != period->cut)
			continue;
		if (last != SIZE_MAX && i - last < period->lag / 2)
			continue;
		if (last != SIZE_MAX && launches->times_ns[i] > launches->times_ns[last])
			TP_ARRAY_PUSH(rank->steps.items, rank->steps.n, rank->steps.capacity) =
				(struct tp_interval){launches->times_ns[last],
						     launches->times_ns[i]};
		last = i;
	}
}

static void report_period(struct tp_profile *profile, const struct tp_period *period,
			  size_t micro_batch, enum anchor anchor)
{
	profile->steps_found_by = TP_STEPS_PERIOD;
	profile->steps_confidence = period->plain < period->rare ? period->plain : period->rare;
	char inner[80] = "";
	if (micro_batch) {
		profile->micro_batches = (period->lag + micro_batch / 2) / micro_batch;
		snprintf(inner, sizeof(inner), ", in micro-batches of %zu", micro_batch);
	}
	profile->steps_reason = tp_arena_printf(
		&profile->arena,
		"found in the order of launches: it repeats every %zu pieces of device work%s "
		"(%.1f %% alike)%s",
		period->lag, inner, 100 * profile->steps_confidence,
		anchor == ANCHOR_OPTIMIZER ? "" : ", with an input and without an optimizer");
}

static void warn_no_anchor(struct tp_profile *profile, const struct tp_period *period)
{
	profile->steps_reason = tp_arena_printf(
		&profile->arena,
		"launches repeat after %zu piece%s of device work, but no optimizer, "
		"copy of input or call of a loader is among them, so they are "
		"layers or micro-batches",
		period->lag, period->lag == 1 ? "" : "s");
}

/* A period with an input but no optimizer may be a micro-batch of a longer period with an
 * optimizer. */
static bool find_period(struct tp_rank_analysis *analysis, struct tp_rank_work *rank,
			const struct launches *launches, const uint8_t *anchors)
{
	struct tp_profile *profile = analysis->profile;
	struct tp_period period;
	if (!tp_period_find(&period, launches->symbols, launches->times_ns, launches->n,
			    launches->n_symbols, 1))
		return false;
	enum anchor anchor = anchor_of(&period, launches, anchors);
	struct tp_period longer = period;
	size_t micro_batch = 0;
	while (anchor != ANCHOR_OPTIMIZER && longer.lag < TP_MICRO_BATCHES_MAX * period.lag &&
	       tp_period_find(&longer, launches->symbols, launches->times_ns, launches->n,
			      launches->n_symbols, longer.lag + 1)) {
		if (anchor_of(&longer, launches, anchors) != ANCHOR_OPTIMIZER)
			continue;
		micro_batch = period.lag;
		period = longer;
		anchor = ANCHOR_OPTIMIZER;
	}
	if (anchor == ANCHOR_NONE) {
		warn_no_anchor(profile, &period);
		return false;
	}
	cut_steps(rank, launches, &period);
	report_period(profile, &period, micro_batch, anchor);
	analysis->has_repeats_only |= rank->steps.n > 0 && anchor != ANCHOR_OPTIMIZER;
	return rank->steps.n > 0;
}

static bool steps_from_period(struct tp_rank_analysis *analysis)
{
	bool is_found = false;
	for (size_t i = 0; i < analysis->n_devices; i++) {
		const struct tp_device_work *device = &analysis->devices[i];
		struct tp_rank_work *rank = &analysis->ranks[device->rank];
		if (rank->steps.n)
			continue;
		struct launches launches;
		collect_launches(analysis, device, &launches);
		uint8_t *anchors = find_anchors(analysis, device, &launches);
		is_found |= find_period(analysis, rank, &launches, anchors);
		free(anchors);
		free_launches(&launches);
	}
	return is_found;
}

/* ---- steps from the optimizer ---- */

/* Returns the most frequent outermost optimizer range. If two optimizers train two networks
 * alternately, one of them ends the step. */
static uint32_t most_common_name(const struct tp_trace *trace, const struct tp_intervals *outer,
				 const uint32_t *names)
{
	uint32_t *counts = tp_alloc((trace->n_strings + 1) * sizeof(*counts));
	uint32_t best = 0;
	for (size_t i = 0; i < outer->n; i++)
		counts[names[i]]++;
	for (size_t i = outer->n; i-- > 0;)
		if (counts[names[i]] >= counts[best])
			best = names[i];
	free(counts);
	return best;
}

/* Finds the optimizer ranges of a thread that are not inside another one, of the most frequent
 * name. */
static void find_optimizer_ranges(struct tp_rank_analysis *analysis, uint32_t track,
				  struct tp_intervals *out)
{
	const struct tp_track_spans *spans = &analysis->trace->spans[track];
	struct tp_intervals outer = {0};
	uint32_t *names = tp_alloc((spans->n + 1) * sizeof(*names));
	for (size_t i = 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		if (span->end_ns <= span->start_ns ||
		    tp_rank_sense(analysis, span) != TP_SENSE_OPTIMIZER ||
		    (outer.n && span->start_ns < outer.items[outer.n - 1].end_ns))
			continue;
		names[outer.n] = span->name;
		TP_ARRAY_PUSH(outer.items, outer.n, outer.capacity) =
			(struct tp_interval){span->start_ns, span->end_ns};
	}
	uint32_t name = most_common_name(analysis->trace, &outer, names);
	for (size_t i = 0; i < outer.n; i++)
		if (names[i] == name)
			TP_ARRAY_PUSH(out->items, out->n, out->capacity) = outer.items[i];
	free(outer.items);
	free(names);
}

static int length_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Several optimizers of one kind run one after the other, with no part of a step between them. */
static void join_ends_of_a_step(struct tp_intervals *ends)
{
	if (ends->n < 2)
		return;
	uint64_t *gaps = tp_alloc(ends->n * sizeof(*gaps));
	for (size_t i = 1; i < ends->n; i++)
		gaps[i - 1] = ends->items[i].start_ns - ends->items[i - 1].end_ns;
	qsort(gaps, ends->n - 1, sizeof(*gaps), length_order);
	size_t upper = (ends->n - 1) * 3 / 4; /* the upper quartile */
	double least = TP_OPTIMIZER_GAP_MIN * (double)gaps[upper];
	free(gaps);
	size_t n = 1;
	for (size_t i = 1; i < ends->n; i++) {
		if ((double)(ends->items[i].start_ns - ends->items[n - 1].end_ns) < least)
			ends->items[n - 1].end_ns = ends->items[i].end_ns;
		else
			ends->items[n++] = ends->items[i];
	}
	ends->n = n;
}

/* If op counts differ from step to step nothing repeats, but the optimizer still ends each step. */
static bool steps_from_optimizer(struct tp_rank_analysis *analysis)
{
	bool is_found = false;
	for (size_t i = 0; i < analysis->n_ranks; i++) {
		struct tp_rank_work *rank = &analysis->ranks[i];
		struct tp_intervals ends = {0};
		if (rank->main != TP_NO_TASK)
			find_optimizer_ranges(analysis, rank->main, &ends);
		join_ends_of_a_step(&ends);
		for (size_t k = 1; k < ends.n && ends.n >= TP_OPTIMIZER_ENDS_MIN; k++)
			TP_ARRAY_PUSH(rank->steps.items, rank->steps.n, rank->steps.capacity) =
				(struct tp_interval){ends.items[k - 1].end_ns,
						     ends.items[k].end_ns};
		is_found |= rank->steps.n > 0;
		free(ends.items);
	}
	if (is_found) {
		analysis->profile->steps_found_by = TP_STEPS_PERIOD;
		analysis->profile->steps_confidence = 0.5;
		analysis->profile->steps_reason = "found by the optimizer, which ends each step: "
						  "launches do not repeat alike";
	}
	return is_found;
}

bool tp_ranks_steps_from_launches(struct tp_rank_analysis *analysis)
{
	return steps_from_period(analysis) || steps_from_optimizer(analysis);
}

/* The repetition may still be a step: its optimizer may run on the CPU or under an unknown name. */
static void warn_repeats(struct tp_rank_analysis *analysis)
{
	char remedy[400];
	if (!analysis->has_repeats_only)
		return;
	snprintf(remedy, sizeof(remedy), "mark each step: %s",
		 tp_capture_words(&analysis->trace->run, TP_CAPTURE_MARKS));
	tp_profile_warn(analysis->profile, "repeats-without-optimizer",
			"what repeats has an input, but no optimizer in it",
			"its times are of repeats, which may be inference or micro-batches",
			remedy);
}

static void search(struct tp_rank_analysis *analysis, enum tp_steps_choice choice)
{
	struct tp_profile *profile = analysis->profile;
	if (choice == TP_STEPS_OFF) {
		profile->steps_reason = "switched off (--steps=none)";
	} else if (tp_ranks_steps_from_marks(analysis)) {
		profile->steps_found_by = TP_STEPS_MARKER;
		profile->steps_confidence = 1;
		profile->steps_reason = "marked in the trace";
	} else if (choice == TP_STEPS_ONLY_MARKER) {
		profile->steps_reason = "the trace has no step marks";
	} else if (!tp_ranks_steps_from_launches(analysis) && !profile->steps_reason) {
		profile->steps_reason =
			"no step marks, and what is launched does not repeat regularly";
	}
}

void tp_ranks_find_steps(struct tp_rank_analysis *analysis)
{
	const struct tp_analyze_options *options = analysis->options;
	search(analysis, options ? options->steps : TP_STEPS_AUTO);
	warn_repeats(analysis);
	tp_ranks_find_windows(analysis);
}
