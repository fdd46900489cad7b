/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the part of the run that represents it. Needs: steps, labels. Gives: kinds of steps,
 * window, run phases, step times and the run's shares of time. */
#include "analyze/attribution/phase_time.h"
#include "analyze/numeric/stats.h"
#include "analyze/partition/step_facts.h"
#include "step_kind.h"
#include "step_window.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct steady {
	struct tp_analysis *analysis;
	struct tp_profile *profile;
	struct tp_phase_time phases;
	struct tp_step_levels levels;
};

/* ---- window and phases -------------------------------------------------------------------- */

/* Without steps: the window is the measured part of the loop (--delay, --duration). Time that was
 * not measured is not idle time. */
static void set_loop_window(struct steady *s)
{
	struct tp_profile *profile = s->profile;
	const struct tp_analysis *analysis = s->analysis;
	const struct tp_run_info *run = &analysis->trace->run;
	uint64_t from = analysis->loop_start_ns;
	uint64_t until = analysis->loop_end_ns;
	bool is_whole = !from && until == analysis->trace->end_ns;
	profile->window_start_ns = from;
	profile->window_end_ns = until;
	profile->window_reason = is_whole ? "the whole run" : "the training loop";
	if (run->measure_from_ns > run->started_ns + from)
		from = run->measure_from_ns - run->started_ns;
	if (run->measure_until_ns > run->started_ns &&
	    run->measure_until_ns - run->started_ns < until)
		until = run->measure_until_ns - run->started_ns;
	/* `run` itself reports a program that ended before measuring began. */
	if (from >= until)
		return;
	if (until - from < profile->window_end_ns - profile->window_start_ns)
		profile->window_reason = "what was measured";
	profile->window_start_ns = from;
	profile->window_end_ns = until;
}

static void set_window(struct steady *s)
{
	struct tp_profile *profile = s->profile;
	size_t counts[TP_N_STEP_KINDS] = {0};
	tp_step_window_count(profile, counts);
	profile->n_steady = counts[TP_STEP_STEADY];
	if (!profile->n_steady) {
		set_loop_window(s);
		return;
	}
	profile->window_end_ns = 0;
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->kind != TP_STEP_STEADY)
			continue;
		if (!profile->window_end_ns)
			profile->window_start_ns = step->start_ns;
		profile->window_end_ns = step->end_ns;
	}
	profile->window_reason = tp_step_window_describe(s->analysis->arena, counts);
}

static void add_phase(struct tp_profile *profile, enum tp_phase_kind phase, uint64_t from_ns,
		      uint64_t to_ns, uint64_t count)
{
	if (to_ns > from_ns) {
		profile->run_phase_ns[phase] += to_ns - from_ns;
		profile->run_phase_count[phase] += count;
	}
}

/* Adds loop time outside of all steps: the program marked it as no step, usually for an
 * evaluation. */
static void add_gap(struct steady *s, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t checkpoint_ns =
		tp_phase_time_between(&s->phases, TP_SIDE_CHECKPOINT, from_ns, to_ns);
	bool is_checkpoint = to_ns > from_ns && checkpoint_ns * 2 >= to_ns - from_ns;
	add_phase(s->profile, is_checkpoint ? TP_RUN_PHASE_CHECKPOINT : TP_RUN_PHASE_EVAL, from_ns,
		  to_ns, 1);
}

static enum tp_phase_kind phase_of(enum tp_step_kind kind, bool is_steady_behind)
{
	switch (kind) {
	case TP_STEP_STEADY:
	case TP_STEP_COUNTED:
	case TP_STEP_OTHER:
		return TP_RUN_PHASE_TRAIN;
	case TP_STEP_WARMUP:
		return TP_RUN_PHASE_WARMUP;
	case TP_STEP_CHECKPOINT:
		return TP_RUN_PHASE_CHECKPOINT;
	case TP_STEP_EVALUATION:
		return TP_RUN_PHASE_EVAL;
	case TP_STEP_CUT:
		return is_steady_behind ? TP_RUN_PHASE_SHUTDOWN : TP_RUN_PHASE_WARMUP;
	default:
		return TP_RUN_PHASE_SLOW;
	}
}

/* Without steps: all loop time is training, except for known other activities. */
static void sum_loop(struct steady *s)
{
	struct tp_profile *profile = s->profile;
	uint64_t from = s->analysis->loop_start_ns;
	uint64_t to = s->analysis->loop_end_ns;
	uint64_t eval = tp_phase_time_between(&s->phases, TP_SIDE_EVALUATION, from, to);
	uint64_t checkpoint = tp_phase_time_between(&s->phases, TP_SIDE_CHECKPOINT, from, to);
	if (eval + checkpoint > to - from)
		eval = to - from - checkpoint; /* a checkpoint inside an evaluation counts once */
	profile->run_phase_ns[TP_RUN_PHASE_EVAL] += eval;
	profile->run_phase_ns[TP_RUN_PHASE_CHECKPOINT] += checkpoint;
	profile->run_phase_ns[TP_RUN_PHASE_TRAIN] += to - from - eval - checkpoint;
}

