/* SPDX-License-Identifier: Apache-2.0 */
/* Reads facts written by hand and refuses facts that contradict each other. */
#include "trainprof/advise/fact_file.h"

#include "advise/condition/fact_value.h"
#include "layer_list.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"
#include "trainprof/model/part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shares are written as whole percents: rounding six of them adds up to at most three percent
 * points. */
static const double ROUNDING = 0.03;

/* The part of a label: memory for "step.memory_copy_ratio"; TP_N_PARTS for the parts themselves and
 * other facts. */
static enum tp_part part_of_label(tp_fact_id fact)
{
	const char *name = tp_fact_desc(fact)->name;
	for (int p = 0; p < TP_N_PARTS; p++) {
		char prefix[48];
		snprintf(prefix, sizeof(prefix), "step.%s_", tp_part_name((enum tp_part)p));
		if (fact != tp_part_facts[p] && tp_text_starts_with(name, prefix))
			return (enum tp_part)p;
	}
	return TP_N_PARTS;
}

/* The fact with the share of a label; TP_N_FACTS if there is none. */
static tp_fact_id fact_of_label(enum tp_label label)
{
	char name[64];
	snprintf(name, sizeof(name), "step.%s_%s_ratio", tp_part_name(tp_label_part(label)),
		 tp_label_name(label));
	return tp_fact_find(name);
}

/* Each instant has one label: the known labels of a part do not overlap. */
static double sum_of_labels(enum tp_part part, const struct tp_quantity *facts)
{
	double sum = 0;
	for (int i = 0; i < TP_N_LABELS; i++) {
		tp_fact_id fact = fact_of_label((enum tp_label)i);
		if (tp_label_part((enum tp_label)i) == part && fact != TP_N_FACTS)
			sum += facts[fact].is_known ? facts[fact].value : 0;
	}
	return sum;
}

/* ---- contradictions ---- */

static bool is_share(tp_fact_id fact)
{
	const struct tp_fact_desc *desc = tp_fact_desc(fact);
	bool is_of_step = tp_text_starts_with(desc->name, "step.") && fact != TP_FACT_STEP_CV;
	return strcmp(desc->unit, "ratio") == 0 && (is_of_step || tp_fact_is_user_supplied(fact));
}

static void check_value(struct tp_json_form *form, const struct tp_json *at, tp_fact_id fact,
			const struct tp_quantity *value)
{
	const char *name = tp_fact_desc(fact)->name;
	if (!value->is_known || form->status)
		return;
	if (!isfinite(value->value) || value->value < 0)
		tp_json_form_fail(form, at, "'%s' is negative or not a number", name);
	if (is_share(fact) && value->value > 1)
		tp_json_form_fail(form, at,
				  "'%s' is a share, at most 1: write \"%g%%\" for %g percent", name,
				  value->value, value->value);
	if (value->has_interval && !(value->low >= 0 && isfinite(value->high)))
		tp_json_form_fail(form, at, "the interval of '%s' is negative or not a number",
				  name);
	if (value->has_interval && is_share(fact) && value->high > 1)
		tp_json_form_fail(form, at, "the interval of '%s' ends above 1: it is a share",
				  name);
	if (value->has_interval && !(value->low <= value->value && value->value <= value->high))
		tp_json_form_fail(form, at, "'%s' lies outside its own interval", name);
	if (!(value->coverage >= 0 && value->coverage <= 1))
		tp_json_form_fail(form, at, "the coverage of '%s' is between 0 and 1", name);
}

static void check_parts(struct tp_json_form *form, const struct tp_json *at,
			const struct tp_quantity *facts)
{
	double sum = 0;
	for (int p = 0; p < TP_N_PARTS; p++)
		sum += facts[tp_part_facts[p]].is_known ? facts[tp_part_facts[p]].value : 0;
	if (sum > 1 + ROUNDING)
		tp_json_form_fail(
			form, at,
			"the six parts of a step add up to %.0f %%: each instant has one part",
			sum * 100);
}

static void check_labels(struct tp_json_form *form, const struct tp_json *at,
			 const struct tp_quantity *facts)
{
	TP_JSON_EACH (member, at) {
		tp_fact_id fact = tp_fact_find(tp_json_key(member));
		enum tp_part part = fact == TP_N_FACTS ? TP_N_PARTS : part_of_label(fact);
		if (part == TP_N_PARTS)
			continue;
		const struct tp_quantity *whole = &facts[tp_part_facts[part]];
		if (whole->is_known && facts[fact].is_known &&
		    facts[fact].value > whole->value + ROUNDING)
			tp_json_form_fail(form, member, "'%s' is more than its part, '%s'",
					  tp_fact_desc(fact)->name,
					  tp_fact_desc(tp_part_facts[part])->name);
	}
	for (int p = 0; p < TP_N_PARTS; p++) {
		double sum = sum_of_labels((enum tp_part)p, facts);
		const struct tp_quantity *whole = &facts[tp_part_facts[p]];
		if (whole->is_known && sum > whole->value + ROUNDING)
			tp_json_form_fail(
				form, at,
				"what '%s' consists of adds up to %.0f %%, more than it has",
				tp_fact_desc(tp_part_facts[p])->name, sum * 100);
	}
}

/* ---- derived facts ---- */

static void derive(struct tp_quantity *fact, double value)
{
	*fact = (struct tp_quantity){.is_known = true,
				     .origin = TP_ORIGIN_DERIVED,
				     .value = value,
				     .coverage = 1};
}

/* The six parts add up to 1: a single unknown part is the rest; if nothing is left, all unknown
 * parts are 0. */
