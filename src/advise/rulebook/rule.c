/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a rule from its JSON form. */
#include "rule.h"

#include "advise/condition/json_form.h"
#include "rule_case.h"

#include "trainprof/model/fact.h"
#include "trainprof/model/verdict_words.h"

#include <string.h>

static void read_needs(struct tp_json_form *form, struct tp_rule *rule, const struct tp_json *root)
{
	const struct tp_json *list = tp_json_form_list(form, root, "needs", true, &rule->n_needs);
	if (!list)
		return;
	rule->needs = tp_arena_array(form->arena, rule->n_needs, sizeof(*rule->needs));
	size_t i = 0;
	TP_JSON_EACH (item, list)
		rule->needs[i++] = tp_json_form_fact(form, item, tp_json_string(item));
}

/* Each local may use the previous ones. It must not have the name of a threshold: that would hide
 * the threshold's source. */
static void read_locals(struct tp_json_form *form, struct tp_rule *rule, const struct tp_json *root)
{
	const struct tp_json *let = tp_json_get(root, "let");
	size_t n = tp_json_count(let);
	if (!let)
		return;
	if (tp_json_type(let) != TP_JSON_OBJECT || n > TP_JSON_FORM_MAX_ITEMS)
		tp_json_form_fail(form, let, "'let' is an object of up to %d figures",
				  TP_JSON_FORM_MAX_ITEMS);
	if (form->status)
		return;
	rule->locals = tp_arena_array(form->arena, n, sizeof(*rule->locals));
	form->locals = rule->locals;
	TP_JSON_EACH (member, let) {
		const char *name = tp_json_key(member);
		if (tp_thresholds_find(form->thresholds, name))
			tp_json_form_fail(form, member, "'%s' is a threshold already", name);
		struct tp_local *local = &rule->locals[rule->n_locals];
		local->expr = tp_json_form_expr(form, member, TP_EXPR_NUMBER);
		if (form->status)
			return;
		local->name = tp_arena_strdup(form->arena, name);
		local->written = tp_arena_strdup(form->arena, tp_json_string(member));
		form->n_locals = ++rule->n_locals;
	}
}

static void read_when(struct tp_json_form *form, struct tp_rule *rule, const struct tp_json *root)
{
	const struct tp_json *list = tp_json_form_list(form, root, "when", true, &rule->n_when);
	if (!list)
		return;
	rule->when = tp_arena_array(form->arena, rule->n_when, sizeof(*rule->when));
	size_t i = 0;
	TP_JSON_EACH (item, list) {
		rule->when[i].expr = tp_json_form_expr(form, item, TP_EXPR_CONDITION);
		rule->when[i++].written = tp_arena_strdup(form->arena, tp_json_string(item));
	}
}

static void read_unless(struct tp_json_form *form, struct tp_rule *rule, const struct tp_json *root)
{
	static const char *const keys[] = {"when", "because", NULL};
	const struct tp_json *list =
		tp_json_form_list(form, root, "unless", false, &rule->n_unless);
	if (!list)
		return;
	rule->unless = tp_arena_array(form->arena, rule->n_unless, sizeof(*rule->unless));
	size_t i = 0;
	TP_JSON_EACH (item, list) {
		struct tp_rule_condition *condition = &rule->unless[i++];
		tp_json_form_check_keys(form, item, "unless", keys);
		condition->written = tp_json_form_text(form, item, "when", true);
		condition->because = tp_json_form_text(form, item, "because", true);
		if (!form->status)
			condition->expr = tp_json_form_expr(form, tp_json_get(item, "when"),
							    TP_EXPR_CONDITION);
	}
}

static void read_level(struct tp_json_form *form, struct tp_rule *rule, const struct tp_json *root)
{
	static const char *const keys[] = {"high", "medium", NULL};
	const struct tp_json *level = tp_json_get(root, "level");
	if (!level)
		return;
	tp_json_form_check_keys(form, level, "level", keys);
	if (tp_json_get(level, "high"))
		rule->high = tp_json_form_expr(form, tp_json_get(level, "high"), TP_EXPR_CONDITION);
	if (tp_json_get(level, "medium"))
		rule->medium =
			tp_json_form_expr(form, tp_json_get(level, "medium"), TP_EXPR_CONDITION);
}

/* True if nothing follows the program's command in the example: the text before the command is the
 * only change. */
static bool is_whole_command(const char *example)
{
	const char *command = example ? strstr(example, TP_EXAMPLE_COMMAND) : NULL;
	return command && !command[strlen(TP_EXAMPLE_COMMAND)];
}

