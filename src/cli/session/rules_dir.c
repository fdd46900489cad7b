/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and loads rules and patterns. */
#include "rules_dir.h"
#include "install_dir.h"

#include "cli/options/settings.h"
#include "cli/terminal/messages.h"

#include "trainprof/advise/advise.h"
#include "trainprof/analyze/analyze.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/trust.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_directory(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A rules folder contains bottlenecks or patterns; a folder that is only named "rules" is not
 * enough. */
static bool is_rules(const char *path)
{
	char inside[PATH_MAX + 32];
	snprintf(inside, sizeof(inside), "%s/patterns", path);
	if (is_directory(inside))
		return true;
	snprintf(inside, sizeof(inside), "%s/bottlenecks", path);
	return is_directory(inside);
}

/* Folders of rules contain families, which contain files. */
enum { RULES_DEPTH = 2 };

/* The documents that are loaded from a folder of rules: any other document in it is no rule. */
static bool is_loaded(const char *name)
{
	static const char *const names[] = {"bottlenecks",  "idioms",         "patterns",
					    "techniques",   "limits.json",    "pages.json",
					    "sources.json", "thresholds.json"};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Sets *found if a folder contains a JSON document that is loaded; nothing in it may belong to
 * another user. */
static enum tp_status search_json(const char *path, int depth, bool *found, struct tp_error *err)
{
	enum tp_status status = tp_trust_check(path, err);
	DIR *dir = status == TP_OK ? opendir(path) : NULL;
	const struct dirent *entry;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a DIR of our own */
	while (dir && status == TP_OK && (entry = readdir(dir))) {
		char inside[PATH_MAX];
		bool is_found = false;
		size_t len = strlen(entry->d_name);
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
		if (len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0) {
			is_found = true;
			status = tp_trust_check(inside, err);
		} else if (depth > 0 && is_directory(inside)) {
			status = search_json(inside, depth - 1, &is_found, err);
		}
		*found |= is_found && (depth < RULES_DEPTH || is_loaded(entry->d_name));
	}
	if (dir)
		closedir(dir);
	return status;
}

/* A folder that the user names must contain rules: without them the verdict would be another
 * one. */
static enum tp_status add_named(struct tp_rules_dirs *out, const char *path, struct tp_error *err)
{
	struct stat info;
	if (stat(path, &info) != 0)
		return tp_fail_errno(err, errno, "no rules in '%s'", path);
	if (!S_ISDIR(info.st_mode))
		return tp_fail(err, TP_ABSENT, "no rules in '%s': not a directory", path);
	if (access(path, R_OK | X_OK) != 0)
		return tp_fail_errno(err, errno, "no rules in '%s'", path);
	bool found = false;
	enum tp_status status = search_json(path, RULES_DEPTH, &found, err);
	if (status != TP_OK)
		return status;
	if (!found)
		return tp_fail(err, TP_ABSENT,
			       "no rules in '%s': it holds no bottlenecks, techniques, patterns or "
			       "thresholds",
			       path);
	out->items[out->n++] = tp_strdup(path);
	return TP_OK;
}

static enum tp_status add_all_named(struct tp_rules_dirs *out, const struct tp_words *extra,
				    struct tp_error *err)
{
	const char *env = tp_settings_env("TRAINPROF_RULES");
	enum tp_status status = env ? add_named(out, env, err) : TP_OK;
	for (size_t i = 0; extra && i < extra->n && status == TP_OK; i++)
		status = add_named(out, extra->items[i], err);
	if (status != TP_OK && err && !*err->next)
		tp_error_next(err, "trainprof help rules   (what a folder of rules holds)");
	return status;
}

enum tp_status tp_rules_dir_check(const struct tp_words *extra, struct tp_error *err)
{
	struct tp_rules_dirs dirs = {0};
	enum tp_status status = add_all_named(&dirs, extra, err);
	tp_rules_dir_release(&dirs);
	return status;
}

enum tp_status tp_rules_dir_find(struct tp_rules_dirs *out, const struct tp_words *extra,
				 struct tp_error *err)
{
	*out = (struct tp_rules_dirs){0};
	char *shipped = tp_install_dir_find("rules", "rules", is_rules);
	if (shipped)
		out->items[out->n++] = shipped;
	enum tp_status status = add_all_named(out, extra, err);
	if (status != TP_OK) {
		tp_rules_dir_release(out);
		return status;
	}
	if (out->n)
		return TP_OK;
	tp_fail(err, TP_ABSENT, "no rules found beside the program or in /usr/share/trainprof");
	tp_error_next(err, "TRAINPROF_RULES=DIR, or install trainprof with make install");
	return TP_ABSENT;
}

void tp_rules_dir_release(struct tp_rules_dirs *dirs)
{
	for (size_t i = 0; i < dirs->n; i++)
		free(dirs->items[i]);
	*dirs = (struct tp_rules_dirs){0};
}

enum tp_status tp_rules_dir_load(struct tp_rulebook **out, const struct tp_rules_dirs *dirs,
				 struct tp_error *err)
{
	return tp_rulebook_load(out, (const char *const *)dirs->items, dirs->n, err);
}

enum tp_status tp_rules_dir_load_rest(struct tp_rulebook **out, const struct tp_rules_dirs *dirs,
				      struct tp_buf *problems, struct tp_error *err)
{
	if (!problems)
		return tp_rules_dir_load(out, dirs, err);
	return tp_rulebook_load_lenient(out, (const char *const *)dirs->items, dirs->n, problems,
					err);
}

enum tp_status tp_rules_dir_rulebook(struct tp_rulebook **out, const struct tp_words *extra,
				     bool is_lenient, struct tp_error *err)
{
	struct tp_rules_dirs dirs;
	struct tp_buf problems = {0};
	enum tp_status status = tp_rules_dir_find(&dirs, extra, err);
	if (status == TP_OK)
		status = tp_rules_dir_load_rest(out, &dirs, is_lenient ? &problems : NULL, err);
	tp_message_print_lines(tp_buf_text(&problems));
	tp_buf_release(&problems);
	tp_rules_dir_release(&dirs);
	return status;
}

/* Idioms are rules: those of all folders are loaded. */
static enum tp_status load_with_idioms(struct tp_patterns **out, const char *path,
				       const struct tp_rules_dirs *dirs, struct tp_error *err)
{
	struct tp_patterns *patterns = NULL;
	enum tp_status status = tp_patterns_load(&patterns, path, err);
	for (size_t i = 0; i < dirs->n && !status; i++) {
		char idioms[PATH_MAX];
		snprintf(idioms, sizeof(idioms), "%s/idioms", dirs->items[i]);
		status = tp_patterns_load_idioms(patterns, idioms, err);
	}
	if (status)
		tp_patterns_free(patterns);
	else
		*out = patterns;
	return status;
}

enum tp_status tp_rules_dir_load_patterns(struct tp_patterns **out,
					  const struct tp_rules_dirs *dirs, struct tp_error *err)
{
	/* Only the last folder with patterns is used: a user's patterns replace the shipped
	 * ones. */
	for (size_t i = dirs->n; i-- > 0;) {
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%s/patterns", dirs->items[i]);
		if (is_directory(path))
			return load_with_idioms(out, path, dirs, err);
	}
	return tp_fail(err, TP_ABSENT, "no patterns in '%s'", dirs->items[0]);
}
