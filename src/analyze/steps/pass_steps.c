/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the training steps: the program's own marks, else rounds that recur in its call stacks,
 * else none. Sets profile->steps (all are called steady, except for a last one whose end is
 * unknown), how they were found, and the location of the training loop.
 *
 * The confidence of marks is 1. The confidence of steps found in stacks is the share of rounds that
 * are alike: that call the same functions once each, or whose length or work is within half of the
 * median. Evaluations and checkpoints inside the loop lower it a little, a wrong marker lowers it a
 * lot.
 */
#include "analyze/counters/call_steps.h"
#include "analyze/thresholds.h"
#include "call_tree.h"
#include "counter_choice.h"
#include "loop_location.h"
#include "marked_steps.h"
#include "step_list.h"
#include "steps_hint.h"

#include "trainprof/base/cxx_name.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- recurrence in stacks --------------------------------------------------- */

/* Returns the direct callee of the loop on the path to a node; TP_NO_NODE outside the loop. */
static uint32_t callee_of(const struct tp_call_tree *tree, const struct tp_loop *loop,
			  uint32_t node)
{
	while (node != TP_NO_NODE && node && tree->nodes[node].parent != loop->node)
		node = tree->nodes[node].parent;
	return node ? node : TP_NO_NODE;
}

/* Short waits occur inside every callee (its threads are not ready); only a wait that is longer
 * than the time between samples shows that the loop waits for something. */
static bool is_long_wait(const struct tp_analysis *analysis, const struct tp_call_segment *piece)
{
	const struct tp_run_info *run = &analysis->trace->run;
	double rate_hz = run->sample_rate_hz > 0 ? run->sample_rate_hz : run->poll_rate_hz;
	return piece->state == TP_STATE_BLOCKED &&
	       (double)(piece->end_ns - piece->start_ns) * rate_hz > 1e9;
}

/* Searches waits without a sample between two hits: the start of one below the marker is the
 * border; otherwise the end of the last one below another callee than that of the previous hit.
 * Returns 0 if there is none. */
static uint64_t edge_between(const struct tp_analysis *analysis, const struct tp_call_tree *tree,
			     const struct tp_loop *loop, const struct tp_call_hit *before,
			     uint32_t until)
{
	uint64_t edge_ns = 0;
	for (uint32_t i = before->piece + 1; i < until; i++) {
		const struct tp_call_segment *piece = &tree->pieces[i];
		if (!is_long_wait(analysis, piece) || piece->node == TP_NO_NODE)
			continue;
		if (tp_call_tree_is_within(tree, piece->node, loop->marker))
			return piece->start_ns;
		if (callee_of(tree, loop, piece->node) != callee_of(tree, loop, before->node))
			edge_ns = piece->end_ns;
	}
	return edge_ns;
}

/* Returns when an interval below the marker began. A wait on either side of the border has exact
 * ends; between two segments on the CPU the border is between their samples, so the midpoint is
 * used. */
static uint64_t refined_start(const struct tp_analysis *analysis, const struct tp_call_tree *tree,
			      const struct tp_loop *loop, const struct tp_callee_interval *stay)
{
	const struct tp_call_segment *first = &tree->pieces[stay->piece];
	if (!stay->first || first->state != TP_STATE_ON_CPU)
		return stay->start_ns;
	const struct tp_call_hit *sight = &tree->sightings[stay->first - 1];
	uint64_t edge_ns = edge_between(analysis, tree, loop, sight, stay->piece);
	if (edge_ns)
		return edge_ns;
	const struct tp_sample *samples = analysis->trace->samples;
	const struct tp_call_segment *before = &tree->pieces[sight->piece];
	uint64_t high_ns = samples[first->sample].time_ns;
	uint64_t low_ns = before->end_ns;
	if (before->state == TP_STATE_ON_CPU)
		low_ns = samples[before->sample].time_ns;
	else if (is_long_wait(analysis, before))
		return low_ns;
	return low_ns < high_ns ? low_ns + (high_ns - low_ns) / 2 : stay->start_ns;
}

/* Returns "main() in train.py, lines 88 to 95, calls forward() in net.py at line 90". */
static const char *describe(const struct tp_analysis *analysis, const struct tp_call_tree *tree,
			    const struct tp_loop *loop, const struct tp_loop_location *place)
{
	struct tp_arena *arena = analysis->arena;
	const struct tp_trace *trace = analysis->trace;
	uint32_t marker = place->marker_line ? place->marker : loop->marker;
	const char *called = tp_call_tree_name(tree, marker, trace, arena);
	if (!place->first_line)
		return tp_arena_printf(arena, "%s calls %s",
				       tp_call_tree_name(tree, loop->node, trace, arena), called);
	return tp_arena_printf(arena, "%s() in %s, lines %u to %u, calls %s at line %u",
			       tp_trace_string(trace, place->symbol),
			       tp_text_base_name(tp_trace_string(trace, place->file)),
			       place->first_line, place->last_line, called, place->marker_line);
}

