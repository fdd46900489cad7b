/* SPDX-License-Identifier: Apache-2.0 */
/* Judges one rule. */
#include "judge.h"

#include "example.h"
#include "missing_facts.h"
#include "references.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <string.h>

enum { MAX_EVIDENCE = 32 };

/* ---- does it fire ---- */

struct ruling {
	enum tp_finding_state state;
	bool is_certain;
	const char *not_judged_because;
	const char *quiet_because;
};

static const char *unknown_fact(const struct tp_rule_context *context, const bool *used)
{
	for (int i = 0; i < TP_N_FACTS; i++) {
		const struct tp_quantity *fact = &context->facts[i];
		if (!used[i] || fact->is_known)
			continue;
		return tp_arena_printf(context->arena, "%s is not known: %s",
				       tp_fact_desc((tp_fact_id)i)->name,
				       fact->missing ? fact->missing : "not measured");
	}
	return NULL;
}

static const char *reason_not_evaluated(const struct tp_rule_context *context, const bool *used)
{
	const char *reason = unknown_fact(context, used);
	return reason ? reason : "its condition divides by zero";
}

/* Returns the reason if the rule needs facts that no recording of this kind has; NULL if it does
 * not. Facts that no kind of recording has are the better reason. */
static const char *reason_other_kind(const struct tp_rule_context *context, const bool *used)
{
	const char *why = NULL;
	for (int i = 0; i < TP_N_FACTS; i++) {
		if (!used[i] || !context->facts[i].is_foreign)
			continue;
		if (tp_fact_is_user_supplied((tp_fact_id)i))
			return tp_arena_printf(context->arena,
					       "only a file of facts has %s (trainprof advise)",
					       tp_fact_desc((tp_fact_id)i)->name);
		why = "it is about another kind of recording";
	}
	return why;
}

static bool needs_are_known(const struct tp_rule_context *context, const struct tp_rule *rule)
{
	for (size_t i = 0; i < rule->n_needs; i++)
		if (!context->facts[rule->needs[i]].is_known)
			return false;
	return true;
}

/* Judges the condition alone, without the parent. */
static struct ruling ruling_of_rule(const struct tp_rule_context *context,
				    const struct tp_rule *rule)
{
	struct ruling ruling = {.state = TP_FINDING_FIRED, .is_certain = true};
	bool is_unknown = !needs_are_known(context, rule);
	for (size_t i = 0; i < rule->n_when; i++) {
		struct tp_truth truth = tp_expr_truth(rule->when[i].expr, context->facts);
		is_unknown |= truth.value == TP_UNKNOWN;
		ruling.is_certain &= truth.is_certain;
		if (truth.value == TP_NO) {
			ruling.state = TP_FINDING_QUIET;
			return ruling;
		}
	}
	for (size_t i = 0; i < rule->n_unless; i++) {
		struct tp_truth truth = tp_expr_truth(rule->unless[i].expr, context->facts);
		is_unknown |= truth.value == TP_UNKNOWN;
		ruling.is_certain &= truth.is_certain;
		if (truth.value == TP_YES) {
			ruling.state = TP_FINDING_QUIET;
			ruling.quiet_because =
				tp_arena_strdup(context->arena, rule->unless[i].because);
			return ruling;
		}
	}
	if (!is_unknown)
		return ruling;
	bool used[TP_MAX_FACTS] = {false};
	tp_rule_mark_facts(rule, used);
	ruling.state = TP_FINDING_NOT_JUDGED;
	ruling.quiet_because = reason_other_kind(context, used);
	if (ruling.quiet_because)
		ruling.state = TP_FINDING_QUIET;
	else
		ruling.not_judged_because = reason_not_evaluated(context, used);
	return ruling;
}

