/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a profile into findings: judges every rule, ranks and combines them, and then selects the
 * verdict. */
#include "trainprof/advise/advise.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include "advise/judge/finding_order.h"
#include "advise/judge/judge.h"
#include "advise/judge/missing_facts.h"
#include "advise/judge/other_names.h"
#include "advise/plan/plan_build.h"
#include "advise/rulebook/book.h"

#include <string.h>

/* Judges the rules of one kind into `out`; returns their number. */
static size_t judge_all(const struct tp_rule_context *context, bool verdicts,
			struct tp_candidate *out)
{
	size_t n = 0;
	for (size_t i = 0; i < context->book->n_rules; i++) {
		const struct tp_rule *rule = &context->book->rules[i];
		if (verdicts != (rule->verdict.id != NULL))
			continue;
		out[n].rule = rule;
		out[n].finding = tp_judge_rule(context, rule, &out[n].gain);
		out[n].idiom = tp_judge_find_idiom(context, rule);
		n++;
	}
	return n;
}

static bool is_of_loop(const struct tp_candidate *candidate)
{
	const struct tp_gain *gain = &candidate->gain;
	return gain->is_known && gain->kind == TP_GAIN_LOOP && !gain->is_inside;
}

/* Suppresses and sorts; returns the number of shown pieces of advice. Beside advice that is of the
 * loop, such as fewer evaluations, gains of steps are stated of the loop too: two numbers on one
 * page have one meaning. Some may then be too small to be shown. */
static size_t order_advice(struct tp_rule_context *context, struct tp_candidate *candidates,
			   size_t n, struct tp_arena *arena)
{
	tp_finding_order_suppress(candidates, n, context->book, arena);
	size_t n_advice = tp_finding_order_sort(candidates, n);
	for (size_t i = 0; i < n_advice; i++)
		context->basis.is_of_loop |= is_of_loop(&candidates[i]);
	if (!context->basis.is_of_loop)
		return n_advice;
	for (size_t i = 0; i < n; i++) {
		struct tp_finding *finding = &candidates[i].finding;
		bool is_steps = candidates[i].gain.kind == TP_GAIN_PART;
		if (finding->has_gain && is_steps)
			tp_judge_state_gain(finding, context,
					    tp_gain_of_loop(&context->basis, &candidates[i].gain));
	}
	tp_finding_order_suppress(candidates, n, context->book, arena);
	return tp_finding_order_sort(candidates, n);
}

static void fill_combined(struct tp_findings *out, const struct tp_rule_context *context,
			  const struct tp_candidate *candidates, size_t n_advice)
{
	struct tp_gain *gains = tp_arena_array(&out->arena, n_advice, sizeof(*gains));
	for (size_t i = 0; i < n_advice; i++)
		gains[i] = candidates[i].gain;
	struct tp_next_limit then;
	double largest = tp_thresholds_value(&context->book->thresholds, "gain.largest", 100);
	struct tp_gain all = tp_gain_combine(&context->basis, gains, n_advice, largest, &then);
	out->has_combined = all.is_known;
	out->combined_low = all.low;
	out->combined_value = all.value;
	out->combined_high = all.high;
	if (!out->has_combined)
		return;
	out->then_limit = tp_next_limit_name(&then, context);
	out->then_steps_per_s = tp_next_limit_steps_per_s(&then, context);
}

/* Selects the rule that fires and has the lowest `order`. */
static void fill_verdict(struct tp_findings *out, const struct tp_rule_context *context,
			 struct tp_candidate *candidates, size_t n)
{
	const struct tp_rule *best = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct tp_rule *rule = candidates[i].rule;
		if (candidates[i].finding.state == TP_FINDING_FIRED &&
		    (!best || rule->verdict.order < best->verdict.order))
			best = rule;
	}
	if (!best)
		return;
	/* A run has one verdict: later ones that also hold become quiet. */
	for (size_t i = 0; i < n; i++) {
		struct tp_finding *finding = &candidates[i].finding;
		if (finding->state != TP_FINDING_FIRED || candidates[i].rule == best)
			continue;
		finding->state = TP_FINDING_QUIET;
		finding->quiet_because =
			tp_arena_printf(context->arena, "%s is the verdict", best->id);
	}
	out->verdict = tp_arena_strdup(context->arena, best->verdict.id);
	out->verdict_cause = tp_arena_strdup(context->arena, best->verdict.cause);
	out->verdict_title = tp_arena_strdup(context->arena, best->verdict.title);
	out->verdict_sentence = tp_sentence_fill(best->verdict.sentence, context->facts,
						 &context->terms, context->arena);
}

/* Returns the reason why no advice is given, whatever fired: the verdict leaves nothing to judge.
 * NULL = advice is given. */
static const char *reason_not_judged(const char *verdict, bool is_seen)
{
	static const struct {
		const char *verdict;
		const char *reason;
		bool is_of_watching; /* does not apply to facts that the user supplied */
	} silent[] = {
		{"too_short", "the run is too short to judge", true},
		{"own_overhead", "measuring cost too much: nothing is judged", false},
		{"records_lost", "too much of the recording is missing to judge it", false},
		{"capture_lacks", "the capture shows too little to judge", false},
		{"startup_only", "the capture shows the start and no steady training", false},
		{"blocked", "the program hangs: nothing of it was seen at work", false},
	};
	for (size_t i = 0; verdict && i < TP_ARRAY_LEN(silent); i++)
		if (strcmp(verdict, silent[i].verdict) == 0 &&
		    !(silent[i].is_of_watching && is_seen))
			return silent[i].reason;
	return NULL;
}