/* The phases always sum to the length of the run. */
static void sum_phases(struct steady *s)
{
	struct tp_profile *profile = s->profile;
	const struct tp_analysis *analysis = s->analysis;
	add_phase(profile, TP_RUN_PHASE_STARTUP, 0, analysis->loop_start_ns, 0);
	add_phase(profile, TP_RUN_PHASE_SHUTDOWN, analysis->loop_end_ns, analysis->trace->end_ns,
		  0);
	if (!profile->n_steps) {
		sum_loop(s);
		return;
	}
	uint64_t at = analysis->loop_start_ns;
	add_phase(profile, TP_RUN_PHASE_WARMUP, at, profile->steps[0].start_ns, 0);
	at = profile->steps[0].start_ns;
	bool is_steady_behind = false;
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		add_gap(s, at, step->start_ns);
		add_phase(profile, phase_of(step->kind, is_steady_behind), step->start_ns,
			  step->end_ns, step->kind != TP_STEP_CUT);
		is_steady_behind |= step->kind == TP_STEP_STEADY;
		at = step->end_ns;
	}
	add_phase(profile, TP_RUN_PHASE_SHUTDOWN, at, analysis->loop_end_ns, 0);
}

/* ---- facts -------------------------------------------------------------------------------- */

/* Time of the loop, in steps and between them. */
static double side_ns(const struct steady *s, enum tp_side_phase side)
{
	return (double)tp_phase_time_between(&s->phases, side, s->analysis->loop_start_ns,
					     s->analysis->loop_end_ns);
}

/* Returns true if no evaluation came before the first step: evaluations follow epochs. Otherwise
 * the loop may have all of its own, and what follows the last step is a final test. */
static bool begins_with_steps(const struct steady *s)
{
	const struct tp_profile *profile = s->profile;
	if (!profile->n_steps || profile->steps[0].kind == TP_STEP_EVALUATION)
		return false;
	return !tp_phase_time_between(&s->phases, TP_SIDE_EVALUATION, 0,
				      profile->steps[0].start_ns);
}

/* A loop that evaluates after each epoch ends with an evaluation, after the last step. Only as much
 * counts as others of the loop took: a final test may be longer. */
static double last_evaluation_ns(const struct steady *s)
{
	const struct tp_analysis *analysis = s->analysis;
	if (!begins_with_steps(s))
		return 0;
	double n = (double)s->profile->run_phase_count[TP_RUN_PHASE_EVAL];
	double behind_ns =
		(double)tp_phase_time_between(&s->phases, TP_SIDE_EVALUATION, analysis->loop_end_ns,
					      analysis->trace->end_ns);
	return n > 0 ? fmin(behind_ns, side_ns(s, TP_SIDE_EVALUATION) / n) : 0;
}

