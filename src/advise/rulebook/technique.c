/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a technique from its JSON form. */
#include "technique.h"

#include <string.h>

static const char *const group_names[] = {"input",      "kernels",  "memory", "communication",
					  "iterations", "off-step", "cpu",    NULL};
static const char *const component_names[] = {"F.param", "F.arch", "D.train", "D.derived",
					      "O.obj",   "O.alg",  "impl",    NULL};
const char *const tp_verb_names[] = {"Remove", "Restrict", "Reorder", "Replace", "Retrofit", NULL};
static const char *const saving_names[] = {"iteration", "iterations", "both",
					   "capacity",  "other",      NULL};
const char *const tp_risk_names[] = {"none", "low", "medium", "high", NULL};
const char *const tp_effort_names[] = {"flag", "lines", "refactor", NULL};
const char *const tp_effort_words[] = {"a flag or a variable", "a few lines", "a refactoring",
				       NULL};
const char *const tp_framework_names[] = {"pytorch", "jax", "tensorflow", "c", NULL};

/* ---- the mechanism: when, for how long, on what ---- */

static const char *const timings[] = {"static", "scheduled", "adaptive", NULL};
static const char *const durations[] = {"before training", "a phase", "throughout training", NULL};
static const char *const selections[] = {"uniform", "random", "importance", NULL};

/* Consumes one of the words and the "; " after it. */
static bool skip_word(const char **text, const char *const *words, bool is_last)
{
	for (size_t i = 0; words[i]; i++) {
		size_t len = strlen(words[i]);
		if (strncmp(*text, words[i], len) != 0)
			continue;
		const char *rest = *text + len;
		if (is_last ? *rest != '\0' : strncmp(rest, "; ", 2) != 0)
			continue;
		*text = is_last ? rest : rest + 2;
		return true;
	}
	return false;
}

static const char *read_mechanism(struct tp_json_form *form, const struct tp_json *root)
{
	const char *text = tp_json_form_text(form, root, "mechanism", true);
	const char *rest = text;
	if (text && !(skip_word(&rest, timings, false) && skip_word(&rest, durations, false) &&
		      skip_word(&rest, selections, true)))
		tp_json_form_fail(
			form, tp_json_get(root, "mechanism"),
			"'mechanism' is timing; duration; selection, as in \"scheduled; a "
			"phase; random\"; '%s' is none of the words",
			rest);
	return text;
}

/* ---- members ---- */

static const char *text_of(struct tp_json_form *form, const struct tp_json *object, const char *key)
{
	return tp_json_form_short_text(form, object, key, true, TP_TECHNIQUE_TEXT);
}

static void read_effects(struct tp_json_form *form, struct tp_technique *out,
			 const struct tp_json *root)
{
	static const char *const keys[] = {"text", "hardware", "baseline", "source", NULL};
	const struct tp_json *list =
		tp_json_form_list(form, root, "effects", false, &out->n_effects);
	if (!list && !tp_json_get(root, "effects"))
		tp_json_form_fail(form, root, "'effects' is missing; [] where no figure was found");
	if (!list)
		return;
	out->effects = tp_arena_array(form->arena, out->n_effects, sizeof(*out->effects));
	size_t i = 0;
	TP_JSON_EACH (item, list) {
		tp_json_form_check_keys(form, item, "an effect", keys);
		out->effects[i++] = (struct tp_effect){
			.text = text_of(form, item, "text"),
			.hardware = text_of(form, item, "hardware"),
			.baseline = text_of(form, item, "baseline"),
			.tag = tp_json_form_text(form, item, "source", true),
			.line = tp_json_line(item),
		};
	}
}

static struct tp_guide_condition *
read_conditions(struct tp_json_form *form, const struct tp_json *root, const char *key, size_t *n)
{
	static const char *const keys[] = {"text", "when", NULL};
	const struct tp_json *list = tp_json_form_list(form, root, key, false, n);
	if (!list && !tp_json_get(root, key))
		tp_json_form_fail(form, root, "'%s' is missing; [] where there is nothing to say",
				  key);
	if (!list)
		return NULL;
	struct tp_guide_condition *clauses = tp_arena_array(form->arena, *n, sizeof(*clauses));
	size_t i = 0;
	TP_JSON_EACH (item, list) {
		struct tp_guide_condition *clause = &clauses[i++];
		tp_json_form_check_keys(form, item, key, keys);
		clause->text = text_of(form, item, "text");
		clause->when_written = tp_json_form_text(form, item, "when", false);
		if (clause->when_written)
			clause->when = tp_json_form_expr(form, tp_json_get(item, "when"),
							 TP_EXPR_CONDITION);
	}
	return clauses;
}