static void check_is_plain(struct tp_json_form *form, const struct tp_json *at,
			   const struct tp_expr *expr)
{
	const struct tp_dimension *dimension = expr ? tp_expr_dimension(expr) : NULL;
	if (dimension && (dimension->time || dimension->bytes))
		tp_json_form_fail(form, at, "a plain number is needed here, not %s",
				  tp_dimension_name(dimension));
}

/* Reads "apply": true, or the settings of a DataLoader. */
static void read_apply(struct tp_json_form *form, struct tp_rule_action *action,
		       const struct tp_json *item)
{
	static const char *const names[] = {"num_workers", "prefetch_factor", "pin_memory",
					    "persistent_workers", NULL};
	const struct tp_json *apply = tp_json_get(item, "apply");
	if (!apply || tp_json_type(apply) != TP_JSON_OBJECT) {
		action->can_apply = tp_json_form_bool(form, item, "apply");
		if (action->can_apply && !is_whole_command(action->example))
			tp_json_form_fail(
				form, item,
				"with 'apply' the example is a command that ends in %%COMMAND");
		return;
	}
	tp_json_form_check_keys(form, apply, "apply", names);
	action->settings =
		tp_arena_array(form->arena, tp_json_count(apply), sizeof(*action->settings));
	TP_JSON_EACH (value, apply) {
		struct tp_rule_setting *setting = &action->settings[action->n_settings++];
		setting->name = tp_arena_strdup(form->arena, tp_json_key(value));
		setting->value = tp_json_form_expr(form, value, TP_EXPR_NUMBER);
		check_is_plain(form, value, setting->value);
	}
}

static void read_actions(struct tp_json_form *form, struct tp_rule *rule,
			 const struct tp_json *root, bool is_required)
{
	static const char *const keys[] = {"headline",  "text", "example", "apply",
					   "technique", "id",   "when",    NULL};
	const struct tp_json *list =
		tp_json_form_list(form, root, "do", is_required, &rule->n_actions);
	if (!list)
		return;
	rule->actions = tp_arena_array(form->arena, rule->n_actions, sizeof(*rule->actions));
	size_t i = 0;
	TP_JSON_EACH (item, list) {
		struct tp_rule_action *action = &rule->actions[i++];
		tp_json_form_check_keys(form, item, "do", keys);
		action->headline = tp_json_form_sentence(form, item, "headline", true);
		action->text = tp_json_form_sentence(form, item, "text", true);
		action->example = tp_json_form_text(form, item, "example", false);
		read_apply(form, action, item);
		action->is_own = tp_json_get(item, "id") != NULL;
		action->line = tp_json_line(item);
		if (action->is_own && tp_json_get(item, "technique"))
			tp_json_form_fail(form, item,
					  "an action has 'technique' or 'id', not both");
		action->technique =
			tp_json_form_text(form, item, action->is_own ? "id" : "technique", true);
		action->when_written = tp_json_form_text(form, item, "when", false);
		if (action->when_written && !form->status)
			action->when = tp_json_form_expr(form, tp_json_get(item, "when"),
							 TP_EXPR_CONDITION);
	}
}

static void read_gain(struct tp_json_form *form, struct tp_rule *rule, const struct tp_json *root)
{
	static const char *const keys[] = {"part",     "label", "fraction", "of",
					   "at_least", "floor", "method",   NULL};
	const struct tp_json *gain = tp_json_get(root, "gain");
	if (!gain)
		return;
	tp_json_form_check_keys(form, gain, "gain", keys);
	const char *part = tp_json_form_text(form, gain, "part", false);
	const char *key = part ? "fraction" : "of";
	if (tp_json_get(gain, part ? "of" : "fraction"))
		tp_json_form_fail(form, gain, "a gain has 'part' and 'fraction', or 'of'");
	rule->gain.kind = part ? TP_GAIN_PART : TP_GAIN_LOOP;
	rule->gain.fraction_written = tp_json_form_text(form, gain, key, true);
	rule->gain.at_least_written = tp_json_form_text(form, gain, "at_least", false);
	rule->gain.method = tp_json_form_text(form, gain, "method", true);
	rule->gain.is_floor = tp_json_form_bool(form, gain, "floor");
	if (part) {
		rule->gain.part = tp_part_find(part);
		if (rule->gain.part == TP_N_PARTS)
			tp_json_form_fail(form, tp_json_get(gain, "part"), "no part '%s'", part);
	}
	rule->gain.label = TP_N_LABELS;
	const char *label = tp_json_form_text(form, gain, "label", false);
	if (label && part)
		rule->gain.label =
			tp_label_find(tp_arena_printf(form->arena, "%s.%s", part, label));
	if (label && rule->gain.label == TP_N_LABELS)
		tp_json_form_fail(form, tp_json_get(gain, "label"), "no label '%s' of this part",
				  label);
	if (form->status)
		return;
	rule->gain.fraction = tp_json_form_expr(form, tp_json_get(gain, key), TP_EXPR_NUMBER);
	check_is_plain(form, tp_json_get(gain, key), rule->gain.fraction);
	if (!rule->gain.at_least_written || form->status)
		return;
	rule->gain.at_least =
		tp_json_form_expr(form, tp_json_get(gain, "at_least"), TP_EXPR_NUMBER);
	check_is_plain(form, tp_json_get(gain, "at_least"), rule->gain.at_least);
}