static void set_loop(struct tp_analysis *analysis, const struct tp_call_tree *tree,
		     const struct tp_loop *loop, const struct tp_loop_location *place)
{
	struct tp_profile *profile = analysis->profile;
	struct tp_step_list list = {0};
	uint64_t start_ns = refined_start(analysis, tree, loop, &loop->stays[0]);
	analysis->loop_start_ns = loop->start_ns < start_ns ? loop->start_ns : start_ns;
	analysis->loop_end_ns = loop->end_ns;
	for (size_t i = 1; i < loop->n_stays; i++) {
		uint64_t end_ns = refined_start(analysis, tree, loop, &loop->stays[i]);
		tp_step_list_add(&list, start_ns, end_ns);
		start_ns = end_ns;
	}
	double usual = tp_step_list_median_ns(&list);
	size_t whole = list.n;
	tp_step_list_add(&list, start_ns, loop->end_ns);
	if (list.n > whole && (double)(loop->end_ns - start_ns) < TP_CUT_STEP_MAX * usual)
		list.items[whole].kind = TP_STEP_CUT;
	tp_step_list_store(analysis, &list);
	free(list.items);
	profile->steps_found_by = TP_STEPS_PERIOD;
	profile->steps_confidence = loop->regularity;
	profile->steps_are_about = true;
	profile->steps_reason = tp_arena_printf(
		analysis->arena,
		"found in the call stacks: %s once per step; %.0f %% of the steps are alike%s",
		describe(analysis, tree, loop, place), 100 * loop->regularity,
		loop->may_be_groups ? "; batches that come without a wait would not be seen, so a "
				      "step may be a group of several"
				    : "");
}

/* ---- counters --------------------------------------------------------------- */

static void set_exact_reason(struct tp_analysis *analysis, const struct tp_counter_steps *counted)
{
	struct tp_profile *profile = analysis->profile;
	const char *name = tp_text_base_name(tp_trace_string(analysis->trace, counted->watched));
	size_t n_others = counted->n - counted->n_exact;
	profile->steps_found_by = TP_STEPS_WATCH;
	profile->steps_confidence = (double)counted->n_exact / (double)counted->n;
	if (n_others == 0)
		profile->steps_reason = tp_arena_printf(
			analysis->arena,
			"by a watchpoint on %s: all %zu steps begin at the instant of a write",
			name, counted->n);
	else
		profile->steps_reason = tp_arena_printf(
			analysis->arena,
			"by a watchpoint on %s: %zu of %zu steps begin at the instant of a write, "
			"%zu between two samples",
			name, counted->n_exact, counted->n, n_others);
}

/* Describes how steps were counted, and with what confidence. */
static void set_counter_reason(struct tp_analysis *analysis, const struct tp_counter_steps *counted)
{
	struct tp_profile *profile = analysis->profile;
	const char *name = tp_text_base_name(tp_trace_string(analysis->trace, counted->name));
	if (tp_counter_choice_is_exact(counted)) {
		set_exact_reason(analysis, counted);
		return;
	}
	bool is_refused = counted->n_writes > 0 && counted->n_exact == 0;
	profile->steps_found_by = TP_STEPS_COUNTER;
	profile->steps_confidence = counted->regularity;
	profile->steps_reason = tp_arena_printf(
		analysis->arena,
		"counted by a variable of the program, %s, read at samples: when a step begins is "
		"known to the time between two; %.0f %% of the steps are alike%s",
		name, 100 * counted->regularity,
		is_refused ? "; it is written at other times, too, so a watchpoint on it does not "
			     "show steps"
		: counted->is_by_growth
			? "; it grows faster than it is read, so it may also count something else, "
			  "such as samples"
			: "");
}

static void use_borders(struct tp_analysis *analysis, const struct tp_counter_steps *counted,
			uint64_t until_ns)
{
	struct tp_step_list list = {0};
	for (size_t i = 1; i < counted->n; i++)
		tp_step_list_add(&list, counted->borders[i - 1], counted->borders[i]);
	/* Only the end of the loop limits the last round. Stacks may show that end too early. */
	uint64_t start_ns = counted->borders[counted->n - 1];
	uint64_t usual_ns = (uint64_t)tp_counter_steps_last_ns(counted);
	if (until_ns <= start_ns)
		until_ns = analysis->trace->end_ns;
	uint64_t end_ns = start_ns + usual_ns < until_ns ? start_ns + usual_ns : until_ns;
	size_t whole = list.n;
	tp_step_list_add(&list, start_ns, end_ns);
	if (list.n > whole && (double)(end_ns - start_ns) < TP_CUT_STEP_MAX * (double)usual_ns)
		list.items[whole].kind = TP_STEP_CUT;
	analysis->loop_start_ns = counted->borders[0];
	analysis->loop_end_ns = end_ns > start_ns ? end_ns : start_ns;
	tp_step_list_store(analysis, &list);
	free(list.items);
}

