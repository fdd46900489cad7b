/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rules by name and checks their references to each other. */
#include "book.h"
#include "catalogue.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

static int compare_rules(const void *a, const void *b)
{
	const struct tp_rule *left = a;
	const struct tp_rule *right = b;
	return strcmp(left->id, right->id);
}

const struct tp_rule *tp_rulebook_find(const struct tp_rulebook *book, const char *id)
{
	for (size_t i = 0; i < book->n_rules; i++)
		if (strcmp(book->rules[i].id, id) == 0)
			return &book->rules[i];
	return NULL;
}

const char *tp_rulebook_nearest(const struct tp_rulebook *book, const char *id)
{
	if (!book->n_rules)
		return NULL;
	const char **names = tp_alloc(book->n_rules * sizeof(*names));
	for (size_t i = 0; i < book->n_rules; i++)
		names[i] = book->rules[i].id;
	const char *nearest = tp_text_closest(id, names, book->n_rules);
	free(names);
	return nearest;
}

static enum tp_status check_link(const struct tp_rulebook *book, const struct tp_rule *rule,
				 const char *key, const char *id, struct tp_error *err)
{
	const struct tp_rule *other = tp_rulebook_find(book, id);
	if (strcmp(id, TP_ALL_IDIOMS) == 0)
		return TP_OK;
	const char *nearest = other ? NULL : tp_rulebook_nearest(book, id);
	if (!other)
		return tp_fail(err, TP_PARSE, "%s: '%s' names no rule '%s'%s%s", rule->path, key,
			       id, nearest ? "; nearest: " : "", nearest ? nearest : "");
	if (other->verdict.id)
		return tp_fail(err, TP_PARSE, "%s: '%s' names '%s', which is a verdict", rule->path,
			       key, id);
	return TP_OK;
}

/* If no limits are shipped there is nothing to compare with. */
static enum tp_status check_limit(const struct tp_rulebook *book, const struct tp_rule *rule,
				  const char *id, struct tp_error *err)
{
	const struct tp_catalogue *catalogue = &book->catalogue;
	if (!catalogue->n_limits || tp_catalogue_limit(catalogue, id))
		return TP_OK;
	const char *nearest = tp_catalogue_nearest_limit(catalogue, id);
	return tp_fail(err, TP_PARSE, "%s: 'limits' names no limit '%s'%s%s", rule->path, id,
		       nearest ? "; nearest: " : "", nearest ? nearest : "");
}

enum colour { WHITE, GREY, BLACK };

/* A rule is hidden by its children and by those it yields to; in a cycle all would disappear. */
static bool has_cycle(const struct tp_rulebook *book, size_t at, enum colour *colours)
{
	const struct tp_rule *rule = &book->rules[at];
	if (colours[at] != WHITE)
		return colours[at] == GREY;
	colours[at] = GREY;
	for (size_t i = 0; i < book->n_rules; i++) {
		const struct tp_rule *other = &book->rules[i];
		bool hides = other->parent && strcmp(other->parent, rule->id) == 0;
		for (size_t k = 0; k < rule->n_yields_to; k++)
			hides |= strcmp(rule->yields_to[k], other->id) == 0;
		if (hides && has_cycle(book, i, colours))
			return true;
	}
	colours[at] = BLACK;
	return false;
}

/* The first rule with a reference to something that does not exist, or n_rules. */
static size_t find_broken_link(const struct tp_rulebook *book, struct tp_error *err)
{
	for (size_t i = 0; i < book->n_rules; i++) {
		const struct tp_rule *rule = &book->rules[i];
		if (rule->parent && check_link(book, rule, "parent", rule->parent, err))
			return i;
		for (size_t k = 0; k < rule->n_yields_to; k++)
			if (check_link(book, rule, "yields_to", rule->yields_to[k], err))
				return i;
		for (size_t k = 0; k < rule->n_limits; k++)
			if (check_limit(book, rule, rule->limits[k], err))
				return i;
	}
	return book->n_rules;
}

/* The first rule whose links lead back to itself, or n_rules. */
static size_t find_cycle(const struct tp_rulebook *book, struct tp_error *err)
{
	enum colour *colours = tp_alloc((book->n_rules + 1) * sizeof(*colours));
	size_t found = 0;
	while (found < book->n_rules && !has_cycle(book, found, colours))
		found++;
	free(colours);
	if (found < book->n_rules)
		(void)tp_fail(err, TP_PARSE, "%s: 'parent' and 'yields_to' lead back to this rule",
			      book->rules[found].path);
	return found;
}

enum tp_status tp_rulebook_link(struct tp_rulebook *book, struct tp_error *err)
{
	if (book->n_rules)
		qsort(book->rules, book->n_rules, sizeof(*book->rules), compare_rules);
	for (;;) {
		size_t bad = find_broken_link(book, err);
		if (bad == book->n_rules)
			bad = find_cycle(book, err);
		if (bad == book->n_rules)
			return TP_OK;
		enum tp_status status = tp_lenient_skip(book, TP_PARSE, err);
		if (status)
			return status;
		/* Without it other references may be broken: they are checked again. */
		memmove(&book->rules[bad], &book->rules[bad + 1],
			(book->n_rules - bad - 1) * sizeof(*book->rules));
		book->n_rules--;
	}
}

struct tp_rule_digest tp_rulebook_digest(const struct tp_rulebook *book, size_t i)
{
	const struct tp_rule *rule = &book->rules[i];
	return (struct tp_rule_digest){.id = rule->id,
				       .title = rule->title,
				       .limits = rule->limits,
				       .n_limits = rule->n_limits,
				       .is_verdict = rule->verdict.id != NULL};
}

bool tp_rulebook_advises(const struct tp_rulebook *book, size_t i, const char *technique)
{
	const struct tp_rule *rule = &book->rules[i];
	for (size_t k = 0; k < rule->n_actions; k++)
		if (!rule->actions[k].is_own && strcmp(rule->actions[k].technique, technique) == 0)
			return true;
	return false;
}