/* Keeps all advice off every page of the report. */
static size_t suppress_advice(struct tp_candidate *candidates, size_t n_advice, const char *reason)
{
	for (size_t i = 0; i < n_advice; i++)
		candidates[i].finding.suppressed = reason;
	return 0;
}

/* `facts` are those of `context`; the number of advices is added to them. `is_seen`: believe them,
 * however short the run was. */
static void advise(struct tp_findings *out, struct tp_rule_context *context, bool is_seen,
		   struct tp_quantity *facts)
{
	const struct tp_rulebook *book = context->book;
	struct tp_candidate *candidates =
		tp_arena_array(&out->arena, book->n_rules, sizeof(*candidates));

	size_t n = judge_all(context, false, candidates);
	out->n_fired = order_advice(context, candidates, n, &out->arena);

	/* Conditions of verdicts may use the number of remaining advices. */
	facts[TP_FACT_ADVICE_SHOWN] = (struct tp_quantity){.is_known = true,
							   .origin = TP_ORIGIN_DERIVED,
							   .value = (double)out->n_fired,
							   .coverage = 1};
	size_t n_verdicts = judge_all(context, true, candidates + n);
	fill_verdict(out, context, candidates + n, n_verdicts);
	const char *reason = reason_not_judged(out->verdict, is_seen);
	if (reason)
		out->n_fired = suppress_advice(candidates, out->n_fired, reason);
	fill_combined(out, context, candidates, out->n_fired);
	tp_action_plan_build(&out->action_plan, context, candidates, out->n_fired);
	n += n_verdicts;
	/* Verdicts are notes: sorting does not move the shown advice. */
	tp_finding_order_sort(candidates, n);

	out->items = tp_arena_array(&out->arena, n, sizeof(*out->items));
	out->n_items = n;
	for (size_t i = 0; i < n; i++) {
		out->items[i] = candidates[i].finding;
		out->n_not_judged += candidates[i].finding.state == TP_FINDING_NOT_JUDGED;
	}
}

static struct tp_sentence_words words_of_profile(const struct tp_rulebook *book,
						 const struct tp_profile *profile,
						 struct tp_arena *arena)
{
	return (struct tp_sentence_words){
		.whole = profile->is_of_steps ? book->whole_steps : book->whole_window,
		.others = tp_other_programs_names(profile, arena),
		.others_cpus = tp_other_programs_cpus(profile, arena),
	};
}

void tp_advise(struct tp_findings *out, const struct tp_rulebook *book,
	       const struct tp_profile *profile)
{
	struct tp_quantity facts[TP_MAX_FACTS];
	memcpy(facts, profile->facts, tp_n_facts * sizeof(facts[0]));
	*out = (struct tp_findings){0};
	struct tp_rule_context context = {
		.book = book,
		.facts = facts,
		.terms = words_of_profile(book, profile, &out->arena),
		.basis = tp_gain_input_of_profile(profile),
		.run = profile->trace ? &profile->trace->run : NULL,
		.profile = profile->has_idioms ? profile : NULL,
		.pids = tp_other_programs_pids(profile, &out->arena),
		.arena = &out->arena,
	};
	/* For devices every ns is known: few steps are enough. */
	advise(out, &context, profile->n_devices != 0, facts);
	tp_missing_facts_fill(out, book, facts);
}

/* Returns the place of a shown piece of advice; n_fired if the rule gives none. */
static size_t place_of_rule(const struct tp_findings *findings, const char *rule)
{
	for (size_t i = 0; i < findings->n_fired; i++)
		if (strcmp(findings->items[i].rule, rule) == 0)
			return i;
	return findings->n_fired;
}

bool tp_advise_combine(const struct tp_rulebook *book, const struct tp_profile *profile,
		       const struct tp_findings *findings, const bool *is_chosen, double *low,
		       double *value, double *high)
{
	struct tp_findings scratch = {0};
	struct tp_rule_context context = {
		.book = book,
		.facts = profile->facts,
		.terms.whole = profile->is_of_steps ? book->whole_steps : book->whole_window,
		.basis = tp_gain_input_of_profile(profile),
		.run = profile->trace ? &profile->trace->run : NULL,
		.arena = &scratch.arena,
	};
	struct tp_candidate *candidates =
		tp_arena_array(&scratch.arena, book->n_rules + 1, sizeof(*candidates));
	size_t n = judge_all(&context, false, candidates);
	size_t n_chosen = 0;
	for (size_t i = 0; i < n; i++) {
		size_t place = place_of_rule(findings, candidates[i].rule->id);
		if (place == findings->n_fired)
			continue;
		context.basis.is_of_loop |= is_of_loop(&candidates[i]);
		if (is_chosen[place])
			candidates[n_chosen++] = candidates[i];
	}
	fill_combined(&scratch, &context, candidates, n_chosen);
	*low = scratch.combined_low;
	*value = scratch.combined_value;
	*high = scratch.combined_high;
	bool is_known = scratch.has_combined;
	tp_findings_release(&scratch);
	return is_known;
}

void tp_advise_facts(struct tp_findings *out, const struct tp_rulebook *book,
		     const struct tp_quantity *given)
{
	struct tp_quantity facts[TP_MAX_FACTS];
	memcpy(facts, given, tp_n_facts * sizeof(facts[0]));
	*out = (struct tp_findings){0};
	struct tp_rule_context context = {
		.book = book,
		.facts = facts,
		.terms = {.whole = tp_rule_context_whole(book, facts),
			  .others = TP_OTHER_PROGRAMS_UNKNOWN},
		.basis = tp_gain_input_of_facts(facts),
		.arena = &out->arena,
	};
	advise(out, &context, true, facts);
	tp_missing_facts_fill(out, book, facts);
}