/* Nothing distinguishes epochs from steps here, so the reason names the inner loop for the
 * reader. */
static void add_inner_loop(struct tp_profile *profile, const struct tp_counter_steps *counted)
{
	profile->steps_are_about = true;
	profile->steps_confidence = fmin(profile->steps_confidence, TP_STEPS_RIVAL_CONFIDENCE);
	profile->steps_reason = tp_arena_printf(
		&profile->arena,
		"%s; the loop inside it at line %u has %zu rounds: if these %zu are epochs, those "
		"are the steps",
		profile->steps_reason, counted->inner_line, counted->n_inner, counted->n);
}

static void use_counter(struct tp_analysis *analysis, const struct tp_counter_steps *counted,
			uint64_t until_ns)
{
	use_borders(analysis, counted, until_ns);
	set_counter_reason(analysis, counted);
	/* If the counter was not read all the time, some rounds may be missing. */
	analysis->profile->steps_are_about = counted->n_unknown > 0;
	if (counted->inner_line)
		add_inner_loop(analysis->profile, counted);
}

/* ---- calls ------------------------------------------------------------------ */

/* If stacks show about as many rounds while calls were recorded, they show the same steps; if they
 * show others, it is unknown which ones are the steps. */
static bool is_call_better(const struct tp_counter_steps *called, const struct tp_loop *loop)
{
	size_t n_stays = 0;
	uint64_t first_ns = called->borders[0];
	uint64_t last_ns = called->borders[called->n - 1];
	if (loop->state != TP_LOOP_FOUND || loop->may_be_groups)
		return true;
	for (size_t i = 0; i < loop->n_stays; i++)
		n_stays +=
			loop->stays[i].start_ns >= first_ns && loop->stays[i].start_ns <= last_ns;
	return fabs((double)n_stays - (double)called->n) <=
	       fmax(2, TP_COUNTER_DIFFERS_MAX * (double)called->n);
}

/* Converts "_ZN7Trainer4stepEv() in train" to "Trainer::step() in train". */
static const char *function_name(const struct tp_analysis *analysis, uint32_t name)
{
	const char *text = tp_trace_string(analysis->trace, name);
	int length = (int)strcspn(text, "(");
	char plain[256];
	if (!tp_cxx_name_demangle(plain, sizeof(plain),
				  tp_arena_printf(analysis->arena, "%.*s", length, text)))
		return text;
	return tp_arena_printf(analysis->arena, "%s%s", plain, text + length);
}

/* "are estimated: 12, because ..." */
static const char *missing_text(const struct tp_analysis *analysis, size_t n)
{
	return n ? tp_arena_printf(analysis->arena,
				   "are estimated: %zu, because the function was seen as often", n)
		 : "are not counted";
}

static void use_calls(struct tp_analysis *analysis, const struct tp_counter_steps *called)
{
	struct tp_profile *profile = analysis->profile;
	use_borders(analysis, called, analysis->trace->end_ns);
	profile->steps_found_by = TP_STEPS_WATCH;
	profile->steps_confidence = called->regularity;
	profile->steps_are_about = true;
	profile->steps_are_part = called->is_part_before || called->is_part_after;
	size_t n_later = called->n_inferred - called->n_earlier;
	size_t n_recorded = called->n - called->n_inferred;
	const char *later =
		n_later || called->is_part_after
			? tp_arena_printf(
				  analysis->arena, "; those after %.1f s %s",
				  (double)called->borders[called->n_earlier + n_recorded - 1] / 1e9,
				  missing_text(analysis, n_later))
			: "";
	profile->steps_reason = tp_arena_printf(
		analysis->arena,
		"by a breakpoint on %s: each of %zu steps begins at the instant of a call; those "
		"before %.1f s, when it was set, %s%s; %.0f %% of the steps are alike",
		function_name(analysis, called->name), n_recorded,
		(double)called->borders[called->n_earlier] / 1e9,
		missing_text(analysis, called->n_earlier), later, 100 * called->regularity);
}

/* ---- none ------------------------------------------------------------------- */

static void no_steps(struct tp_analysis *analysis, const char *reason)
{
	analysis->profile->steps_found_by = TP_STEPS_NONE;
	analysis->profile->steps_confidence = 0;
	analysis->profile->steps_reason = tp_arena_strdup(analysis->arena, reason);
}

static void whole_run(struct tp_analysis *analysis)
{
	analysis->loop_start_ns = 0;
	analysis->loop_end_ns = analysis->trace->end_ns;
}

