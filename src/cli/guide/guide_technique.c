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

static void add_classes(struct tp_guide_document *document, const struct tp_technique *technique)
{
	bool is_analogy = technique->component == TP_COMPONENT_IMPL;
	tp_guide_document_field_printf(document, "what", "%s%s: %s", tp_verb_names[technique->verb],
				       is_analogy ? " (by analogy)" : "",
				       component_words[technique->component]);
	tp_guide_document_field(document, "when, how", technique->mechanism);
	tp_guide_document_field(document, "reduces", saving_words[technique->saving]);
	tp_guide_document_field(
		document, "kind",
		technique->kind == TP_ADVICE_FREE
			? "free: the same training, faster"
			: "semantic: it changes what is computed or learnt; its price is a "
			  "check of the model's quality");
}

static void add_effects(struct tp_guide_document *document, const struct tp_technique *technique)
{
	if (!technique->n_effects)
		tp_guide_document_field(document, "others", "no published figure was found");
	for (size_t i = 0; i < technique->n_effects; i++) {
		const struct tp_effect *effect = &technique->effects[i];
		size_t len = strlen(effect->text);
		bool ends = len && effect->text[len - 1] == '.';
		tp_guide_document_field_printf(
			document, "others", "%s%s Hardware: %s. Against: %s. %s, %s (checked %s)",
			effect->text, ends ? "" : ".", effect->hardware, effect->baseline,
			effect->source->title, effect->source->where, effect->source->checked);
	}
}

static void add_conditions(struct tp_guide_document *document, const char *label,
			   const struct tp_guide_condition *clauses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct tp_guide_condition *clause = &clauses[i];
		if (clause->when_written)
			tp_guide_document_field_printf(document, label, "%s (%s)", clause->text,
						       clause->when_written);
		else
			tp_guide_document_field(document, label, clause->text);
	}
}

static void add_rules(struct tp_guide_document *document, const struct tp_rulebook *book,
		      const struct tp_technique *technique)
{
	for (size_t i = 0; i < tp_rulebook_count(book); i++) {
		struct tp_rule_digest rule = tp_rulebook_digest(book, i);
		char link[128];
		if (!tp_rulebook_advises(book, i, technique->id))
			continue;
		tp_guide_document_rule_link(link, sizeof(link), rule.id);
		tp_guide_document_item(document, "rules", rule.id, link, rule.title);
	}
}

void tp_guide_fill_technique(struct tp_guide_document *document, const struct tp_rulebook *book,
			     const struct tp_technique *technique)
{
	for (size_t i = 0; i < technique->n_relieves; i++)
		tp_guide_document_item(document, "relieves", technique->relieves[i]->id, NULL,
				       technique->relieves[i]->title);
	add_classes(document, technique);
	add_effects(document, technique);
	add_conditions(document, "needs", technique->needs, technique->n_needs);
	add_conditions(document, "not when", technique->not_when, technique->n_not_when);
	tp_guide_document_field(document, "done when", technique->done.when_written);
	for (size_t i = 0; i < technique->n_together; i++)
		tp_guide_document_item(document, "with", technique->together[i]->id, NULL,
				       technique->together[i]->title);
	if (technique->against)
		tp_guide_document_item(document, "against", technique->against->id, NULL,
				       technique->against->title);
	tp_guide_document_field_printf(document, "risk", "%s: %s", tp_risk_names[technique->risk],
				       technique->risk_text);
	tp_guide_document_field(document, "effort", tp_effort_words[technique->effort]);
	for (int i = 0; i < TP_N_FRAMEWORKS; i++)
		tp_guide_document_field(document, framework_words[i], technique->how[i]);
	tp_guide_document_field(document, "verify", technique->verify);
	add_rules(document, book, technique);
}

void tp_guide_fill_techniques(struct tp_guide_document *document, const struct tp_rulebook *book)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	if (!catalogue->n_techniques)
		tp_guide_document_paragraphs(document, "No folder of rules holds techniques.");
	for (int group = 0; group < TP_N_GROUPS; group++) {
		bool is_first = true;
		for (size_t i = 0; i < catalogue->n_techniques; i++) {
			const struct tp_technique *technique = &catalogue->techniques[i];
			if ((int)technique->group != group)
				continue;
			if (is_first)
				tp_guide_document_heading(document, group_titles[group]);
			is_first = false;
			bool is_free = technique->kind == TP_ADVICE_FREE;
			tp_guide_document_item(document, NULL, technique->id, NULL,
					       tp_arena_printf(&document->arena, "%s%s",
							       technique->title,
							       is_free ? "" : " *"));
		}
	}
}