static void read_sources(struct tp_json_form *form, struct tp_rule *rule,
			 const struct tp_json *root, bool is_required)
{
	static const char *const keys[] = {"title", "where", "checked", NULL};
	const struct tp_json *list =
		tp_json_form_list(form, root, "sources", is_required, &rule->n_sources);
	if (!list)
		return;
	rule->sources = tp_arena_array(form->arena, rule->n_sources, sizeof(*rule->sources));
	size_t i = 0;
	TP_JSON_EACH (item, list) {
		tp_json_form_check_keys(form, item, "a source", keys);
		rule->sources[i++] = (struct tp_citation){
			.title = tp_json_form_text(form, item, "title", true),
			.where = tp_json_form_text(form, item, "where", true),
			.checked = tp_json_form_text(form, item, "checked", true),
		};
	}
}

/* A cause has its words in one table; a rule without a cause has its own title. */
static void read_verdict_title(struct tp_json_form *form, struct tp_rule *rule,
			       const struct tp_json *verdict)
{
	const char *cause = tp_json_form_text(form, verdict, "cause", false);
	rule->verdict.title = tp_json_form_text(form, verdict, "title", !cause);
	if (!cause)
		return;
	const struct tp_verdict_words *words = tp_verdict_words_find(cause);
	if (!words)
		tp_json_form_fail(form, verdict, "there is no cause '%s'", cause);
	else if (rule->verdict.title)
		tp_json_form_fail(form, verdict, "'cause' already names the title");
	else if (rule->verdict.id && strcmp(words->id, rule->verdict.id) != 0)
		tp_json_form_fail(form, verdict, "the id of '%s' is '%s'", cause, words->id);
	else
		rule->verdict.title = words->title;
	rule->verdict.cause = cause;
}

static void read_verdict(struct tp_json_form *form, struct tp_rule *rule,
			 const struct tp_json *root)
{
	static const char *const keys[] = {"id", "order", "cause", "title", "sentence", NULL};
	const struct tp_json *verdict = tp_json_get(root, "verdict");
	uint64_t order = 0;
	if (!verdict)
		return;
	tp_json_form_check_keys(form, verdict, "verdict", keys);
	rule->verdict.id = tp_json_form_text(form, verdict, "id", true);
	read_verdict_title(form, rule, verdict);
	rule->verdict.sentence = tp_json_form_sentence(form, verdict, "sentence", true);
	if (!tp_json_uint(tp_json_get(verdict, "order"), &order) || order > 10000)
		tp_json_form_fail(form, verdict, "'order' is a whole number up to 10000");
	rule->verdict.order = (unsigned)order;
}

/* ---- checks of the whole rule ---- */

/* A sentence must never have a gap: the facts that it prints are in `needs`, or in the condition of
 * the action. */
static void check_facts(struct tp_json_form *form, const struct tp_json *at,
			const struct tp_rule *rule, const bool *used, const bool *also)
{
	for (tp_fact_id fact = 0; fact < tp_n_facts; fact++) {
		if (!used[fact])
			continue;
		bool is_needed = also && also[fact];
		for (size_t i = 0; i < rule->n_needs; i++)
			is_needed |= rule->needs[i] == fact;
		if (!is_needed)
			tp_json_form_fail(form, at, "'%s' is used but not in 'needs'",
					  tp_fact_desc(fact)->name);
	}
}

static void check_sentences(struct tp_json_form *form, const struct tp_json *root,
			    const struct tp_rule *rule)
{
	bool used[TP_MAX_FACTS] = {false};
	tp_sentence_facts(rule->because, used);
	tp_sentence_facts(rule->verify, used);
	tp_sentence_facts(rule->refute, used);
	tp_sentence_facts(rule->verdict.sentence, used);
	tp_expr_facts(rule->gain.fraction, false, used);
	tp_expr_facts(rule->gain.at_least, false, used);
	check_facts(form, root, rule, used, NULL);
	for (size_t i = 0; i < rule->n_actions; i++) {
		bool printed[TP_MAX_FACTS] = {false};
		bool asked[TP_MAX_FACTS] = {false};
		tp_sentence_facts(rule->actions[i].headline, printed);
		tp_sentence_facts(rule->actions[i].text, printed);
		for (size_t k = 0; k < rule->actions[i].n_settings; k++)
			tp_expr_facts(rule->actions[i].settings[k].value, false, printed);
		tp_expr_facts(rule->actions[i].when, true, asked);
		check_facts(form, root, rule, printed, asked);
	}
}

