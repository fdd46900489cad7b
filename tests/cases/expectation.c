/* SPDX-License-Identifier: Apache-2.0 */
/* Compares findings with the expectations of a file. */
#include "expectation.h"

#include "advise/rulebook/book.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = 3 };

/* Effects are given with two or three digits. */
static const double EFFECT_TOLERANCE = 0.01;

/* The smallest gain that is advised: rules/README.md, Gains. */
static const double LEAST_GAIN = 1.03;

void expectation_fail(struct judged *judged, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	printf("failed: %s: ", judged->name);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	judged->is_good = false;
}

/* ---- techniques ---- */

/* Returns the place of the technique among the shown advice; n_fired if it is not there. */
static size_t place_of(const struct judged *judged, const char *technique)
{
	const struct tp_findings *findings = judged->findings;
	for (size_t i = 0; i < findings->n_fired; i++)
		for (size_t k = 0; k < findings->items[i].n_actions; k++)
			if (strcmp(findings->items[i].actions[k].technique, technique) == 0)
				return i;
	return findings->n_fired;
}

static const char *list_advice(const struct judged *judged, struct tp_buf *out)
{
	for (size_t i = 0; i < judged->findings->n_fired; i++) {
		const struct tp_finding *finding = &judged->findings->items[i];
		tp_buf_printf(out, "%s%s (", i ? ", " : "", finding->rule);
		for (size_t k = 0; k < finding->n_actions; k++)
			tp_buf_printf(out, "%s%s", k ? " " : "", finding->actions[k].technique);
		tp_buf_puts(out, ")");
	}
	return out->len ? tp_buf_text(out) : "nothing";
}

static void check_advice(struct judged *judged)
{
	TP_JSON_EACH (item, tp_json_get(judged->expect, "advice")) {
		struct tp_buf list = {0};
		const char *technique = tp_json_string(item);
		if (place_of(judged, technique) >= FIRST ||
		    place_of(judged, technique) == judged->findings->n_fired)
			expectation_fail(judged, "'%s' is not among the first three: %s", technique,
					 list_advice(judged, &list));
		tp_buf_release(&list);
	}
	TP_JSON_EACH (item, tp_json_get(judged->expect, "absent")) {
		const char *technique = tp_json_string(item);
		if (place_of(judged, technique) < judged->findings->n_fired)
			expectation_fail(judged, "'%s' is advised, and does not help", technique);
	}
	TP_JSON_EACH (item, tp_json_get(judged->expect, "quiet_families")) {
		const char *family = tp_json_string(item);
		for (size_t i = 0; i < judged->findings->n_fired; i++)
			if (tp_text_starts_with(judged->findings->items[i].rule, family))
				expectation_fail(judged, "%s speaks",
						 judged->findings->items[i].rule);
	}
}

/* True if a note names the technique: worth knowing, without a promised speedup. */
static bool is_in_notes(const struct judged *judged, const char *technique)
{
	for (size_t i = 0; i < judged->findings->n_items; i++) {
		const struct tp_finding *finding = &judged->findings->items[i];
		if (finding->state != TP_FINDING_FIRED || finding->level != TP_LEVEL_NOTE)
			continue;
		for (size_t k = 0; k < finding->n_actions; k++)
			if (strcmp(finding->actions[k].technique, technique) == 0)
				return true;
	}
	return false;
}

static void check_notes(struct judged *judged)
{
	TP_JSON_EACH (item, tp_json_get(judged->expect, "notes"))
		if (!is_in_notes(judged, tp_json_string(item)))
			expectation_fail(judged, "'%s' is in no note", tp_json_string(item));
}

/* Advice that changes the training must name its price. */
static void check_prices(struct judged *judged)
{
	TP_JSON_EACH (item, tp_json_get(judged->expect, "price")) {
		size_t place = place_of(judged, tp_json_string(item));
		if (place == judged->findings->n_fired) {
			expectation_fail(judged, "'%s' is not advised, so no price",
					 tp_json_string(item));
			continue;
		}
		const struct tp_finding *finding = &judged->findings->items[place];
		if (finding->kind != TP_ADVICE_SEMANTIC || !finding->price ||
		    tp_text_starts_with(finding->price, "None"))
			expectation_fail(judged, "%s has no price", finding->rule);
	}
}

static void check_text(struct judged *judged, const struct tp_json *wanted, const char *got)
{
	const char *text = tp_json_string(wanted);
	if (wanted && (!text || !got || strcmp(text, got) != 0))
		expectation_fail(judged, "'%s', not '%s'", got ? got : "", text ? text : "");
}