static void derive_parts(struct tp_quantity *facts)
{
	double rest = 1;
	int n_unknown = 0;
	for (int p = 0; p < TP_N_PARTS; p++) {
		n_unknown += !facts[tp_part_facts[p]].is_known;
		rest -= facts[tp_part_facts[p]].is_known ? facts[tp_part_facts[p]].value : 0;
	}
	if (rest < 1e-9)
		rest = 0;
	if (!n_unknown || (n_unknown > 1 && rest > 0))
		return;
	for (int p = 0; p < TP_N_PARTS; p++)
		if (!facts[tp_part_facts[p]].is_known)
			derive(&facts[tp_part_facts[p]], rest);
}

/* If the known labels fill their part, its other labels are 0. */
static void derive_other_labels(struct tp_quantity *facts)
{
	bool is_full[TP_N_PARTS];
	for (int p = 0; p < TP_N_PARTS; p++) {
		const struct tp_quantity *whole = &facts[tp_part_facts[p]];
		is_full[p] = whole->is_known &&
			     sum_of_labels((enum tp_part)p, facts) >= whole->value - 1e-9;
	}
	for (int i = 0; i < TP_N_LABELS; i++) {
		tp_fact_id fact = fact_of_label((enum tp_label)i);
		if (fact != TP_N_FACTS && !facts[fact].is_known &&
		    is_full[tp_label_part((enum tp_label)i)])
			derive(&facts[fact], 0);
	}
}

/* Some facts are not labels but also lie within a part, such as the time in which the trainer
 * itself loads. */
static void derive_zeros(struct tp_quantity *facts)
{
	for (int f = 0; f < TP_N_FACTS; f++) {
		enum tp_part part = part_of_label((tp_fact_id)f);
		if (part == TP_N_PARTS || facts[f].is_known)
			continue;
		const struct tp_quantity *whole = &facts[tp_part_facts[part]];
		if (whole->is_known && whole->value <= 0)
			derive(&facts[f], 0);
	}
}

static bool is_any_known(const struct tp_quantity *facts, const char *prefix)
{
	for (int f = 0; f < TP_N_FACTS; f++)
		if (facts[f].is_known &&
		    tp_text_starts_with(tp_fact_desc((tp_fact_id)f)->name, prefix))
			return true;
	return false;
}

/* If a device does the computation, no fact about computing on CPUs is asked for, as in a trace of
 * the device. */
static void rule_out_cpu_math(struct tp_quantity *facts)
{
	static const char *const prefixes[] = {"compute.", "pmu.", "step.compute_team_wait"};
	if (!is_any_known(facts, "device.") && !is_any_known(facts, "kernel."))
		return;
	for (int f = 0; f < TP_N_FACTS; f++)
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
			if (!facts[f].is_known &&
			    tp_text_starts_with(tp_fact_desc((tp_fact_id)f)->name, prefixes[i]))
				facts[f] = (struct tp_quantity){.is_foreign = true,
								.missing = "a device computes"};
}

/* ---- the file ---- */

static void read_facts(struct tp_json_form *form, struct tp_fact_file *out,
		       const struct tp_json *facts)
{
	if (tp_json_type(facts) != TP_JSON_OBJECT)
		tp_json_form_fail(form, facts ? facts : tp_json_root(form->doc),
				  "'facts' is an object: {\"facts\": {\"step.dataloader_ratio\": "
				  "\"65%%\"}}");
	TP_JSON_EACH (member, facts) {
		if (form->status)
			return;
		tp_fact_id fact = tp_json_form_fact(form, member, tp_json_key(member));
		if (fact >= TP_FACT_RULES_OWN_FIRST)
			tp_json_form_fail(form, member, "'%s' is known to %s only",
					  tp_json_key(member),
					  fact == TP_FACT_ADVICE_SHOWN ? "verdicts" : "idioms");
		struct tp_quantity value = tp_fact_value_read(form, member, fact, "left null");
		value.origin = TP_ORIGIN_ESTIMATED;
		check_value(form, member, fact, &value);
		if (form->status)
			return;
		out->facts[fact] = value;
		out->n_given += value.is_known;
	}
	check_parts(form, facts, out->facts);
	check_labels(form, facts, out->facts);
}

enum tp_status tp_fact_file_read(struct tp_fact_file *out, const struct tp_json_doc *doc,
				 struct tp_error *err)
{
	static const char *const keys[] = {"schema", "name",    "note",   "source",
					   "facts",  "network", "expect", NULL};
	*out = (struct tp_fact_file){0};
	struct tp_json_form form = {.doc = doc, .arena = &out->arena, .err = err};
	const struct tp_json *root = tp_json_root(doc);
	for (int i = 0; i < TP_N_FACTS; i++)
		out->facts[i].missing = "not in the file";
	/* Checked first: for a file of another format, such as a report, errors about keys do not
	 * help. */
	const char *schema = tp_json_form_text(&form, root, "schema", false);
	if (schema && strcmp(schema, "trainprof-facts/1") != 0)
		tp_json_form_fail(&form, tp_json_get(root, "schema"),
				  "'%s' is another format than trainprof-facts/1", schema);
	tp_json_form_check_keys(&form, root, "a file of facts", keys);
	out->name = tp_json_form_text(&form, root, "name", false);
	if (!form.status)
		read_facts(&form, out, tp_json_get(root, "facts"));
	if (!form.status)
		tp_layer_list_read(&form, root, out->facts);
	if (form.status) {
		tp_fact_file_release(out);
		return form.status;
	}
	derive_parts(out->facts);
	derive_zeros(out->facts);
	derive_other_labels(out->facts);
	rule_out_cpu_math(out->facts);
	return TP_OK;
}

void tp_fact_file_release(struct tp_fact_file *file)
{
	tp_arena_release(&file->arena);
	*file = (struct tp_fact_file){0};
}