/* Judges the parent, too. */
static struct ruling evaluate_state(const struct tp_rule_context *context,
				    const struct tp_rule *rule)
{
	struct ruling ruling = ruling_of_rule(context, rule);
	const struct tp_rule *parent =
		rule->parent ? tp_rulebook_find(context->book, rule->parent) : NULL;
	if (!parent || ruling.state == TP_FINDING_QUIET)
		return ruling;
	/* Links have no cycles (rule_link.c), so this ends. */
	struct ruling above = evaluate_state(context, parent);
	if (above.state == TP_FINDING_QUIET)
		return (struct ruling){.state = TP_FINDING_QUIET,
				       .is_certain = above.is_certain,
				       .quiet_because =
					       tp_arena_printf(context->arena, "%s does not hold",
							       parent->id)};
	if (above.state == TP_FINDING_NOT_JUDGED)
		return above;
	ruling.is_certain &= above.is_certain;
	return ruling;
}

/* ---- evidence ---- */

static size_t collect_evidence(const struct tp_rule_context *context, const struct tp_rule *rule,
			       struct tp_evidence *out)
{
	size_t n = 0;
	for (size_t i = 0; i < rule->n_when; i++)
		n += tp_expr_evidence(rule->when[i].expr, context->facts, false, out + n,
				      MAX_EVIDENCE - n);
	for (size_t i = 0; i < rule->n_unless; i++)
		n += tp_expr_evidence(rule->unless[i].expr, context->facts, true, out + n,
				      MAX_EVIDENCE - n);
	return n;
}

static void fill_evidence(const struct tp_rule_context *context, const struct tp_rule *rule,
			  struct tp_finding *finding)
{
	struct tp_evidence evidence[MAX_EVIDENCE];
	size_t n = collect_evidence(context, rule, evidence);
	for (size_t i = 0; i < n; i++) {
		struct tp_quantity *value = &evidence[i].value;
		value->missing = tp_arena_strdup(context->arena, value->missing);
		value->seen = tp_arena_strdup(context->arena, value->seen);
	}
	if (n)
		finding->evidence = tp_arena_copy(context->arena, evidence, n * sizeof(*evidence));
	finding->n_evidence = n;
}

/* ---- confidence ---- */

static double min_covered(const struct tp_finding *finding)
{
	double least = 1;
	for (size_t i = 0; i < finding->n_evidence; i++) {
		const struct tp_quantity *value = &finding->evidence[i].value;
		if (value->is_known && value->coverage < least)
			least = value->coverage;
	}
	return least;
}

static void add_issue(struct tp_buf *doubts, struct tp_finding *finding, const char *because)
{
	if (doubts->len)
		tp_buf_puts(doubts, "; ");
	tp_buf_puts(doubts, because);
	if (finding->confidence < TP_CONFIDENCE_LOW)
		finding->confidence++;
}

static void fill_confidence(const struct tp_rule_context *context, const struct tp_rule *rule,
			    bool is_certain, struct tp_finding *finding)
{
	const struct tp_rulebook *book = context->book;
	struct tp_buf doubts = {0};
	finding->confidence = rule->confidence;
	if (!is_certain)
		add_issue(&doubts, finding, "the interval of a value includes its limit");
	double coverage = min_covered(finding);
	if (coverage < tp_thresholds_value(&book->thresholds, "confidence.coverage", 0))
		add_issue(&doubts, finding,
			  tp_arena_printf(context->arena,
					  "only %.0f %% of the values were recorded",
					  coverage * 100));
	for (size_t i = 0; i < book->n_doubts; i++)
		if (tp_expr_truth(book->doubts[i].when, context->facts).value == TP_YES)
			add_issue(&doubts, finding, book->doubts[i].because);
	if (doubts.len)
		finding->doubts = tp_arena_strdup(context->arena, tp_buf_text(&doubts));
	tp_buf_release(&doubts);
}

static enum tp_finding_level level_of(const struct tp_rule_context *context,
				      const struct tp_rule *rule)
{
	if (rule->is_note)
		return TP_LEVEL_NOTE;
	if (rule->high && tp_expr_truth(rule->high, context->facts).value == TP_YES)
		return TP_LEVEL_HIGH;
	if (rule->medium && tp_expr_truth(rule->medium, context->facts).value == TP_YES)
		return TP_LEVEL_MEDIUM;
	return TP_LEVEL_LOW;
}

/* ---- advice ---- */

