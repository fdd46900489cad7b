/* SPDX-License-Identifier: Apache-2.0 */
/* Checks runs against a budget. An unknown value is undecided, and never passes. */
#include "cause.h"
#include "diff_warnings.h"

#include "trainprof/gate/budget.h"
#include "trainprof/gate/gate.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct checker {
	const struct tp_budget *budget;
	const struct tp_budget_runs *runs;
	struct tp_arena *arena;
	const char *spoilt; /* why nothing of these runs can be judged; NULL = they can be judged */
	const char *unlike; /* why they cannot be compared with the baseline; NULL = they can be
			       compared */
	bool has_more_special; /* special steps take more of the loop than in the baseline */
};

/* ---- values ------------------------------------------------------------------------------ */

/* Facts that change with the length of a step, so that the noise of times is theirs, too. */
static bool is_time(tp_fact_id fact)
{
	return strcmp(tp_fact_desc(fact)->unit, "ns") == 0 || tp_fact_is_throughput(fact);
}

/* Times of usual steps, which checkpoints and evaluations do not change. */
static bool is_of_steps(tp_fact_id fact)
{
	return is_time(fact) && (tp_fact_is_throughput(fact) ||
				 tp_text_starts_with(tp_fact_desc(fact)->name, "step."));
}

/* Returns why a fact is unknown in one of the runs; NULL if it is known in all. */
static const char *missing(const struct checker *c, const struct tp_run_values *const *runs,
			   size_t n, tp_fact_id fact)
{
	for (size_t i = 0; i < n; i++) {
		const struct tp_quantity *value = &runs[i]->facts[fact];
		if (!value->is_known)
			return tp_arena_printf(c->arena, "unknown in %s%s%s", runs[i]->name,
					       value->missing ? ": " : "",
					       value->missing ? value->missing : "");
	}
	return NULL;
}

static struct tp_run_value *values_of(const struct checker *c,
				      const struct tp_run_values *const *runs, size_t n,
				      tp_fact_id fact)
{
	struct tp_run_value *out = tp_arena_array(c->arena, n, sizeof(*out));
	for (size_t i = 0; i < n; i++)
		out[i] = tp_run_value_of(&runs[i]->facts[fact]);
	return out;
}

/* Estimates the mean of the runs with its interval. The interval of a single run comes from its
 * steps and, for times, from the assumed noise between runs. */
static struct tp_gate_estimate level_of(const struct checker *c, tp_fact_id fact)
{
	size_t n = c->runs->n_now;
	const struct tp_run_value *v = values_of(c, c->runs->now, n, fact);
	const struct tp_run_value zero = {0, 0};
	struct tp_gate_estimate out;
	if (n > 1) {
		struct tp_run_value *zeros = tp_arena_array(c->arena, n, sizeof(*zeros));
		/* Differences to zero have the variance of one run, not of two. */
		const struct tp_gate_design paired = {
			.is_paired = true,
			.confidence = TP_GATE_CONFIDENCE,
			.spread_min = is_time(fact) ? TP_GATE_SPREAD_MIN * v->value / sqrt(2) : 0};
		tp_gate_estimate_make(&out, zeros, n, v, n, &paired);
		return out;
	}
	/* The assumed noise applies to one run here: the other side is exact. */
	const struct tp_gate_design alone = {.confidence = TP_GATE_CONFIDENCE,
					     .noise = is_time(fact) ? TP_GATE_ASSUMED_NOISE *
									      v->value / sqrt(2)
								    : 0};
	tp_gate_estimate_make(&out, &zero, 1, v, 1, &alone);
	return out;
}

static const char *value_text(const struct checker *c, tp_fact_id fact, double value)
{
	const char *unit = tp_fact_desc(fact)->unit;
	if (strcmp(unit, "ns") == 0 && fabs(value) >= 10e9)
		return tp_arena_printf(c->arena, "%.4g s", value / 1e9);
	if (strcmp(unit, "ns") == 0 && value != 0 && fabs(value) < 1e3)
		return tp_arena_printf(c->arena, "%.4g ns", value);
	if (strcmp(unit, "ns") == 0)
		return tp_arena_printf(c->arena, "%.4g ms", value / 1e6);
	if (strcmp(unit, "ratio") == 0)
		return tp_arena_printf(c->arena, "%.3g %%", 100 * value);
	if (strcmp(unit, "bytes") == 0)
		return tp_arena_printf(c->arena, "%.4g MiB", value / 1048576);
	return tp_arena_printf(c->arena, "%.6g", value);
}