static void set_run_facts(struct steady *s)
{
	struct tp_profile *profile = s->profile;
	const struct tp_analysis *analysis = s->analysis;
	double run = (double)analysis->trace->end_ns;
	double loop = (double)(analysis->loop_end_ns - analysis->loop_start_ns);
	double window = (double)(profile->window_end_ns - profile->window_start_ns);
	enum tp_origin origin =
		tp_steps_are_measured(profile) ? TP_ORIGIN_MEASURED : TP_ORIGIN_SAMPLED;
	const uint64_t *ns = profile->run_phase_ns;
	double outside = (double)(ns[TP_RUN_PHASE_EVAL] + ns[TP_RUN_PHASE_CHECKPOINT] +
				  ns[TP_RUN_PHASE_SLOW]);
	double checkpoint = side_ns(s, TP_SIDE_CHECKPOINT);
	tp_profile_set(profile, TP_FACT_RUN_DURATION, run, TP_ORIGIN_MEASURED, 1);
	tp_profile_set(profile, TP_FACT_RUN_WINDOW, window, origin, 1);
	tp_profile_set(profile, TP_FACT_RUN_WINDOW_RATIO, window / run, origin, 1);
	tp_profile_set(profile, TP_FACT_RUN_CHECKPOINT_RATIO, checkpoint / loop, TP_ORIGIN_SAMPLED,
		       1);
	if (checkpoint > 0)
		tp_profile_set(profile, TP_FACT_RUN_CHECKPOINT_WAIT,
			       side_ns(s, TP_SIDE_CHECKPOINT_WAIT) / checkpoint, TP_ORIGIN_SAMPLED,
			       1);
	else
		tp_profile_set_missing(profile, TP_FACT_RUN_CHECKPOINT_WAIT,
				       "no checkpoint was seen");
	double last_ns = last_evaluation_ns(s);
	tp_profile_set(profile, TP_FACT_RUN_EVALUATION,
		       (side_ns(s, TP_SIDE_EVALUATION) + last_ns) / (loop + last_ns),
		       TP_ORIGIN_SAMPLED, 1);
	tp_profile_set(profile, TP_FACT_RUN_LOGGING_RATIO, side_ns(s, TP_SIDE_LOGGING) / loop,
		       TP_ORIGIN_SAMPLED, 1);
	tp_profile_set(profile, TP_FACT_RUN_OUTSIDE_RATIO, outside / loop, origin, 1);
	if (profile->n_steps) {
		tp_profile_set(profile, TP_FACT_RUN_STARTUP_RATIO,
			       (double)ns[TP_RUN_PHASE_STARTUP] / run, origin, 1);
		tp_profile_set(profile, TP_FACT_RUN_WARMUP_RATIO,
			       (double)ns[TP_RUN_PHASE_WARMUP] / loop, origin, 1);
	} else {
		tp_profile_set_missing(profile, TP_FACT_RUN_WARMUP_RATIO, profile->steps_reason);
		if (analysis->loop_start_ns)
			tp_profile_set(profile, TP_FACT_RUN_STARTUP_RATIO,
				       (double)ns[TP_RUN_PHASE_STARTUP] / run, origin, 1);
		else
			tp_profile_set_missing(profile, TP_FACT_RUN_STARTUP_RATIO,
					       profile->steps_reason);
	}
}

static void set_step_facts(struct tp_profile *profile, struct tp_estimate *mean)
{
	double *length_ns = tp_alloc((profile->n_steps + 1) * sizeof(*length_ns));
	size_t n = 0;
	for (size_t i = 0; i < profile->n_steps; i++)
		if (profile->steps[i].kind == TP_STEP_STEADY)
			length_ns[n++] =
				(double)(profile->steps[i].end_ns - profile->steps[i].start_ns);
	tp_step_facts_times(profile, length_ns, n, mean);
	free(length_ns);
}

/* ---- warnings ----------------------------------------------------------------------------- */

static bool is_python_program(const struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->n_frames; i++)
		if (trace->frames[i].kind == TP_FRAME_PYTHON)
			return true;
	return false;
}

static void warn_no_steps(struct tp_profile *profile)
{
	bool is_short = profile->run_phase_ns[TP_RUN_PHASE_STARTUP] > 0;
	char text[320];
	snprintf(text, sizeof(text), "steps were not resolved: %s", profile->steps_reason);
	tp_profile_warn(profile, "no-steps", text,
			is_short ? "shares are of the training loop, without per-step numbers"
				 : "shares are of the whole run, start and end included",
			is_python_program(profile->trace)
				? "call trainprof.step() of the Python module trainprof at the top "
				  "of the loop, or: trainprof run --rate=499 -- ..."
				: "call trainprof_step() of <trainprof/mark.h> once per step, or: "
				  "trainprof run --rate=499 -- ...");
}

static void warn_steady(struct steady *s, const struct tp_estimate *mean)
{
	struct tp_profile *profile = s->profile;
	char text[240];
	tp_step_window_warn(profile, &s->levels);
	if (mean->is_few) {
		snprintf(text, sizeof(text), "few steps: only %zu steady step%s", mean->n,
			 mean->n == 1 ? "" : "s");
		tp_profile_warn(profile, "few-steps", text,
				"ranges are the smallest and the largest step seen",
				"let it run longer");
	} else if (mean->is_drifting) {
		tp_profile_warn(profile, "drifting", "the step time drifts slowly",
				"its interval is a lower bound", NULL);
	}
}

enum tp_status tp_pass_steady(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct steady s = {.analysis = analysis, .profile = analysis->profile};
	tp_phase_time_build(&s.phases, analysis);
	tp_step_kind_assign(&s.levels, analysis, &s.phases);
	set_window(&s);
	sum_phases(&s);
	set_run_facts(&s);
	if (s.profile->n_steady) {
		struct tp_estimate mean;
		set_step_facts(s.profile, &mean);
		warn_steady(&s, &mean);
	} else {
		tp_step_facts_set_missing(s.profile);
		bool is_off = analysis->options && analysis->options->steps == TP_STEPS_OFF;
		if (!s.profile->n_steps && !is_off)
			warn_no_steps(s.profile);
	}
	tp_phase_time_release(&s.phases);
	return TP_OK;
}