static bool is_done(const struct tp_rule_context *context, const struct tp_rule_action *action,
		    struct tp_buf *done)
{
	const char *seen;
	if (action->is_own || !tp_references_is_applied(context, action->technique, &seen))
		return false;
	tp_buf_printf(done, "%s%s%s%s%s", done->len ? "; " : "", action->technique,
		      seen ? " (" : "", seen ? seen : "", seen ? ")" : "");
	return true;
}

/* "num_workers=2,persistent_workers=1"; NULL if there are no settings, or a value is not known. */
static const char *settings_of(const struct tp_rule_context *context,
			       const struct tp_rule_action *action)
{
	struct tp_buf out = {0};
	for (size_t i = 0; i < action->n_settings; i++) {
		const struct tp_rule_setting *setting = &action->settings[i];
		struct tp_number value = tp_expr_number(setting->value, context->facts);
		if (!value.is_known) {
			tp_buf_clear(&out);
			break;
		}
		tp_buf_printf(&out, "%s%s=%.0f", i ? "," : "", setting->name, fmax(0, value.value));
	}
	const char *text = out.len ? tp_arena_strdup(context->arena, tp_buf_text(&out)) : NULL;
	tp_buf_release(&out);
	return text;
}

/* Adds only actions that are known to be open: an action whose condition cannot be judged may be
 * done already. Actions that are applied already according to the guide are left out, too, and
 * listed. */
static void fill_actions(const struct tp_rule_context *context, const struct tp_rule *rule,
			 struct tp_finding *finding)
{
	struct tp_action *actions =
		tp_arena_array(context->arena, rule->n_actions, sizeof(*actions));
	struct tp_buf done = {0};
	size_t n = 0;
	for (size_t i = 0; i < rule->n_actions; i++) {
		const struct tp_rule_action *from = &rule->actions[i];
		if (from->when && tp_expr_truth(from->when, context->facts).value != TP_YES)
			continue;
		if (is_done(context, from, &done))
			continue;
		const char *headline = tp_sentence_fill(from->headline, context->facts,
							&context->terms, context->arena);
		const char *text = tp_sentence_fill(from->text, context->facts, &context->terms,
						    context->arena);
		if (!headline || !text)
			continue;
		if (!finding->headline)
			finding->headline = headline;
		actions[n++] = (struct tp_action){
			.headline = headline,
			.text = text,
			.example = tp_example_of(context, from),
			.prefix = tp_example_prefix(context, from),
			.loader = settings_of(context, from),
			.technique = tp_arena_strdup(context->arena, from->technique),
			.literature = tp_references_find(context, from->technique),
		};
	}
	finding->actions = actions;
	finding->n_actions = n;
	if (done.len)
		finding->done = tp_arena_strdup(context->arena, tp_buf_text(&done));
	tp_buf_release(&done);
}

static void fill_sources(const struct tp_rule_context *context, const struct tp_rule *rule,
			 struct tp_finding *finding)
{
	struct tp_citation *sources =
		tp_arena_array(context->arena, rule->n_sources, sizeof(*sources));
	for (size_t i = 0; i < rule->n_sources; i++)
		sources[i] = (struct tp_citation){
			.title = tp_arena_strdup(context->arena, rule->sources[i].title),
			.where = tp_arena_strdup(context->arena, rule->sources[i].where),
			.checked = tp_arena_strdup(context->arena, rule->sources[i].checked)};
	finding->sources = sources;
	finding->n_sources = rule->n_sources;
}

static double largest_gain(const struct tp_rule_context *context)
{
	return tp_thresholds_value(&context->book->thresholds, "gain.largest", 100);
}

void tp_judge_state_gain(struct tp_finding *finding, const struct tp_rule_context *context,
			 struct tp_gain gain)
{
	finding->has_gain = gain.is_known;
	finding->gain_low = gain.low;
	finding->gain_value = gain.is_floor ? gain.low : gain.value;
	finding->gain_high = gain.is_floor ? largest_gain(context) : gain.high;
	finding->is_gain_of_loop = context->basis.is_of_loop || gain.kind == TP_GAIN_LOOP;
}

