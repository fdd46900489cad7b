/* Loads directories of rules and thresholds and checks how rules refer to each other. */
#include "book.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- thresholds.json ---- */

static enum tp_status read_doubts(struct tp_rulebook *book, const struct tp_json_doc *doc,
				  const struct tp_json *list, struct tp_error *err)
{
	TP_JSON_EACH (item, list) {
		const char *when = tp_json_string(tp_json_get(item, "when"));
		const char *because = tp_json_string(tp_json_get(item, "because"));
		if (!when || !because)
			return tp_fail(err, TP_PARSE, "%s:%u: a doubt has 'when' and 'because'",
				       tp_json_name(doc), tp_json_line(doc, item));
		struct tp_place place = {.file = tp_json_name(doc),
					 .line = tp_json_line(doc, item),
					 .thresholds = &book->thresholds,
					 .arena = &book->arena};
		struct tp_doubt doubt = {.because = tp_arena_strdup(&book->arena, because)};
		enum tp_status status =
			tp_expr_parse(&doubt.when, when, TP_WANT_CONDITION, &place, err);
		if (status)
			return status;
		TP_ARRAY_PUSH(book->doubts, book->n_doubts, book->doubts_capacity) = doubt;
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
	static const char *const keys[] = {"whole", "thresholds", "doubts"};
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
				 "%s:%u: there are whole, thresholds and doubts here, not '%s'",
				 path, tp_json_line(doc, member), key ? key : "");
		goto out;
	}
	read_whole(book, tp_json_get(root, "whole"));
	status = tp_thresholds_read(&book->thresholds, doc, tp_json_get(root, "thresholds"),
				    &book->arena, err);
	if (!status)
		status = read_doubts(book, doc, tp_json_get(root, "doubts"), err);
out:
	tp_json_free(doc);
	return status;
}

/* ---- directories ---- */

struct names {
	struct dirent **items;
	int n;
};

static void names_release(struct names *names)
{
	for (int i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct names){0};
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* By bytes: alphasort() would follow the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Entries of a directory that do not start with a dot, sorted. TP_ABSENT when it is not there. */
static enum tp_status names_read(struct names *out, const char *path, struct tp_error *err)
{
	int n = scandir(path, &out->items, is_visible, compare_names);
	if (n >= 0) {
		out->n = n;
		return TP_OK;
	}
	enum tp_status status = tp_fail_errno(err, errno, "%s", path);
	return errno == ENOTDIR ? TP_ABSENT : status;
}

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

static enum tp_status family_load(struct tp_rulebook *book, const char *bottlenecks,
				  const char *family, struct tp_error *err)
{
	struct names files = {0};
	char *directory = tp_asprintf("%s/%s", bottlenecks, family);
	enum tp_status status = names_read(&files, directory, err);
	if (status == TP_ABSENT)
		status = TP_OK; /* a plain file beside the families */
	for (int i = 0; i < files.n && !status; i++) {
		const char *name = files.items[i]->d_name;
		size_t len = strlen(name);
		if (len <= 5 || strcmp(name + len - 5, ".json") != 0)
			continue;
		char *path = tp_asprintf("%s/%s", directory, name);
		char *id = tp_asprintf("%s/%.*s", family, (int)len - 5, name);
		status = rule_load(book, path, id, err);
		free(id);
		free(path);
	}
	free(directory);
	names_release(&files);
	return status;
}

static enum tp_status directory_load(struct tp_rulebook *book, const char *directory,
				     struct tp_error *err)
{
	struct names families = {0};
	char *thresholds = tp_asprintf("%s/thresholds.json", directory);
	char *bottlenecks = tp_asprintf("%s/bottlenecks", directory);
	char *patterns = tp_asprintf("%s/patterns", directory);
	enum tp_status status = thresholds_load(book, thresholds, err);
	/* A user may bring thresholds or patterns alone. */
	bool may_lack_rules = !status || access(patterns, F_OK) == 0;
	if (status && status != TP_ABSENT)
		goto out;
	status = names_read(&families, bottlenecks, err);
	if (status == TP_ABSENT && may_lack_rules)
		status = TP_OK;
	for (int i = 0; i < families.n && !status; i++)
		status = family_load(book, bottlenecks, families.items[i]->d_name, err);
out:
	names_release(&families);
	free(thresholds);
	free(bottlenecks);
	free(patterns);
	return status;
}

/* ---- links between rules ---- */

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
	const char *nearest = tp_text_nearest(id, names, book->n_rules);
	free(names);
	return nearest;
}

static enum tp_status check_link(const struct tp_rulebook *book, const struct tp_rule *rule,
				 const char *key, const char *id, struct tp_error *err)
{
	const struct tp_rule *other = tp_rulebook_find(book, id);
	const char *nearest = other ? NULL : tp_rulebook_nearest(book, id);
	if (!other)
		return tp_fail(err, TP_PARSE, "%s: '%s' names no rule '%s'%s%s", rule->path, key,
			       id, nearest ? "; nearest: " : "", nearest ? nearest : "");
	if (other->verdict.id)
		return tp_fail(err, TP_PARSE, "%s: '%s' names '%s', which is a verdict", rule->path,
			       key, id);
	return TP_OK;
}

enum colour { WHITE, GREY, BLACK };

/* A rule is hidden by its children and by those it yields to; in a ring all would vanish. */
static bool finds_ring(const struct tp_rulebook *book, size_t at, enum colour *colours)
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
		if (hides && finds_ring(book, i, colours))
			return true;
	}
	colours[at] = BLACK;
	return false;
}

static enum tp_status rulebook_link(struct tp_rulebook *book, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	if (!book->n_rules)
		return TP_OK;
	qsort(book->rules, book->n_rules, sizeof(*book->rules), compare_rules);
	enum colour *colours = tp_alloc(book->n_rules * sizeof(*colours));
	for (size_t i = 0; i < book->n_rules && !status; i++) {
		const struct tp_rule *rule = &book->rules[i];
		if (rule->parent)
			status = check_link(book, rule, "parent", rule->parent, err);
		for (size_t k = 0; k < rule->n_yields_to && !status; k++)
			status = check_link(book, rule, "yields_to", rule->yields_to[k], err);
	}
	for (size_t i = 0; i < book->n_rules && !status; i++)
		if (finds_ring(book, i, colours))
			status = tp_fail(err, TP_PARSE,
					 "%s: 'parent' and 'yields_to' lead back to this rule",
					 book->rules[i].path);
	free(colours);
	return status;
}

enum tp_status tp_rulebook_load(struct tp_rulebook **out, const char *const *directories,
				size_t n_directories, struct tp_error *err)
{
	struct tp_rulebook *book = tp_alloc(sizeof(*book));
	enum tp_status status = TP_OK;
	tp_arena_init(&book->arena);
	book->whole_steps = "each step";
	book->whole_window = "the time measured";
	for (size_t i = 0; i < n_directories && !status; i++)
		status = directory_load(book, directories[i], err);
	if (!status)
		status = rulebook_link(book, err);
	if (status) {
		tp_rulebook_free(book);
		return status;
	}
	*out = book;
	return TP_OK;
}

void tp_rulebook_free(struct tp_rulebook *book)
{
	if (!book)
		return;
	tp_thresholds_release(&book->thresholds);
	tp_arena_release(&book->arena);
	free(book->rules);
	free(book->doubts);
	free(book);
}

size_t tp_rulebook_count(const struct tp_rulebook *book)
{
	return book->n_rules;
}
