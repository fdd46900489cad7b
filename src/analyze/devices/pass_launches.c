/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the device work that was recorded while the program was sampled, and finds steps in it if
 * neither marks nor stacks did.
 *
 * Needs: threads, roles, main thread, labels, steps so far. Gives: analysis->ranks if there is such
 * work (the devices pass releases it), and perhaps profile->steps.
 *
 * The program's own marks have priority, then step ranges by NVTX, then repetition in its stacks,
 * then the period of its launches.
 */
#include "analyze/analysis.h"
#include "rank_data.h"

#include "trainprof/base/memory.h"

#include <string.h>

/* Name of the collector. */
static const char source[] = "cupti";

static bool has_spans(const struct tp_trace *trace, bool is_of_device)
{
	for (size_t i = 0; i < trace->n_tracks; i++)
		if ((trace->tracks[i].device != TP_TRACK_THREAD) == is_of_device &&
		    trace->spans[i].n)
			return true;
	return false;
}

/* The rank whose threads are those of the trainer; if no thread is known, the only rank. */
static uint32_t find_trainer_rank(const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = 0; i < trace->n_tracks; i++) {
		uint32_t task_plus_1 = trace->tracks[i].task_plus_1;
		if (task_plus_1 && analysis->profile->trainer != TP_NO_TASK &&
		    analysis->threads[task_plus_1 - 1].leader == analysis->profile->trainer)
			return trace->tracks[i].rank;
	}
	return analysis->ranks->n_ranks == 1 ? 0 : TP_NO_TASK;
}

/* Finds intervals in which events were lost or not collected. Losses at one instant get a length of
 * 1 ns. */
static void find_trace_gaps(struct tp_rank_analysis *ranks)
{
	const struct tp_trace *trace = ranks->trace;
	for (size_t i = 0; i < trace->n_gaps; i++) {
		const struct tp_gap *gap = &trace->gaps[i];
		if (strcmp(tp_trace_string(trace, gap->source), source) != 0)
			continue;
		uint64_t end_ns = gap->end_ns > gap->start_ns ? gap->end_ns : gap->start_ns + 1;
		tp_intervals_add(&ranks->untraced, gap->start_ns, end_ns);
		if (strcmp(tp_trace_string(trace, gap->reason), TP_GAP_BETWEEN_WINDOWS) == 0)
			tp_intervals_add(&ranks->shut, gap->start_ns, end_ns);
	}
	tp_intervals_merge(&ranks->untraced);
	tp_intervals_merge(&ranks->shut);
}

static void use_steps(struct tp_analysis *analysis)
{
	const struct tp_rank_analysis *ranks = analysis->ranks;
	struct tp_profile *profile = analysis->profile;
	const struct tp_intervals *steps = &ranks->ranks[ranks->own].steps;
	profile->steps = tp_arena_array(analysis->arena, steps->n, sizeof(*profile->steps));
	profile->n_steps = steps->n;
	for (size_t i = 0; i < steps->n; i++)
		profile->steps[i] = (struct tp_step){.start_ns = steps->items[i].start_ns,
						     .end_ns = steps->items[i].end_ns,
						     .kind = TP_STEP_STEADY};
	analysis->loop_start_ns = steps->items[0].start_ns;
	analysis->loop_end_ns = steps->items[steps->n - 1].end_ns;
}

static bool has_trainer_steps(const struct tp_rank_analysis *ranks)
{
	return ranks->ranks[ranks->own].steps.n > 0;
}

static void find_steps(struct tp_analysis *analysis)
{
	struct tp_rank_analysis *ranks = analysis->ranks;
	struct tp_profile *profile = analysis->profile;
	enum tp_steps_choice choice = analysis->options ? analysis->options->steps : TP_STEPS_AUTO;
	if (choice == TP_STEPS_OFF || profile->steps_found_by == TP_STEPS_MARKER)
		return;
	if (tp_ranks_steps_from_marks(ranks) && has_trainer_steps(ranks)) {
		profile->steps_found_by = TP_STEPS_MARKER;
		profile->steps_confidence = 1;
		profile->steps_reason = "marked by the program's NVTX ranges";
		use_steps(analysis);
		return;
	}
	const char *reason = profile->steps_reason;
	if (choice == TP_STEPS_AUTO && !profile->n_steps && tp_ranks_steps_from_launches(ranks) &&
	    has_trainer_steps(ranks))
		use_steps(analysis);
	else
		profile->steps_reason = reason;
}

enum tp_status tp_pass_launches(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	bool has_work = has_spans(analysis->trace, true);
	if (!has_work && !has_spans(analysis->trace, false))
		return TP_OK;
	struct tp_rank_analysis *ranks =
		tp_arena_array(analysis->arena, 1, sizeof(*analysis->ranks));
	*ranks = (struct tp_rank_analysis){
		.trace = analysis->trace,
		.patterns = analysis->patterns,
		.options = analysis->options,
		.profile = analysis->profile,
		.arena = analysis->arena,
		.hot = {.trace = analysis->trace},
		.main_task = analysis->main_task,
		.is_joined = true,
	};
	analysis->ranks = ranks;
	tp_ranks_build(ranks);
	find_trace_gaps(ranks);
	ranks->own = find_trainer_rank(analysis);
	if (ranks->own < ranks->n_ranks && analysis->main_task != TP_NO_TASK)
		find_steps(analysis);
	if (!has_work) {
		/* Ranges without device work only define steps. */
		tp_ranks_release(ranks);
		analysis->ranks = NULL;
	} else if (ranks->shut.n) {
		analysis->traced_from_ns = tp_ranks_first_work(ranks);
		analysis->untraced = &ranks->untraced;
	}
	return TP_OK;
}
