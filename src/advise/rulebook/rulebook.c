/* SPDX-License-Identifier: Apache-2.0 */
/* Loads directories of rules, thresholds and techniques. */
#include "book.h"
#include "catalogue.h"
#include "listing.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- thresholds.json ---- */

/* The place for an issue: that of the equal one from an earlier folder, or the end. */
typedef struct tp_quality_issue *(*issue_place)(struct tp_rulebook *book, const char *because);

static struct tp_quality_issue *find_issue(struct tp_quality_issue *issues, size_t n,
					   const char *because)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(issues[i].because, because) == 0)
			return &issues[i];
	return NULL;
}

static struct tp_quality_issue *place_issue(struct tp_rulebook *book, const char *because)
{
	struct tp_quality_issue *same = find_issue(book->doubts, book->n_doubts, because);
	return same ? same : &TP_ARRAY_PUSH(book->doubts, book->n_doubts, book->doubts_capacity);
}

static struct tp_quality_issue *place_not_comparable(struct tp_rulebook *book, const char *because)
{
	struct tp_quality_issue *same = find_issue(book->spoilers, book->n_spoilers, because);
	return same ? same
		    : &TP_ARRAY_PUSH(book->spoilers, book->n_spoilers, book->spoilers_capacity);
}

static enum tp_status read_issues(struct tp_rulebook *book, const struct tp_json_doc *doc,
				  const struct tp_json *list, issue_place place_of,
				  struct tp_error *err)
{
	TP_JSON_EACH (item, list) {
		const char *when = tp_json_string(tp_json_get(item, "when"));
		const char *because = tp_json_string(tp_json_get(item, "because"));
		if (!when || !because)
			return tp_fail(err, TP_PARSE, "%s:%u: a doubt has 'when' and 'because'",
				       tp_json_name(doc), tp_json_line(item));
		struct tp_expr_scope place = {.file = tp_json_name(doc),
					      .line = tp_json_line(item),
					      .thresholds = &book->thresholds,
					      .arena = &book->arena};
		struct tp_quality_issue doubt = {.because = tp_arena_strdup(&book->arena, because)};
		enum tp_status status =
			tp_expr_parse(&doubt.when, when, TP_EXPR_CONDITION, &place, err);
		if (status)
			return status;
		*place_of(book, because) = doubt;
	}
	return TP_OK;
}

static void read_whole(struct tp_rulebook *book, const struct tp_json *whole)
{
	const char *steps = tp_json_string(tp_json_get(whole, "steps"));
	const char *window = tp_json_string(tp_json_get(whole, "window"));
	if (steps)
		book->whole_steps = tp_arena_strdup(&book->arena, steps);
	if (window)
		book->whole_window = tp_arena_strdup(&book->arena, window);
}