static void steps_too_short(struct tp_analysis *analysis, const struct tp_loop *loop)
{
	double rate_hz = analysis->trace->run.sample_rate_hz;
	/* Resolution of callee_rounds.c: intervals of 1.7 sampling periods. */
	if (rate_hz > 0)
		no_steps(analysis,
			 tp_arena_printf(
				 analysis->arena,
				 "a step, or the pause before the next, is too short for %.0f "
				 "samples per second, which show %.0f ms or more; %s",
				 rate_hz, ceil(1700 / rate_hz),
				 tp_steps_hint_no_breakpoint(analysis)));
	else
		no_steps(analysis, "a step is too short to be seen by polling /proc");
	analysis->profile->steps_next = tp_steps_hint_command(analysis);
	analysis->loop_start_ns = loop->start_ns;
	analysis->loop_end_ns = loop->end_ns;
}

/* Similar segments show what a segment without a sample did, but not when it recurred. */
static void segments_too_short(struct tp_analysis *analysis)
{
	double rate_hz = analysis->trace->run.sample_rate_hz;
	char text[160] = "the main thread runs and waits in pieces too short for polls of /proc";
	if (rate_hz > 0)
		snprintf(text, sizeof(text),
			 "the main thread runs and waits in pieces too short for %.0f samples "
			 "per second",
			 rate_hz);
	no_steps(analysis, text);
}

static void steps_in_groups(struct tp_analysis *analysis, const struct tp_loop *loop)
{
	no_steps(analysis,
		 "the program does not wait for every batch of its several loaders, and nothing "
		 "else separates the steps between two waits: steps could only be counted in "
		 "groups");
	analysis->loop_start_ns = loop->start_ns;
	analysis->loop_end_ns = loop->end_ns;
}

static void no_steps_in_stacks(struct tp_analysis *analysis, const struct tp_call_tree *tree,
			       const struct tp_loop *loop)
{
	if (loop->state == TP_LOOP_GROUPS)
		steps_in_groups(analysis, loop);
	else if (loop->state == TP_LOOP_TOO_FAST && loop->end_ns > loop->start_ns)
		steps_too_short(analysis, loop);
	else if (!tree->n_sightings)
		no_steps(analysis, "no whole call stack of the main thread was recorded");
	else if (tree->broken_ns > tree->nodes[0].ns)
		no_steps(analysis, "most call stacks of the main thread are incomplete");
	else if (tree->unhit_ns > tree->nodes[0].ns)
		segments_too_short(analysis);
	else
		no_steps(analysis, "no function on the main thread's stack repeats regularly");
}

static void steps_from_stacks(struct tp_analysis *analysis)
{
	if (analysis->main_task == TP_NO_TASK) {
		no_steps(analysis, "no thread was seen that could train");
		return;
	}
	struct tp_call_tree tree;
	struct tp_loop loop;
	tp_call_tree_init(&tree, analysis, analysis->main_task);
	tp_loop_find(&loop, &tree);
	struct tp_counter_steps counted;
	bool has_counter = tp_counter_choice_find(&counted, analysis, &loop);
	bool is_counted =
		has_counter &&
		(tp_counter_choice_is_better(&counted, &loop) ||
		 (tp_counter_choice_splits_calls(&counted, &loop) &&
		  tp_loop_location_has_counter(&loop, &tree, analysis->trace, counted.name)));
	bool is_its_loop =
		is_counted || (has_counter && tp_counter_choice_is_same(&counted, &loop));
	struct tp_counter_steps called;
	bool is_called = !has_counter && tp_call_steps_find(&called, analysis);
	struct tp_loop_location place;
	tp_loop_location_find(&place, &loop, &tree, analysis->trace,
			      is_its_loop ? counted.name : 0);
	tp_loop_location_apply(&place, analysis);
	if (is_counted)
		use_counter(analysis, &counted, tp_counter_choice_until_ns(analysis, &loop));
	else if (is_called && is_call_better(&called, &loop))
		use_calls(analysis, &called);
	else if (loop.state == TP_LOOP_FOUND)
		set_loop(analysis, &tree, &loop, &place);
	else
		no_steps_in_stacks(analysis, &tree, &loop);
	if (is_called)
		tp_counter_steps_release(&called);
	tp_counter_steps_release(&counted);
	tp_loop_release(&loop);
	tp_call_tree_release(&tree);
}

enum tp_status tp_pass_steps(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	enum tp_steps_choice choice = analysis->options ? analysis->options->steps : TP_STEPS_AUTO;
	whole_run(analysis);
	if (choice == TP_STEPS_OFF)
		no_steps(analysis, "switched off (--steps=none)");
	else if (tp_marked_steps_set(analysis))
		return TP_OK;
	else if (choice == TP_STEPS_ONLY_MARKER)
		no_steps(analysis, "the program set no step marks");
	else
		steps_from_stacks(analysis);
	return TP_OK;
}
