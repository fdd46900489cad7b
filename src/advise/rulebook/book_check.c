/* SPDX-License-Identifier: Apache-2.0 */
/* Finds mistakes in a rulebook as a whole, although each file is correct by itself. */
#include "book.h"
#include "catalogue.h"
#include "contradiction.h"

#include <string.h>

static size_t check_actions(const struct tp_rulebook *book, const struct tp_rule *rule,
			    struct tp_buf *problems)
{
	const struct tp_catalogue *catalogue = &book->catalogue;
	size_t n = 0;
	for (size_t i = 0; i < rule->n_actions; i++) {
		const struct tp_rule_action *action = &rule->actions[i];
		const char *name = action->technique;
		bool is_known = tp_catalogue_technique(catalogue, name) != NULL;
		const char *nearest = tp_catalogue_nearest_technique(catalogue, name);
		if (is_known != action->is_own)
			continue;
		n++;
		tp_buf_printf(problems, "%s:%u: ", rule->path, action->line);
		if (is_known)
			tp_buf_printf(problems, "'%s' is a technique: 'technique', not 'id'\n",
				      name);
		else
			tp_buf_printf(problems, "no technique '%s'%s%s\n", name,
				      nearest ? "; nearest: " : "", nearest ? nearest : "");
	}
	return n;
}

static bool is_advised(const struct tp_rulebook *book, const struct tp_technique *technique)
{
	for (size_t i = 0; i < book->n_rules; i++)
		if (tp_rulebook_advises(book, i, technique->id))
			return true;
	return false;
}

static bool is_referenced(const struct tp_catalogue *catalogue,
			  const struct tp_reference *reference)
{
	for (size_t i = 0; i < catalogue->n_texts; i++)
		for (size_t k = 0; k < catalogue->texts[i].n_cites; k++)
			if (catalogue->texts[i].cites[k] == reference)
				return true;
	for (size_t i = 0; i < catalogue->n_techniques; i++)
		for (size_t k = 0; k < catalogue->techniques[i].n_effects; k++)
			if (catalogue->techniques[i].effects[k].source == reference)
				return true;
	return false;
}

static bool has_technique(const struct tp_catalogue *catalogue, const struct tp_limit *limit)
{
	for (size_t i = 0; i < catalogue->n_techniques; i++)
		if (tp_technique_has_limit(&catalogue->techniques[i], limit))
			return true;
	/* A limit that only groups others is relieved by whatever relieves those. */
	for (size_t i = 0; i < catalogue->n_limits; i++)
		if (catalogue->limits[i].parent == limit)
			return true;
	return false;
}

static bool is_yardstick(const struct tp_catalogue *catalogue, const struct tp_technique *technique)
{
	for (size_t i = 0; i < catalogue->n_techniques; i++)
		if (catalogue->techniques[i].against == technique)
			return true;
	return false;
}

/* A technique with fewer iterations costs quality, so it must state the simple alternative that it
 * was compared with. */
static size_t check_yardsticks(const struct tp_rulebook *book, struct tp_buf *problems)
{
	const struct tp_catalogue *catalogue = &book->catalogue;
	size_t n = 0;
	for (size_t i = 0; i < catalogue->n_techniques; i++) {
		const struct tp_technique *technique = &catalogue->techniques[i];
		bool has_fewer = technique->saving == TP_SAVING_ITERATIONS ||
				 technique->saving == TP_SAVING_BOTH;
		if (!has_fewer || technique->against || is_yardstick(catalogue, technique))
			continue;
		n++;
		tp_buf_printf(problems,
			      "%s: it changes the number of iterations, and 'against' does not say "
			      "what it is to be compared with\n",
			      technique->path);
	}
	return n;
}

static size_t check_guide(const struct tp_rulebook *book, struct tp_buf *problems)
{
	const struct tp_catalogue *catalogue = &book->catalogue;
	size_t n = 0;
	for (size_t i = 0; i < catalogue->n_techniques; i++) {
		const struct tp_technique *technique = &catalogue->techniques[i];
		if (technique->n_relieves || is_advised(book, technique))
			continue;
		n++;
		tp_buf_printf(problems, "%s: dead: it relieves no limit, and no rule advises it\n",
			      technique->path);
	}
	for (size_t i = 0; i < catalogue->n_limits; i++) {
		const struct tp_limit *limit = &catalogue->limits[i];
		if (has_technique(catalogue, limit))
			continue;
		n++;
		tp_buf_printf(problems, "%s:%u: no technique relieves '%s'\n", limit->path,
			      limit->line, limit->id);
	}
	for (size_t i = 0; i < catalogue->n_references; i++) {
		const struct tp_reference *reference = &catalogue->references[i];
		if (is_referenced(catalogue, reference))
			continue;
		n++;
		tp_buf_printf(problems, "%s:%u: nothing cites '%s'\n", reference->path,
			      reference->line, reference->tag);
	}
	return n;
}

size_t tp_rulebook_check(const struct tp_rulebook *book, struct tp_buf *problems)
{
	size_t n = 0;
	for (size_t i = 0; i < book->n_rules; i++)
		n += tp_rule_check_conflicts(book, &book->rules[i], problems);
	if (!book->catalogue.n_techniques)
		return n;
	for (size_t i = 0; i < book->n_rules; i++)
		n += check_actions(book, &book->rules[i], problems);
	n += check_yardsticks(book, problems);
	return n + check_guide(book, problems);
}