static void fill_fired(const struct tp_rule_context *context, const struct tp_rule *rule,
		       struct tp_finding *finding, struct tp_gain *gain)
{
	const struct tp_quantity *facts = context->facts;
	const struct tp_sentence *because = rule->because ? rule->because : rule->verdict.sentence;
	finding->because = tp_sentence_fill(because, facts, &context->terms, context->arena);
	/* A division by zero is possible although all facts are known. */
	if (!finding->because)
		finding->because = finding->title;
	finding->verify = tp_sentence_fill(rule->verify, facts, &context->terms, context->arena);
	finding->refute = tp_sentence_fill(rule->refute, facts, &context->terms, context->arena);
	finding->price = tp_arena_strdup(context->arena, rule->price);
	fill_actions(context, rule, finding);
	if (!finding->headline)
		finding->headline = finding->title;
	*gain = tp_gain_estimate(&context->basis, &rule->gain, facts, largest_gain(context));
	gain->is_inside = gain->kind == TP_GAIN_LOOP && rule->is_idiom;
	tp_judge_state_gain(finding, context, *gain);
	if (gain->is_known)
		finding->gain_method = tp_arena_strdup(context->arena, rule->gain.method);
}

/* True if the time that the advice removes is larger than the error with which parts are
 * distinguished. Spans of a trace are labelled and have no such error. */
static bool is_separated(const struct tp_rule_context *context, const struct tp_gain *gain)
{
	const struct tp_thresholds *thresholds = &context->book->thresholds;
	const struct tp_quantity *spans = &context->facts[TP_FACT_TRACE_SPANS];
	const struct tp_quantity *queued = &context->facts[TP_FACT_STEP_RUNNABLE];
	if (!gain->is_known || gain->kind == TP_GAIN_LOOP || (spans->is_known && spans->value > 0))
		return true;
	bool is_crowded =
		queued->is_known && queued->value > tp_thresholds_value(thresholds, "part.high", 1);
	double error = tp_thresholds_value(thresholds,
					   is_crowded ? "confidence.separation_crowded"
						      : "confidence.separation",
					   0);
	double removed_ns = gain->most * context->basis.parts[gain->part].exposed_ns;
	return removed_ns > 2 * error * context->basis.whole_ns;
}

/* An upper bound alone does not prove a gain, so it is never sure. */
static enum tp_sureness sureness_of(const struct tp_rule_context *context,
				    const struct tp_finding *finding, const struct tp_gain *gain)
{
	bool is_estimate = gain->is_known && tp_gain_is_estimate(gain->low);
	int sureness = finding->confidence == TP_CONFIDENCE_LOW                   ? TP_WORTH_A_TRY
		       : finding->confidence == TP_CONFIDENCE_HIGH && is_estimate ? TP_SURE
										  : TP_LIKELY;
	if (sureness < TP_WORTH_A_TRY && !is_separated(context, gain))
		sureness++;
	return (enum tp_sureness)sureness;
}

const char *tp_rule_context_whole(const struct tp_rulebook *book, const struct tp_quantity *facts)
{
	const struct tp_quantity *steps = &facts[TP_FACT_STEP_COUNT];
	return !steps->is_known || steps->value > 0 ? book->whole_steps : book->whole_window;
}

/* ---- idioms ---- */

const struct tp_idiom_result *tp_judge_find_idiom(const struct tp_rule_context *context,
						  const struct tp_rule *rule)
{
	const struct tp_profile *profile = context->profile;
	for (size_t i = 0; profile && rule->is_idiom && i < profile->n_idioms; i++)
		if (strcmp(profile->idioms[i].id, rule->id) == 0)
			return &profile->idioms[i];
	return NULL;
}

static double share_of_idiom(const struct tp_idiom_result *idiom, uint64_t part_ns)
{
	uint64_t all_ns = idiom->main_ns + idiom->loading_ns;
	for (int part = 0; part < TP_N_PARTS; part++)
		all_ns += idiom->tasks_ns[part];
	return all_ns ? (double)part_ns / (double)all_ns : 0;
}

