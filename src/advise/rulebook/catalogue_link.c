/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the names in limits, techniques and pages. */
#include "catalogue.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

const struct tp_catalogue *tp_rulebook_catalogue(const struct tp_rulebook *book)
{
	return &book->catalogue;
}

/* ---- finding ---- */

const struct tp_technique *tp_catalogue_technique(const struct tp_catalogue *catalogue,
						  const char *id)
{
	for (size_t i = 0; i < catalogue->n_techniques; i++)
		if (strcmp(catalogue->techniques[i].id, id) == 0)
			return &catalogue->techniques[i];
	return NULL;
}

const struct tp_limit *tp_catalogue_limit(const struct tp_catalogue *catalogue, const char *id)
{
	for (size_t i = 0; i < catalogue->n_limits; i++)
		if (strcmp(catalogue->limits[i].id, id) == 0)
			return &catalogue->limits[i];
	return NULL;
}

const char *tp_catalogue_stage(const struct tp_catalogue *catalogue, unsigned order)
{
	for (size_t i = 0; i < catalogue->n_texts; i++)
		if (order && order <= catalogue->texts[i].n_steps)
			return catalogue->texts[i].steps[order - 1];
	return NULL;
}

static const struct tp_reference *reference_of(const struct tp_catalogue *catalogue,
					       const char *tag)
{
	for (size_t i = 0; i < catalogue->n_references; i++)
		if (strcmp(catalogue->references[i].tag, tag) == 0)
			return &catalogue->references[i];
	return NULL;
}

/* The most similar name in a list of items that begin with their name. */
static const char *nearest_of(const char *word, const void *items, size_t n, size_t size)
{
	const char **names = tp_alloc((n + 1) * sizeof(*names));
	for (size_t i = 0; i < n; i++)
		memcpy(&names[i], (const char *)items + i * size, sizeof(*names));
	const char *nearest = tp_text_closest(word, names, n);
	free(names);
	return nearest;
}

_Static_assert(offsetof(struct tp_limit, id) == 0 && offsetof(struct tp_technique, id) == 0 &&
		       offsetof(struct tp_reference, tag) == 0,
	       "nearest_of() takes the name from the beginning");

const char *tp_catalogue_nearest_limit(const struct tp_catalogue *catalogue, const char *id)
{
	return nearest_of(id, catalogue->limits, catalogue->n_limits, sizeof(struct tp_limit));
}

const char *tp_catalogue_nearest_technique(const struct tp_catalogue *catalogue, const char *id)
{
	return nearest_of(id, catalogue->techniques, catalogue->n_techniques,
			  sizeof(struct tp_technique));
}

bool tp_technique_has_limit(const struct tp_technique *technique, const struct tp_limit *limit)
{
	for (size_t i = 0; i < technique->n_relieves; i++)
		if (technique->relieves[i] == limit)
			return true;
	return false;
}

/* ---- linking ---- */

static enum tp_status unknown_name(struct tp_error *err, const char *path, unsigned line,
				   const char *what, const char *name, const char *nearest)
{
	return tp_fail(err, TP_PARSE, "%s:%u: no %s '%s'%s%s", path, line, what, name,
		       nearest ? "; nearest: " : "", nearest ? nearest : "");
}

static enum tp_status link_limit(const struct tp_catalogue *catalogue, struct tp_limit *limit,
				 struct tp_error *err)
{
	limit->parent = NULL;
	if (!limit->parent_name)
		return TP_OK;
	limit->parent = tp_catalogue_limit(catalogue, limit->parent_name);
	if (limit->parent)
		return TP_OK;
	return unknown_name(err, limit->path, limit->line, "limit", limit->parent_name,
			    tp_catalogue_nearest_limit(catalogue, limit->parent_name));
}

/* A path upwards with more steps than there are limits never ends: it leads into a cycle of other
 * limits. */
static bool is_in_cycle(const struct tp_catalogue *catalogue, const struct tp_limit *limit)
{
	const struct tp_limit *up = limit->parent;
	for (size_t n = 0; up && up != limit && n < catalogue->n_limits; n++)
		up = up->parent;
	return up == limit;
}

static enum tp_status link_source(const struct tp_catalogue *catalogue,
				  const struct tp_reference **out, const char *tag,
				  const char *path, unsigned line, struct tp_error *err)
{
	*out = reference_of(catalogue, tag);
	if (*out)
		return TP_OK;
	return unknown_name(err, path, line, "source", tag,
			    nearest_of(tag, catalogue->references, catalogue->n_references,
				       sizeof(struct tp_reference)));
}

static enum tp_status link_text(struct tp_rulebook *book, struct tp_guide_text *text,
				struct tp_error *err)
{
	enum tp_status status = TP_OK;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	text->cites = tp_arena_array(&book->arena, text->n_cites, sizeof(*text->cites));
	for (size_t i = 0; i < text->n_cites && !status; i++)
		status = link_source(&book->catalogue, &text->cites[i], text->cites_names[i],
				     text->path, text->line, err);
	return status;
}

static enum tp_status link_effects(const struct tp_catalogue *catalogue,
				   const struct tp_technique *technique, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	for (size_t i = 0; i < technique->n_effects && !status; i++) {
		struct tp_effect *effect = &technique->effects[i];
		status = link_source(catalogue, &effect->source, effect->tag, technique->path,
				     effect->line, err);
	}
	return status;
}