static const char *level_text(const struct checker *c, tp_fact_id fact,
			      const struct tp_gate_estimate *e)
{
	if (e->high <= e->low)
		return value_text(c, fact, e->value);
	return tp_arena_printf(c->arena, "%s (%s to %s)", value_text(c, fact, e->value),
			       value_text(c, fact, e->low), value_text(c, fact, e->high));
}

/* ---- one limit --------------------------------------------------------------------------- */

static void merge_result(struct tp_assertion_result *out, enum tp_gate_answer answer,
			 const char *limit, const char *because)
{
	if (answer == TP_GATE_PASS && out->limit)
		return;
	if (out->limit && out->answer == TP_GATE_FAIL)
		return;
	if (out->limit && answer == TP_GATE_PASS)
		return;
	out->answer = answer;
	out->limit = limit;
	out->because = because;
}

/* A value inside the limit passes; outside it fails if the whole interval is outside. */
static void check_bound(const struct checker *c, struct tp_assertion_result *out,
			const struct tp_gate_estimate *e, bool is_max)
{
	const struct tp_assertion *a = out->assertion;
	double bound = is_max ? a->max : a->min;
	bool is_inside = is_max ? e->value <= bound : e->value >= bound;
	bool is_outside = is_max ? e->low > bound : e->high < bound;
	const char *limit = tp_arena_printf(c->arena, "at %s %s", is_max ? "most" : "least",
					    value_text(c, a->fact, bound));
	merge_result(out,
		     is_inside    ? TP_GATE_PASS
		     : is_outside ? TP_GATE_FAIL
				  : TP_GATE_UNDECIDED,
		     limit,
		     is_inside || is_outside ? NULL
					     : "outside the limit, but not by more than chance");
}

static void check_equal(const struct checker *c, struct tp_assertion_result *out)
{
	tp_fact_id fact = out->assertion->fact;
	double is = c->runs->base[0]->facts[fact].value;
	bool varies = false;
	bool differs = false;
	for (size_t i = 0; i < c->runs->n_base; i++)
		varies = varies || c->runs->base[i]->facts[fact].value != is;
	for (size_t i = 0; i < c->runs->n_now; i++)
		differs = differs || c->runs->now[i]->facts[fact].value != is;
	const char *limit =
		tp_arena_printf(c->arena, "equal to the baseline: %s", value_text(c, fact, is));
	merge_result(out,
		     varies    ? TP_GATE_UNDECIDED
		     : differs ? TP_GATE_FAIL
			       : TP_GATE_PASS,
		     limit, varies ? "it differs within the baseline" : NULL);
}

/* The answer for facts of which less is worse: below 1 - margin, and not by chance. */
static enum tp_gate_answer less_verdict(const struct tp_gate_estimate *ratio, double margin)
{
	if (ratio->high < 1 && ratio->value < 1 - margin)
		return TP_GATE_FAIL;
	return ratio->low > 1 - margin ? TP_GATE_PASS : TP_GATE_UNDECIDED;
}