static bool is_section(const char *key)
{
	static const char *const keys[] = {"whole", "thresholds", "doubts", "not_compared"};
	for (size_t i = 0; key && i < TP_ARRAY_LEN(keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static enum tp_status thresholds_load(struct tp_rulebook *book, const char *path,
				      struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	enum tp_status status = tp_json_load(&doc, path, err);
	if (status)
		return status;
	const struct tp_json *root = tp_json_root(doc);
	TP_JSON_EACH (member, root) {
		const char *key = tp_json_key(member);
		if (is_section(key))
			continue;
		status = tp_fail(err, TP_PARSE,
				 "%s:%u: unknown key '%s'; use whole, thresholds, doubts or "
				 "not_compared",
				 path, tp_json_line(member), key ? key : "");
		goto out;
	}
	read_whole(book, tp_json_get(root, "whole"));
	status = tp_thresholds_read(&book->thresholds, doc, tp_json_get(root, "thresholds"),
				    &book->arena, err);
	if (!status)
		status = read_issues(book, doc, tp_json_get(root, "doubts"), place_issue, err);
	if (!status)
		status = read_issues(book, doc, tp_json_get(root, "not_compared"),
				     place_not_comparable, err);
out:
	tp_json_free(doc);
	return status;
}

/* ---- directories ---- */

static enum tp_status rule_load(struct tp_rulebook *book, const char *path, const char *id,
				struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	struct tp_rule rule;
	enum tp_status status = tp_json_load(&doc, path, err);
	if (!status)
		status = tp_rule_read(&rule, doc, id, &book->thresholds, &book->arena, err);
	tp_json_free(doc);
	if (status)
		return status;
	for (size_t i = 0; i < book->n_rules; i++) {
		if (strcmp(book->rules[i].id, id) == 0) {
			book->rules[i] = rule;
			return TP_OK;
		}
	}
	TP_ARRAY_PUSH(book->rules, book->n_rules, book->rules_capacity) = rule;
	return TP_OK;
}

static enum tp_status family_load(struct tp_rulebook *book, const char *parent, const char *folder,
				  const char *family, struct tp_error *err)
{
	struct tp_listing files = {0};
	char *directory = tp_asprintf("%s/%s", parent, folder);
	enum tp_status status = tp_listing_read(&files, directory, err);
	if (status == TP_ABSENT)
		status = TP_OK; /* a plain file next to the folders of families */
	for (int i = 0; i < files.n && !status; i++) {
		char *stem = tp_listing_basename(&files, i);
		if (!stem)
			continue;
		char *path = tp_asprintf("%s/%s.json", directory, stem);
		char *id = tp_asprintf("%s/%s", family, stem);
		status = tp_lenient_skip(book, rule_load(book, path, id, err), err);
		free(id);
		free(path);
		free(stem);
	}
	free(directory);
	tp_listing_release(&files);
	return status;
}

static enum tp_status rules_load(struct tp_rulebook *book, const char *directory, bool may_lack,
				 struct tp_error *err)
{
	struct tp_listing families = {0};
	char *bottlenecks = tp_asprintf("%s/bottlenecks", directory);
	enum tp_status status = tp_listing_read(&families, bottlenecks, err);
	if (status == TP_ABSENT && may_lack)
		status = TP_OK;
	for (int i = 0; i < families.n && !status; i++) {
		const char *name = families.items[i]->d_name;
		char *stem = tp_listing_basename(&families, i);
		/* A rule outside of a family's folder would never be loaded, so this is an
		 * error. */
		if (stem)
			status = tp_lenient_skip(book,
						 tp_fail(err, TP_PARSE,
							 "%s/%s: a rule must be in the folder of "
							 "its family: %s/FAMILY/%s",
							 bottlenecks, name, bottlenecks, name),
						 err);
		else
			status = family_load(book, bottlenecks, name, name, err);
		free(stem);
	}
	tp_listing_release(&families);
	free(bottlenecks);
	return status ? status : family_load(book, directory, "idioms", "idiom", err);
}

static enum tp_status directory_load(struct tp_rulebook *book, const char *directory,
				     struct tp_error *err)
{
	char *thresholds = tp_asprintf("%s/thresholds.json", directory);
	char *patterns = tp_asprintf("%s/patterns", directory);
	char *idioms = tp_asprintf("%s/idioms", directory);
	size_t n_guide = 0;
	enum tp_status status = thresholds_load(book, thresholds, err);
	bool has_thresholds = !status;
	if (status == TP_ABSENT)
		status = TP_OK;
	if (!status)
		status = tp_catalogue_load(book, directory, &n_guide, err);
	/* A user may provide only thresholds, patterns or techniques. */
	bool may_lack = has_thresholds || n_guide || access(patterns, F_OK) == 0 ||
			access(idioms, F_OK) == 0;
	if (!status)
		status = rules_load(book, directory, may_lack, err);
	free(thresholds);
	free(patterns);
	free(idioms);
	return status;
}

/* With `problems` invalid entries are skipped and the rest is loaded. */
static enum tp_status load(struct tp_rulebook **out, const char *const *directories,
			   size_t n_directories, struct tp_buf *problems, struct tp_error *err)
{
	struct tp_error own = {0};
	struct tp_rulebook *book = tp_alloc(sizeof(*book));
	enum tp_status status = TP_OK;
	if (!err)
		err = &own;
	tp_arena_init(&book->arena);
	book->whole_steps = "each step";
	book->whole_window = "the measured time";
	book->problems = problems;
	for (size_t i = 0; i < n_directories && !status; i++)
		status = directory_load(book, directories[i], err);
	if (!status)
		status = tp_catalogue_link(book, err);
	if (!status)
		status = tp_rulebook_link(book, err);
	book->problems = NULL;
	if (status) {
		tp_rulebook_free(book);
		return status;
	}
	*out = book;
	return TP_OK;
}

enum tp_status tp_rulebook_load(struct tp_rulebook **out, const char *const *directories,
				size_t n_directories, struct tp_error *err)
{
	return load(out, directories, n_directories, NULL, err);
}

enum tp_status tp_rulebook_load_lenient(struct tp_rulebook **out, const char *const *directories,
					size_t n_directories, struct tp_buf *problems,
					struct tp_error *err)
{
	return load(out, directories, n_directories, problems, err);
}

void tp_rulebook_free(struct tp_rulebook *book)
{
	if (!book)
		return;
	tp_thresholds_release(&book->thresholds);
	tp_arena_release(&book->arena);
	free(book->rules);
	free(book->doubts);
	free(book->spoilers);
	free(book->catalogue.limits);
	free(book->catalogue.texts);
	free(book->catalogue.techniques);
	free(book->catalogue.references);
	free(book);
}

size_t tp_rulebook_count(const struct tp_rulebook *book)
{
	return book->n_rules;
}