static enum tp_status link_against(const struct tp_catalogue *catalogue,
				   struct tp_technique *technique, struct tp_error *err)
{
	const char *name = technique->against_name;
	technique->against = name ? tp_catalogue_technique(catalogue, name) : NULL;
	if (technique->against == technique)
		return tp_fail(err, TP_PARSE, "%s:%u: 'against' names itself", technique->path,
			       technique->against_line);
	if (!name || technique->against)
		return TP_OK;
	return unknown_name(err, technique->path, technique->against_line, "technique", name,
			    tp_catalogue_nearest_technique(catalogue, name));
}

static enum tp_status link_technique(struct tp_rulebook *book, struct tp_technique *technique,
				     struct tp_error *err)
{
	const struct tp_catalogue *catalogue = &book->catalogue;
	/* NOLINTBEGIN(bugprone-sizeof-expression): these are arrays of pointers */
	technique->relieves =
		tp_arena_array(&book->arena, technique->n_relieves, sizeof(*technique->relieves));
	technique->together =
		tp_arena_array(&book->arena, technique->n_together, sizeof(*technique->together));
	/* NOLINTEND(bugprone-sizeof-expression) */
	for (size_t i = 0; i < technique->n_relieves; i++) {
		const char *name = technique->relieves_names[i];
		technique->relieves[i] = tp_catalogue_limit(catalogue, name);
		if (!technique->relieves[i])
			return unknown_name(err, technique->path, technique->relieves_line, "limit",
					    name, tp_catalogue_nearest_limit(catalogue, name));
	}
	for (size_t i = 0; i < technique->n_together; i++) {
		const char *name = technique->together_names[i];
		const struct tp_technique *other = tp_catalogue_technique(catalogue, name);
		if (other == technique)
			return tp_fail(err, TP_PARSE, "%s:%u: 'together' names itself",
				       technique->path, technique->together_line);
		if (!other)
			return unknown_name(err, technique->path, technique->together_line,
					    "technique", name,
					    tp_catalogue_nearest_technique(catalogue, name));
		technique->together[i] = other;
	}
	enum tp_status status = link_against(catalogue, technique, err);
	return status ? status : link_effects(catalogue, technique, err);
}

/* ---- order ---- */

static int compare_techniques(const void *a, const void *b)
{
	const struct tp_technique *left = a;
	const struct tp_technique *right = b;
	return strcmp(left->id, right->id);
}

/* There are few limits, and those of one order stay as they were written. */
static void sort_limits(struct tp_catalogue *catalogue)
{
	for (size_t i = 1; i < catalogue->n_limits; i++) {
		struct tp_limit limit = catalogue->limits[i];
		size_t k = i;
		for (; k && catalogue->limits[k - 1].order > limit.order; k--)
			catalogue->limits[k] = catalogue->limits[k - 1];
		catalogue->limits[k] = limit;
	}
}

/* ---- all ---- */

static void drop(void *items, size_t *n, size_t at, size_t size)
{
	char *from = (char *)items + at * size;
	memmove(from, from + size, (*n - at - 1) * size);
	--*n;
}

/* The first limit that is not valid, or n_limits. */
static size_t find_bad_limit(struct tp_catalogue *catalogue, struct tp_error *err)
{
	for (size_t i = 0; i < catalogue->n_limits; i++)
		if (link_limit(catalogue, &catalogue->limits[i], err))
			return i;
	for (size_t i = 0; i < catalogue->n_limits; i++) {
		const struct tp_limit *limit = &catalogue->limits[i];
		if (!is_in_cycle(catalogue, limit))
			continue;
		(void)tp_fail(err, TP_PARSE, "%s:%u: 'parent' leads back to this limit",
			      limit->path, limit->line);
		return i;
	}
	return catalogue->n_limits;
}

static size_t find_bad_technique(struct tp_rulebook *book, struct tp_error *err)
{
	struct tp_catalogue *catalogue = &book->catalogue;
	for (size_t i = 0; i < catalogue->n_techniques; i++)
		if (link_technique(book, &catalogue->techniques[i], err))
			return i;
	return catalogue->n_techniques;
}

static size_t find_bad_text(struct tp_rulebook *book, struct tp_error *err)
{
	struct tp_catalogue *catalogue = &book->catalogue;
	for (size_t i = 0; i < catalogue->n_texts; i++)
		if (link_text(book, &catalogue->texts[i], err))
			return i;
	return catalogue->n_texts;
}

/* Skipped items move the others, so everything is linked again from the beginning. */
enum tp_status tp_catalogue_link(struct tp_rulebook *book, struct tp_error *err)
{
	struct tp_catalogue *catalogue = &book->catalogue;
	enum tp_status status = TP_OK;
	sort_limits(catalogue);
	if (catalogue->n_techniques)
		qsort(catalogue->techniques, catalogue->n_techniques,
		      sizeof(*catalogue->techniques), compare_techniques);
	for (size_t bad; !status && (bad = find_bad_limit(catalogue, err)) < catalogue->n_limits;) {
		status = tp_lenient_skip(book, TP_PARSE, err);
		if (!status)
			drop(catalogue->limits, &catalogue->n_limits, bad, sizeof(struct tp_limit));
	}
	for (size_t bad;
	     !status && (bad = find_bad_technique(book, err)) < catalogue->n_techniques;) {
		status = tp_lenient_skip(book, TP_PARSE, err);
		if (!status)
			drop(catalogue->techniques, &catalogue->n_techniques, bad,
			     sizeof(struct tp_technique));
	}
	for (size_t bad; !status && (bad = find_bad_text(book, err)) < catalogue->n_texts;) {
		status = tp_lenient_skip(book, TP_PARSE, err);
		if (!status)
			drop(catalogue->texts, &catalogue->n_texts, bad,
			     sizeof(struct tp_guide_text));
	}
	return status;
}