static void check_ratio(const struct checker *c, struct tp_assertion_result *out)
{
	const struct tp_assertion *a = out->assertion;
	const struct tp_run_value *base = values_of(c, c->runs->base, c->runs->n_base, a->fact);
	const struct tp_run_value *now = values_of(c, c->runs->now, c->runs->n_now, a->fact);
	bool is_less = tp_fact_is_throughput(a->fact);
	const struct tp_gate_design design = {.is_paired = c->runs->is_paired,
					      .confidence = TP_GATE_CONFIDENCE,
					      .noise = TP_GATE_ASSUMED_NOISE,
					      .spread_min = is_less || is_time(a->fact)
								    ? TP_GATE_SPREAD_MIN
								    : 0,
					      .is_now_first = c->runs->is_now_first};
	struct tp_gate_estimate ratio;
	const char *limit = tp_arena_printf(c->arena, "no more than %.3g %% %s the baseline",
					    100 * a->max_worse_ratio, is_less ? "below" : "above");
	for (size_t i = 0; i < c->runs->n_base + c->runs->n_now; i++)
		if (!((i < c->runs->n_base ? base[i] : now[i - c->runs->n_base]).value > 0)) {
			merge_result(out, TP_GATE_UNDECIDED, limit,
				     "a ratio to nothing is unknown");
			return;
		}
	tp_gate_ratio_make(&ratio, base, c->runs->n_base, now, c->runs->n_now, &design);
	enum tp_gate_answer answer = is_less ? less_verdict(&ratio, a->max_worse_ratio)
					     : tp_gate_verdict(&ratio, a->max_worse_ratio);
	if (answer == TP_GATE_PASS && c->has_more_special && is_of_steps(a->fact)) {
		merge_result(out, TP_GATE_UNDECIDED, limit, TP_GATE_SPECIAL_DIFFER);
		return;
	}
	merge_result(out, answer, limit,
		     answer == TP_GATE_PASS
			     ? NULL
			     : tp_arena_printf(c->arena,
					       "%+.1f %% (%+.1f to %+.1f), %zu run%s against %zu",
					       100 * (ratio.value - 1), 100 * (ratio.low - 1),
					       100 * (ratio.high - 1), c->runs->n_base,
					       c->runs->n_base == 1 ? "" : "s", c->runs->n_now));
}

/* ---- one assertion ----------------------------------------------------------------------- */

static void set_unknown(struct tp_assertion_result *out, const char *because)
{
	out->answer = TP_GATE_UNDECIDED;
	out->because = because;
}

static bool needs_baseline(const struct tp_assertion *a)
{
	return !a->is_off && (a->has_worse || a->equals_baseline);
}

static void check_metric(const struct checker *c, struct tp_assertion_result *out)
{
	const struct tp_assertion *a = out->assertion;
	const char *why = missing(c, c->runs->now, c->runs->n_now, a->fact);
	if (!why && needs_baseline(a))
		why = missing(c, c->runs->base, c->runs->n_base, a->fact);
	if (why) {
		set_unknown(out, why);
		return;
	}
	struct tp_gate_estimate level = level_of(c, a->fact);
	out->is_measured = true;
	out->is = level_text(c, a->fact, &level);
	if (a->has_max)
		check_bound(c, out, &level, true);
	if (a->has_min)
		check_bound(c, out, &level, false);
	if (needs_baseline(a) && c->unlike)
		merge_result(out, TP_GATE_UNDECIDED, "against the baseline", c->unlike);
	else if (a->has_worse)
		check_ratio(c, out);
	else if (a->equals_baseline)
		check_equal(c, out);
}

static int rank_of(const char *confidence)
{
	static const char *const names[] = {"low", "medium", "high"};
	for (int i = 0; i < 3 && confidence; i++)
		if (strcmp(names[i], confidence) == 0)
			return i;
	return 0;
}

struct counts {
	size_t n_fired;
	size_t n_not_judged;
	size_t n_matching;
	const char *first; /* sentence of a rule that fired; one that is quiet in the base first */
};

static bool is_advice_of_base(const struct checker *c, const char *rule)
{
	for (size_t k = 0; k < c->runs->n_base && rule; k++) {
		const struct tp_run_values *run = c->runs->base[k];
		for (size_t i = 0; i < run->n_findings; i++)
			if (run->findings[i].is_advice && strcmp(run->findings[i].rule, rule) == 0)
				return true;
	}
	return false;
}