/* The facts that only this rule has. If stacks were searched, no match means zero time. */
static void fill_own_facts(struct tp_quantity *facts, const struct tp_rule_context *context,
			   const struct tp_idiom_result *idiom)
{
	static const struct tp_idiom_result nothing;
	const struct tp_idiom_result *seen = idiom ? idiom : &nothing;
	const struct {
		tp_fact_id fact;
		double value;
	} values[] = {
		{TP_FACT_IDIOM_HELD, seen->held_ratio},
		{TP_FACT_IDIOM_TIME, seen->time_ratio},
		{TP_FACT_IDIOM_LOADING, seen->loading_ratio},
		{TP_FACT_IDIOM_LATE, share_of_idiom(seen, seen->late_ns)},
		{TP_FACT_IDIOM_SHARED, share_of_idiom(seen, seen->shared_ns)},
		{TP_FACT_IDIOM_SAMPLES, (double)seen->n_samples},
	};
	memcpy(facts, context->facts, tp_n_facts * sizeof(*facts));
	for (size_t i = 0; i < TP_ARRAY_LEN(values); i++)
		facts[values[i].fact] = (struct tp_quantity){.is_known = true,
							     .origin = TP_ORIGIN_SAMPLED,
							     .value = values[i].value,
							     .coverage = 1};
}

static void fill_place(const struct tp_rule_context *context, const struct tp_idiom_result *idiom,
		       struct tp_finding *finding)
{
	const struct tp_trace *trace = context->profile->trace;
	if (!idiom->file || !trace)
		return;
	const char *file = tp_trace_string(trace, idiom->file);
	const char *function = tp_trace_string(trace, idiom->symbol);
	const char *last = strrchr(function, '.');
	bool has_body = function[0] && function[0] != '<';
	finding->place_file = tp_arena_strdup(context->arena, file);
	finding->place_line = idiom->line;
	finding->place =
		tp_arena_printf(context->arena, "%s:%u%s%s%s", tp_text_base_name(file), idiom->line,
				has_body ? " in " : "",
				has_body ? (last ? last + 1 : function) : "", has_body ? "()" : "");
	if (!finding->because)
		return;
	size_t len = strlen(finding->because);
	len -= len && finding->because[len - 1] == '.';
	double shared = tp_thresholds_value(&context->book->thresholds, "idiom.shared", 1);
	bool is_shared = share_of_idiom(idiom, idiom->shared_ns) > shared;
	finding->because =
		tp_arena_printf(context->arena, "%.*s%s: %s:%u.", (int)len, finding->because,
				is_shared ? ", with the other calls of the line" : "",
				tp_text_base_name(file), idiom->line);
}

static struct tp_finding judge_rule(const struct tp_rule_context *context,
				    const struct tp_rule *rule, struct tp_gain *gain)
{
	struct ruling ruling = evaluate_state(context, rule);
	struct tp_finding finding = {
		.rule = tp_arena_strdup(context->arena, rule->id),
		.path = tp_arena_strdup(context->arena, rule->path),
		.title = tp_arena_strdup(context->arena, rule->title),
		.state = ruling.state,
		.not_judged_because = ruling.not_judged_because,
		.quiet_because = ruling.quiet_because,
		.kind = rule->kind,
	};
	*gain = (struct tp_gain){0};
	finding.level = level_of(context, rule);
	fill_evidence(context, rule, &finding);
	fill_confidence(context, rule, ruling.is_certain, &finding);
	fill_sources(context, rule, &finding);
	if (ruling.state == TP_FINDING_FIRED)
		fill_fired(context, rule, &finding, gain);
	finding.sureness = sureness_of(context, &finding, gain);
	return finding;
}

struct tp_finding tp_judge_rule(const struct tp_rule_context *context, const struct tp_rule *rule,
				struct tp_gain *gain)
{
	struct tp_rule_context own = *context;
	struct tp_quantity facts[TP_MAX_FACTS];
	const struct tp_idiom_result *idiom = tp_judge_find_idiom(context, rule);
	if (context->profile && rule->is_idiom) {
		fill_own_facts(facts, context, idiom);
		own.facts = facts;
	}
	struct tp_finding finding = judge_rule(&own, rule, gain);
	finding.is_cause = rule->is_specific;
	if (idiom && finding.state == TP_FINDING_FIRED)
		fill_place(&own, idiom, &finding);
	return finding;
}