static void read_risk(struct tp_json_form *form, struct tp_technique *out,
		      const struct tp_json *root)
{
	static const char *const keys[] = {"level", "text", NULL};
	const struct tp_json *risk = tp_json_get(root, "risk");
	if (!risk) {
		tp_json_form_fail(form, root, "'risk' is missing");
		return;
	}
	tp_json_form_check_keys(form, risk, "risk", keys);
	out->risk = (enum tp_risk)tp_json_form_choice(form, risk, "level", tp_risk_names, -1);
	out->risk_text = text_of(form, risk, "text");
}

static void read_how(struct tp_json_form *form, struct tp_technique *out,
		     const struct tp_json *root)
{
	const struct tp_json *how = tp_json_get(root, "how");
	if (!how || !tp_json_count(how)) {
		tp_json_form_fail(form, how ? how : root,
				  "'how' says it for one framework at least");
		return;
	}
	tp_json_form_check_keys(form, how, "how", tp_framework_names);
	for (int i = 0; i < TP_N_FRAMEWORKS; i++)
		out->how[i] = tp_json_form_short_text(form, how, tp_framework_names[i], false,
						      TP_TECHNIQUE_TEXT);
}

static void read_names(struct tp_json_form *form, struct tp_technique *out,
		       const struct tp_json *root)
{
	const struct tp_json *relieves = tp_json_get(root, "relieves");
	const struct tp_json *together = tp_json_get(root, "together");
	if (!relieves) {
		tp_json_form_fail(form, root, "'relieves' is missing");
		return;
	}
	out->relieves_names = tp_json_form_names(form, root, "relieves", &out->n_relieves);
	out->relieves_line = tp_json_line(relieves);
	out->together_names = tp_json_form_names(form, root, "together", &out->n_together);
	out->together_line = together ? tp_json_line(together) : 0;
	const struct tp_json *against = tp_json_get(root, "against");
	out->against_name = tp_json_form_text(form, root, "against", false);
	out->against_line = against ? tp_json_line(against) : 0;
}

static void read_done(struct tp_json_form *form, struct tp_technique *out,
		      const struct tp_json *root)
{
	out->done.when_written = tp_json_form_text(form, root, "done_when", false);
	if (out->done.when_written)
		out->done.when =
			tp_json_form_expr(form, tp_json_get(root, "done_when"), TP_EXPR_CONDITION);
}

static void read_classes(struct tp_json_form *form, struct tp_technique *out,
			 const struct tp_json *root)
{
	static const char *const kinds[] = {"free", "semantic", NULL};
	out->group = (enum tp_group)tp_json_form_choice(form, root, "group", group_names, -1);
	out->component = (enum tp_component)tp_json_form_choice(form, root, "component",
								component_names, -1);
	out->verb = (enum tp_verb)tp_json_form_choice(form, root, "action", tp_verb_names, -1);
	out->mechanism = read_mechanism(form, root);
	out->saving = (enum tp_saving)tp_json_form_choice(form, root, "reduces", saving_names, -1);
	out->kind = (enum tp_advice_kind)tp_json_form_choice(form, root, "kind", kinds, -1);
	out->effort =
		(enum tp_effort)tp_json_form_choice(form, root, "effort", tp_effort_names, -1);
}

enum tp_status tp_technique_read(struct tp_technique *out, const struct tp_json_doc *doc,
				 const char *id, const struct tp_thresholds *thresholds,
				 struct tp_arena *arena, struct tp_error *err)
{
	static const char *const keys[] = {"id",        "title",    "group",     "relieves",
					   "component", "action",   "mechanism", "reduces",
					   "kind",      "effects",  "needs",     "not_when",
					   "done_when", "together", "against",   "risk",
					   "effort",    "how",      "verify",    NULL};
	struct tp_json_form form = {.doc = doc,
				    .thresholds = thresholds,
				    .arena = arena,
				    .err = err};
	const struct tp_json *root = tp_json_root(doc);
	struct tp_technique technique = {.path = tp_arena_strdup(arena, tp_json_name(doc))};

	tp_json_form_check_keys(&form, root, "a technique", keys);
	technique.id = tp_json_form_text(&form, root, "id", true);
	if (technique.id && strcmp(technique.id, id) != 0)
		tp_json_form_fail(&form, tp_json_get(root, "id"), "id is '%s' but its file is '%s'",
				  technique.id, id);
	technique.title = tp_json_form_short_text(&form, root, "title", true, TP_TECHNIQUE_TITLE);
	read_names(&form, &technique, root);
	read_classes(&form, &technique, root);
	read_effects(&form, &technique, root);
	technique.needs = read_conditions(&form, root, "needs", &technique.n_needs);
	technique.not_when = read_conditions(&form, root, "not_when", &technique.n_not_when);
	read_done(&form, &technique, root);
	read_risk(&form, &technique, root);
	read_how(&form, &technique, root);
	technique.verify = text_of(&form, root, "verify");
	if (!form.status)
		*out = technique;
	return form.status;
}