static struct counts count_findings(const struct checker *c, const struct tp_run_values *run,
				    const struct tp_assertion *a)
{
	struct counts out = {0};
	bool is_new = false;
	for (size_t i = 0; i < run->n_findings; i++) {
		const struct tp_value_finding *f = &run->findings[i];
		if (!tp_text_glob(a->pattern, f->rule))
			continue;
		out.n_matching++;
		out.n_not_judged += f->state == TP_FINDING_NOT_JUDGED;
		if (!f->is_advice || rank_of(f->confidence) < rank_of(a->min_confidence))
			continue;
		out.n_fired++;
		bool is_known = is_advice_of_base(c, f->rule);
		if (out.first && (is_new || is_known))
			continue;
		is_new = !is_known;
		out.first = f->because ? f->because : f->title;
	}
	return out;
}

static bool has_job(const struct checker *c)
{
	for (size_t i = 0; i < c->runs->n_now; i++)
		if (c->runs->now[i]->is_job)
			return true;
	return false;
}

/* The run with the most findings decides. A rule that could not be judged might have fired. */
static void check_findings(const struct checker *c, struct tp_assertion_result *out)
{
	const struct tp_assertion *a = out->assertion;
	struct counts most = {0};
	for (size_t i = 0; i < c->runs->n_now; i++) {
		struct counts n = count_findings(c, c->runs->now[i], a);
		if (n.n_fired > most.n_fired)
			most.first = n.first;
		most.n_fired = n.n_fired > most.n_fired ? n.n_fired : most.n_fired;
		most.n_matching = n.n_matching > most.n_matching ? n.n_matching : most.n_matching;
		most.n_not_judged =
			n.n_not_judged > most.n_not_judged ? n.n_not_judged : most.n_not_judged;
	}
	out->is_measured = most.n_not_judged < most.n_matching;
	out->is = tp_arena_printf(c->arena, "%zu", most.n_fired);
	out->limit = tp_arena_printf(c->arena, "at most %g", a->max_count);
	if ((double)most.n_fired > a->max_count) {
		out->answer = TP_GATE_FAIL;
		out->because = most.first;
	} else if (has_job(c)) {
		out->is_measured = false;
		set_unknown(out, "the report of a job has only the advice for its late rank");
	} else if (most.n_not_judged && (double)(most.n_fired + most.n_not_judged) > a->max_count) {
		set_unknown(out, tp_arena_printf(c->arena, "%zu of %zu rules could not be judged",
						 most.n_not_judged, most.n_matching));
	}
}

static const char *too_few(const struct checker *c, const struct tp_assertion *a)
{
	if ((double)c->runs->n_now < c->budget->min_runs)
		return tp_arena_printf(c->arena, "%zu runs, the budget wants %g", c->runs->n_now,
				       c->budget->min_runs);
	if (a->pattern || !tp_text_starts_with(a->name, "step."))
		return NULL;
	for (size_t i = 0; i < c->runs->n_now; i++)
		if ((double)c->runs->now[i]->n_steps < c->budget->min_steps)
			return tp_arena_printf(c->arena, "%s has %lu steps, the budget wants %g",
					       c->runs->now[i]->name,
					       (unsigned long)c->runs->now[i]->n_steps,
					       c->budget->min_steps);
	return NULL;
}

static void check_one(const struct checker *c, struct tp_assertion_result *out)
{
	if (out->assertion->pattern)
		check_findings(c, out);
	else
		check_metric(c, out);
	const char *why = c->spoilt ? c->spoilt : too_few(c, out->assertion);
	if (why)
		set_unknown(out, why);
}

/* ---- all assertions ---------------------------------------------------------------------- */

static const char *find_failed(const struct checker *c)
{
	for (size_t i = 0; i < c->runs->n_now; i++) {
		const struct tp_run_values *run = c->runs->now[i];
		if (tp_run_has_failed(run))
			return tp_arena_printf(c->arena, "the program of %s did not end well",
					       run->name);
		if (run->is_job && run->is_partial)
			return tp_arena_printf(c->arena,
					       "%s: ranks are missing, or were not closed",
					       run->name);
	}
	return NULL;
}