static void check_verdict(struct judged *judged)
{
	const char *wanted = tp_json_string(tp_json_get(judged->expect, "verdict"));
	const char *got = judged->findings->verdict;
	if (wanted && (!got || strcmp(got, wanted) != 0))
		expectation_fail(judged, "the verdict is %s, not %s", got ? got : "none", wanted);
	check_text(judged, tp_json_get(judged->expect, "title"), judged->findings->verdict_title);
	check_text(judged, tp_json_get(judged->expect, "sentence"),
		   judged->findings->verdict_sentence);
}

/* The effect that the authors measured must lie within the promised range. */
static void check_effect(struct judged *judged)
{
	double effect = tp_json_number(tp_json_get(judged->expect, "speedup"), 0);
	const struct tp_findings *findings = judged->findings;
	if (effect <= 0)
		return;
	if (!findings->has_combined || effect > findings->combined_high * (1 + EFFECT_TOLERANCE) ||
	    effect < findings->combined_low * (1 - EFFECT_TOLERANCE))
		expectation_fail(judged, "measured %.2f, promised %.2f to %.2f", effect,
				 findings->combined_low, findings->combined_high);
}

static void check_silence(struct judged *judged)
{
	struct tp_buf list = {0};
	if (tp_json_bool(tp_json_get(judged->expect, "silent"), false) && judged->findings->n_fired)
		expectation_fail(judged, "it should be silent: %s", list_advice(judged, &list));
	tp_buf_release(&list);
}

/* ---- rules ---- */

/* Also fails for an unknown rule, since an expectation for it would otherwise never fail. */
static const struct tp_finding *finding_of(struct judged *judged, const char *rule)
{
	for (size_t i = 0; i < judged->findings->n_items; i++)
		if (rule && strcmp(judged->findings->items[i].rule, rule) == 0)
			return &judged->findings->items[i];
	expectation_fail(judged, "there is no rule '%s'", rule ? rule : "");
	return NULL;
}

static const char *first_of(const struct judged *judged)
{
	return judged->findings->n_fired ? judged->findings->items[0].rule : "nothing";
}

static bool is_shown(struct judged *judged, const struct tp_json *rule)
{
	const struct tp_finding *finding = finding_of(judged, tp_json_string(rule));
	return finding && finding < judged->findings->items + judged->findings->n_fired;
}

/* One of these rules must be the first advice. */
static void check_first(struct judged *judged)
{
	const struct tp_json *rules = tp_json_get(judged->expect, "first");
	bool is_one = !rules;
	TP_JSON_EACH (rule, rules) {
		const struct tp_finding *finding = finding_of(judged, tp_json_string(rule));
		is_one |= finding && strcmp(finding->rule, first_of(judged)) == 0;
	}
	if (!is_one)
		expectation_fail(judged, "%s speaks first", first_of(judged));
}

static void check_shown(struct judged *judged)
{
	TP_JSON_EACH (rule, tp_json_get(judged->expect, "shown"))
		if (!is_shown(judged, rule))
			expectation_fail(judged, "%s is not shown", tp_json_string(rule));
	TP_JSON_EACH (rule, tp_json_get(judged->expect, "hidden"))
		if (is_shown(judged, rule))
			expectation_fail(judged, "%s is shown", tp_json_string(rule));
	double least = tp_json_number(tp_json_get(judged->expect, "least_shown"), 0);
	if ((double)judged->findings->n_fired < least)
		expectation_fail(judged, "only %zu pieces of advice", judged->findings->n_fired);
}

static void check_states(struct judged *judged)
{
	TP_JSON_EACH (member, tp_json_get(judged->expect, "states")) {
		const struct tp_finding *finding = finding_of(judged, tp_json_key(member));
		check_text(judged, member, finding ? tp_finding_state_name(finding->state) : NULL);
	}
	TP_JSON_EACH (member, tp_json_get(judged->expect, "suppressed")) {
		const struct tp_finding *finding = finding_of(judged, tp_json_key(member));
		check_text(judged, member, finding ? finding->suppressed : NULL);
	}
}

/* Checks the confidence in the first advice and the reasons that lower it: null = no reason. */
static void check_trust(struct judged *judged)
{
	const struct tp_json *doubts = tp_json_get(judged->expect, "doubts");
	const struct tp_json *confidence = tp_json_get(judged->expect, "confidence");
	if (!doubts && !confidence)
		return;
	if (!judged->findings->n_fired) {
		expectation_fail(judged, "nothing is advised that could be trusted");
		return;
	}
	const struct tp_finding *first = &judged->findings->items[0];
	const char *wanted = tp_json_string(doubts);
	if (doubts && (wanted ? !first->doubts || !strstr(first->doubts, wanted) : !!first->doubts))
		expectation_fail(judged, "its doubts are '%s'",
				 first->doubts ? first->doubts : "none");
	check_text(judged, confidence, tp_confidence_name(first->confidence));
}

