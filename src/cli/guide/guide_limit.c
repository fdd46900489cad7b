/* SPDX-License-Identifier: Apache-2.0 */
/* Builds pages of the guide about the limits of a run. */
#include "guide.h"

#include <stdio.h>
#include <string.h>

static void add_rules(struct tp_guide_document *document, const struct tp_rulebook *book,
		      const struct tp_limit *limit)
{
	size_t n = 0;
	for (size_t i = 0; i < tp_rulebook_count(book); i++) {
		struct tp_rule_digest rule = tp_rulebook_digest(book, i);
		for (size_t k = 0; k < rule.n_limits; k++) {
			if (strcmp(rule.limits[k], limit->id) != 0)
				continue;
			char link[128];
			tp_guide_document_rule_link(link, sizeof(link), rule.id);
			tp_guide_document_item(document, "found by", rule.id, link, rule.title);
			n++;
		}
	}
	if (!n)
		tp_guide_document_field(document, "found by", "no rule; the proof shows it");
}

static void add_techniques(struct tp_guide_document *document, const struct tp_rulebook *book,
			   const struct tp_limit *limit)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	for (size_t i = 0; i < catalogue->n_techniques; i++) {
		const struct tp_technique *technique = &catalogue->techniques[i];
		if (tp_technique_has_limit(technique, limit))
			tp_guide_document_item(document, "relief", technique->id, NULL,
					       technique->title);
	}
}

void tp_guide_fill_limit(struct tp_guide_document *document, const struct tp_rulebook *book,
			 const struct tp_limit *limit)
{
	const char *step = tp_catalogue_stage(tp_rulebook_catalogue(book), limit->order);
	tp_guide_document_field_printf(document, "order", "%u%s%s", limit->order, step ? ", " : "",
				       step ? step : "");
	if (limit->parent)
		tp_guide_document_item(document, "part of", limit->parent->id, NULL,
				       limit->parent->title);
	tp_guide_document_field(document, "signals", limit->signals);
	tp_guide_document_field(document, "proof", limit->proof);
	for (size_t i = 0; i < limit->n_look_alikes; i++)
		tp_guide_document_field(document, "resembles", limit->look_alikes[i]);
	add_rules(document, book, limit);
	add_techniques(document, book, limit);
}

void tp_guide_fill_limits(struct tp_guide_document *document, const struct tp_rulebook *book)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	if (!catalogue->n_limits)
		tp_guide_document_paragraphs(document, "No folder of rules holds a limits.json.");
	for (size_t i = 0; i < catalogue->n_limits; i++) {
		const struct tp_limit *limit = &catalogue->limits[i];
		char *heading =
			tp_arena_printf(&document->arena, "%s  %s", limit->id, limit->title);
		tp_guide_document_heading(document, heading);
		tp_guide_fill_limit(document, book, limit);
	}
}