/* The matches of an idiom belong to one rule: other rules do not know them. */
static void check_idiom(struct tp_json_form *form, const struct tp_json *root,
			const struct tp_rule *rule)
{
	bool uses_own = false;
	for (size_t i = 0; i < rule->n_needs; i++) {
		bool is_own = rule->needs[i] >= TP_FACT_RULES_OWN_FIRST &&
			      rule->needs[i] <= TP_FACT_IDIOM_LAST;
		uses_own |= is_own;
		if (is_own && !rule->is_idiom)
			tp_json_form_fail(form, root, "'%s' is known to rules with 'match' only",
					  tp_fact_desc(rule->needs[i])->name);
	}
	if (rule->is_idiom && !uses_own)
		tp_json_form_fail(form, root, "a rule with 'match' needs idiom.held_ratio");
	if (rule->is_idiom && strncmp(rule->id, "idiom/", 6) != 0)
		tp_json_form_fail(form, root, "a rule with 'match' is in the folder idioms");
}

enum tp_status tp_rule_read(struct tp_rule *out, const struct tp_json_doc *doc, const char *id,
			    const struct tp_thresholds *thresholds, struct tp_arena *arena,
			    struct tp_error *err)
{
	static const char *const keys[] = {"id",         "title",   "kind",   "note",
					   "confidence", "limits",  "parent", "yields_to",
					   "needs",      "let",     "when",   "unless",
					   "level",      "because", "do",     "gain",
					   "price",      "verify",  "refute", "sources",
					   "verdict",    "cases",   "match",  "examples",
					   "specific",   NULL};
	static const char *const kinds[] = {"free", "semantic", NULL};
	static const char *const confidences[] = {"high", "medium", "low", NULL};
	struct tp_json_form form = {.doc = doc,
				    .thresholds = thresholds,
				    .arena = arena,
				    .err = err};
	const struct tp_json *root = tp_json_root(doc);
	struct tp_rule rule = {.path = tp_arena_strdup(arena, tp_json_name(doc))};
	bool is_verdict = tp_json_get(root, "verdict") != NULL;

	tp_json_form_check_keys(&form, root, "a rule", keys);
	rule.id = tp_json_form_text(&form, root, "id", true);
	if (rule.id && strcmp(rule.id, id) != 0)
		tp_json_form_fail(&form, tp_json_get(root, "id"),
				  "id is '%s' but its place says '%s'", rule.id, id);
	rule.title = tp_json_form_text(&form, root, "title", true);
	rule.is_note = tp_json_form_bool(&form, root, "note") || is_verdict;
	bool is_advice = !rule.is_note;
	rule.is_idiom = tp_json_get(root, "match") != NULL;
	rule.is_specific = tp_json_form_bool(&form, root, "specific") || rule.is_idiom;
	rule.kind = (enum tp_advice_kind)tp_json_form_choice(&form, root, "kind", kinds,
							     TP_ADVICE_FREE);
	rule.confidence = (enum tp_confidence)tp_json_form_choice(&form, root, "confidence",
								  confidences, TP_CONFIDENCE_HIGH);
	rule.limits = tp_json_form_names(&form, root, "limits", &rule.n_limits);
	rule.parent = tp_json_form_text(&form, root, "parent", false);
	rule.yields_to = tp_json_form_names(&form, root, "yields_to", &rule.n_yields_to);
	read_needs(&form, &rule, root);
	read_locals(&form, &rule, root);
	read_when(&form, &rule, root);
	read_unless(&form, &rule, root);
	read_level(&form, &rule, root);
	rule.because = tp_json_form_sentence(&form, root, "because", !is_verdict);
	read_actions(&form, &rule, root, is_advice);
	read_gain(&form, &rule, root);
	rule.price = tp_json_form_text(&form, root, "price", is_advice);
	rule.verify = tp_json_form_sentence(&form, root, "verify", is_advice);
	rule.refute = tp_json_form_sentence(&form, root, "refute", false);
	read_sources(&form, &rule, root, is_advice);
	read_verdict(&form, &rule, root);
	tp_rule_read_cases(&rule, &form, root);
	if (!form.status)
		check_sentences(&form, root, &rule);
	if (!form.status)
		check_idiom(&form, root, &rule);
	if (!form.status)
		*out = rule;
	return form.status;
}