static void check_heights(struct judged *judged)
{
	if (!tp_json_bool(tp_json_get(judged->expect, "no_high"), false))
		return;
	for (size_t i = 0; i < judged->findings->n_fired; i++)
		if (judged->findings->items[i].level == TP_LEVEL_HIGH)
			expectation_fail(judged, "%s is said to be high",
					 judged->findings->items[i].rule);
}

static void check_most(struct judged *judged)
{
	double most = tp_json_number(tp_json_get(judged->expect, "most_speedup"), 0);
	if (most > 0 && judged->findings->combined_high > most + 1e-6)
		expectation_fail(judged, "%.2f is promised, %.2f can be",
				 judged->findings->combined_high, most);
}

void expectation_check(struct judged *judged)
{
	static const struct {
		const char *key;
		void (*check)(struct judged *judged); /* NULL = checked by an earlier row */
	} keys[] = {{"advice", check_advice},  {"absent", NULL},
		    {"quiet_families", NULL},  {"notes", check_notes},
		    {"price", check_prices},   {"verdict", check_verdict},
		    {"title", NULL},           {"sentence", NULL},
		    {"speedup", check_effect}, {"most_speedup", check_most},
		    {"silent", check_silence}, {"first", check_first},
		    {"shown", check_shown},    {"hidden", NULL},
		    {"least_shown", NULL},     {"states", check_states},
		    {"suppressed", NULL},      {"doubts", check_trust},
		    {"confidence", NULL},      {"no_high", check_heights}};
	size_t n_known = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(keys); i++) {
		n_known += tp_json_get(judged->expect, keys[i].key) != NULL;
		if (keys[i].check)
			keys[i].check(judged);
	}
	if (!n_known || n_known != tp_json_count(judged->expect))
		expectation_fail(judged, "'expect' is empty or has a key that is not read");
}

/* ---- promises ---- */

static bool is_advice(const struct tp_finding *finding)
{
	return finding->state == TP_FINDING_FIRED && finding->level != TP_LEVEL_NOTE &&
	       !finding->suppressed;
}

/* True if the rule has no gain by design: waits that another rule covers, headroom, and effects
 * that one run cannot show. */
static bool may_lack_gain(const struct tp_rulebook *book, const char *rule)
{
	const struct tp_rule *found = tp_rulebook_find(book, rule);
	return found && found->gain.kind == TP_GAIN_NONE;
}

static void check_words(struct judged *judged, const struct tp_finding *finding)
{
	if (!finding->because || !finding->verify || !finding->price || !finding->n_actions ||
	    !finding->n_sources)
		expectation_fail(judged, "%s lacks a sentence, an action or a source",
				 finding->rule);
	if (!finding->has_gain && !may_lack_gain(judged->book, finding->rule))
		expectation_fail(judged, "the gain of %s is not known", finding->rule);
	if (finding->has_gain && !(finding->gain_value >= LEAST_GAIN && finding->gain_low >= 1 &&
				   finding->gain_low <= finding->gain_value &&
				   finding->gain_value <= finding->gain_high))
		expectation_fail(judged, "%s gains %.3f, %.3f to %.3f", finding->rule,
				 finding->gain_value, finding->gain_low, finding->gain_high);
}

static void check_together(struct judged *judged, size_t n_gains)
{
	const struct tp_findings *findings = judged->findings;
	if (findings->has_combined != (n_gains > 0))
		expectation_fail(judged, "%zu gains, taken together: %s", n_gains,
				 findings->has_combined ? "some" : "none");
	if (n_gains && !(findings->combined_low <= findings->combined_value &&
			 findings->combined_value <= findings->combined_high))
		expectation_fail(judged, "together %.3f is not between %.3f and %.3f",
				 findings->combined_value, findings->combined_low,
				 findings->combined_high);
	/* At least five eighths of the step remain, so one of the six parts has more than a tenth
	 * of it. */
	if (n_gains && !findings->then_limit && findings->combined_high < 1.6)
		expectation_fail(judged, "it does not say what limits then");
	if (!findings->n_fired && findings->action_plan.n_steps)
		expectation_fail(judged, "nothing is advised, in %zu moves",
				 findings->action_plan.n_steps);
	if (!findings->verdict_title || !findings->verdict_sentence)
		expectation_fail(judged, "the verdict has no words");
}

void expectation_promises(struct judged *judged)
{
	size_t n_gains = 0;
	for (size_t i = 0; i < judged->findings->n_items; i++) {
		const struct tp_finding *finding = &judged->findings->items[i];
		bool is_among_first = i < judged->findings->n_fired;
		if (is_among_first != is_advice(finding))
			expectation_fail(judged, "%s is %s", finding->rule,
					 is_among_first ? "shown, and no advice" : "not shown");
		if (!is_among_first)
			continue;
		check_words(judged, finding);
		n_gains += finding->has_gain;
	}
	check_together(judged, n_gains);
}