/* Compares both sides, for the causes of what failed; NULL if there is no other side. */
static const struct tp_run_diff *compare(const struct checker *c)
{
	if (!c->runs->n_base)
		return NULL;
	bool is_paired = c->runs->is_paired;
	struct tp_diff_request request = {.base = c->runs->base,
					  .n_base = c->runs->n_base,
					  .now = c->runs->now,
					  .n_now = c->runs->n_now,
					  .is_paired = is_paired,
					  .is_now_first = c->runs->is_now_first,
					  .has_gate = true};
	for (int aspect = 0; aspect < TP_N_LIKENESSES; aspect++)
		request.is_ignored[aspect] = is_paired || c->runs->is_ignored[aspect];
	struct tp_run_diff *diff = tp_arena_alloc(c->arena, sizeof(*diff));
	tp_run_diff_make(diff, &request, c->arena);
	return diff;
}

/* Names the likely causes and the next command where a limit is exceeded. */
static void explain(const struct checker *c, const struct tp_run_diff *diff,
		    struct tp_budget_result *out)
{
	const struct tp_run_values *now = c->runs->now[0];
	struct tp_buf next = {0};
	if (!out->n_failed && !out->n_warned)
		return;
	if (diff && diff->is_comparable) {
		out->n_causes = tp_cause_list(out->causes, diff, c->arena);
		tp_buf_puts(&next, "trainprof diff ");
		tp_text_add_argument(&next, c->budget->baseline && !c->runs->is_paired
						    ? c->budget->baseline
						    : c->runs->base[0]->name);
		tp_buf_putc(&next, ' ');
	} else {
		out->n_causes = tp_cause_of_run(out->causes, now, c->arena);
		tp_buf_puts(&next, "trainprof report ");
	}
	tp_text_add_argument(&next, now->name);
	out->next = tp_arena_strdup(c->arena, tp_buf_text(&next));
	tp_buf_release(&next);
}

static enum tp_status check_request(const struct checker *c, struct tp_error *err)
{
	for (size_t i = 0; i < c->budget->n_assertions; i++) {
		const struct tp_assertion *a = &c->budget->assertions[i];
		if (needs_baseline(a) && !c->runs->n_base)
			return tp_fail(err, TP_USAGE,
				       "%s is held against a baseline, and there is none", a->name);
		if (a->pattern && !a->is_off && !has_job(c) &&
		    !count_findings(c, c->runs->now[0], a).n_matching)
			return tp_fail(err, TP_USAGE, "%s:%u: no rule is called %.80s",
				       c->budget->path, a->line, a->pattern);
	}
	return TP_OK;
}

static void count(struct tp_budget_result *out, const struct tp_assertion_result *item)
{
	bool is_error = item->assertion->is_error;
	out->n_failed += is_error && item->answer == TP_GATE_FAIL;
	out->n_warned += !is_error && item->answer == TP_GATE_FAIL;
	out->n_undecided += is_error && item->answer == TP_GATE_UNDECIDED;
	out->n_not_measured += is_error && item->answer == TP_GATE_UNDECIDED && !item->is_measured;
}

enum tp_status tp_budget_check(struct tp_budget_result *out, const struct tp_budget *budget,
			       const struct tp_budget_runs *runs, struct tp_arena *arena,
			       struct tp_error *err)
{
	struct checker c = {.budget = budget, .runs = runs, .arena = arena};
	struct tp_assertion_result *items =
		tp_arena_array(arena, budget->n_assertions + 1, sizeof(*items));
	*out = (struct tp_budget_result){.budget = budget, .items = items, .n_runs = runs->n_now};
	enum tp_status status = check_request(&c, err);
	if (status != TP_OK)
		return status;
	c.spoilt = find_failed(&c);
	const struct tp_run_diff *diff = compare(&c);
	c.unlike = diff && !diff->is_comparable ? diff->undecided_because : NULL;
	c.has_more_special = diff && diff->special_ratio > 1;
	for (size_t i = 0; i < budget->n_assertions; i++) {
		if (budget->assertions[i].is_off)
			continue;
		struct tp_assertion_result *item = &items[out->n_items++];
		item->assertion = &budget->assertions[i];
		check_one(&c, item);
		count(out, item);
	}
	explain(&c, diff, out);
	return TP_OK;
}
