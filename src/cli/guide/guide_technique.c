/* SPDX-License-Identifier: Apache-2.0 */
/* Builds pages of the guide about techniques. */
#include "guide.h"

#include <stdio.h>
#include <string.h>

static const char *const group_titles[TP_N_GROUPS] = {"Input",
						      "Precision, kernels, framework",
						      "Memory",
						      "Communication",
						      "Fewer iterations",
						      "Outside the steps and single cases",
						      "CPU host and CPU training"};

static const char *const component_words[TP_N_COMPONENTS] = {
	"the model's parameters",
	"the model's architecture",
	"the training data",
	"data derived in training, as activations and gradients",
	"the objective",
	"the training algorithm",
	"the implementation, which the taxonomy does not cover"};

static const char *const saving_words[TP_N_SAVINGS] = {
	"time of an iteration", "number of iterations",
	"time of an iteration and number of iterations",
	"memory; an iteration may take longer. It pays by what fits then",
	"something outside the iterations"};

static const char *const framework_words[TP_N_FRAMEWORKS] = {"PyTorch", "JAX", "TF", "C, MPI"};

static void add_classes(struct tp_guide_document *sheet, const struct tp_technique *technique)
{
	bool is_analogy = technique->component == TP_COMPONENT_IMPL;
	tp_guide_document_field_printf(sheet, "what", "%s%s: %s", tp_verb_names[technique->verb],
				       is_analogy ? " (by analogy)" : "",
				       component_words[technique->component]);
	tp_guide_document_field(sheet, "when, how", technique->mechanism);
	tp_guide_document_field(sheet, "reduces", saving_words[technique->saving]);
	tp_guide_document_field(
		sheet, "kind",
		technique->kind == TP_ADVICE_FREE
			? "free: the same training, faster"
			: "semantic: it changes what is computed or learnt; its price is a "
			  "check of the model's quality");
}

static void add_effects(struct tp_guide_document *sheet, const struct tp_technique *technique)
{
	if (!technique->n_effects)
		tp_guide_document_field(sheet, "others", "no published figure was found");
	for (size_t i = 0; i < technique->n_effects; i++) {
		const struct tp_effect *effect = &technique->effects[i];
		size_t len = strlen(effect->text);
		bool ends = len && effect->text[len - 1] == '.';
		tp_guide_document_field_printf(
			sheet, "others", "%s%s Hardware: %s. Against: %s. %s, %s (checked %s)",
			effect->text, ends ? "" : ".", effect->hardware, effect->baseline,
			effect->source->title, effect->source->where, effect->source->checked);
	}
}

static void add_conditions(struct tp_guide_document *sheet, const char *label,
			   const struct tp_guide_condition *clauses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct tp_guide_condition *clause = &clauses[i];
		if (clause->when_written)
			tp_guide_document_field_printf(sheet, label, "%s (%s)", clause->text,
						       clause->when_written);
		else
			tp_guide_document_field(sheet, label, clause->text);
	}
}

static void add_rules(struct tp_guide_document *sheet, const struct tp_rulebook *book,
		      const struct tp_technique *technique)
{
	for (size_t i = 0; i < tp_rulebook_count(book); i++) {
		struct tp_rule_digest rule = tp_rulebook_digest(book, i);
		char link[128];
		if (!tp_rulebook_advises(book, i, technique->id))
			continue;
		tp_guide_document_rule_link(link, sizeof(link), rule.id);
		tp_guide_document_item(sheet, "rules", rule.id, link, rule.title);
	}
}

void tp_guide_fill_technique(struct tp_guide_document *sheet, const struct tp_rulebook *book,
			     const struct tp_technique *technique)
{
	for (size_t i = 0; i < technique->n_relieves; i++)
		tp_guide_document_item(sheet, "relieves", technique->relieves[i]->id, NULL,
				       technique->relieves[i]->title);
	add_classes(sheet, technique);
	add_effects(sheet, technique);
	add_conditions(sheet, "needs", technique->needs, technique->n_needs);
	add_conditions(sheet, "not when", technique->not_when, technique->n_not_when);
	tp_guide_document_field(sheet, "done when", technique->done.when_written);
	for (size_t i = 0; i < technique->n_together; i++)
		tp_guide_document_item(sheet, "with", technique->together[i]->id, NULL,
				       technique->together[i]->title);
	if (technique->against)
		tp_guide_document_item(sheet, "against", technique->against->id, NULL,
				       technique->against->title);
	tp_guide_document_field_printf(sheet, "risk", "%s: %s", tp_risk_names[technique->risk],
				       technique->risk_text);
	tp_guide_document_field(sheet, "effort", tp_effort_words[technique->effort]);
	for (int i = 0; i < TP_N_FRAMEWORKS; i++)
		tp_guide_document_field(sheet, framework_words[i], technique->how[i]);
	tp_guide_document_field(sheet, "verify", technique->verify);
	add_rules(sheet, book, technique);
}

void tp_guide_fill_techniques(struct tp_guide_document *sheet, const struct tp_rulebook *book)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	if (!catalogue->n_techniques)
		tp_guide_document_paragraphs(sheet, "No folder of rules holds techniques.");
	for (int group = 0; group < TP_N_GROUPS; group++) {
		bool is_first = true;
		for (size_t i = 0; i < catalogue->n_techniques; i++) {
			const struct tp_technique *technique = &catalogue->techniques[i];
			if ((int)technique->group != group)
				continue;
			if (is_first)
				tp_guide_document_heading(sheet, group_titles[group]);
			is_first = false;
			bool is_free = technique->kind == TP_ADVICE_FREE;
			tp_guide_document_item(sheet, NULL, technique->id, NULL,
					       tp_arena_printf(&sheet->arena, "%s%s",
							       technique->title,
							       is_free ? "" : " *"));
		}
	}
}
