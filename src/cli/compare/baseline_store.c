/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps reports of runs that later runs are compared with. */
#include "baseline_store.h"

#include "baseline_history.h"
#include "cli/options/settings.h"
#include "cli/session/git_commit.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORE  ".trainprof/baselines"
#define SCHEMA "trainprof-baseline/1."

/* ---- places ---- */

bool tp_baseline_is_name(const char *word)
{
	size_t len = strlen(word);
	if (!len || len > 64 || !isalnum((unsigned char)word[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)word[i]) && !strchr("._-", word[i]))
			return false;
	return true;
}

/* TRAINPROF_BASELINES, the nearest store above, or a new one here. */
static char *find_store(void)
{
	const char *given = tp_settings_env("TRAINPROF_BASELINES");
	if (given && *given)
		return tp_strdup(given);
	struct tp_buf path = {0};
	struct stat info;
	for (int up = 0; up < 32; up++) {
		tp_buf_clear(&path);
		for (int i = 0; i < up; i++)
			tp_buf_puts(&path, "../");
		tp_buf_puts(&path, STORE);
		if (stat(tp_buf_text(&path), &info) == 0 && S_ISDIR(info.st_mode)) {
			char *found = tp_strdup(tp_buf_text(&path));
			tp_buf_release(&path);
			return found;
		}
	}
	tp_buf_release(&path);
	return tp_strdup(STORE);
}

char *tp_baseline_path(const char *name)
{
	char *store = find_store();
	char *path = tp_asprintf("%s/%s", store, name);
	free(store);
	return path;
}

static char *path_in(const char *directory, const char *file)
{
	return tp_asprintf("%s/%s", directory, file);
}

bool tp_baseline_exists(const char *name)
{
	struct stat info;
	if (!tp_baseline_is_name(name))
		return false;
	char *directory = tp_baseline_path(name);
	char *path = path_in(directory, "baseline.json");
	bool is_there = stat(path, &info) == 0;
	free(path);
	free(directory);
	return is_there;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **tp_baseline_names(size_t *n)
{
	char **names = NULL;
	size_t capacity = 0;
	char *store = find_store();
	DIR *dir = opendir(store);
	*n = 0;
	for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
		if (tp_baseline_exists(entry->d_name))
			TP_ARRAY_PUSH(names, *n, capacity) = tp_strdup(entry->d_name);
	if (dir)
		closedir(dir);
	free(store);
	if (*n)
		qsort(names, *n, sizeof(*names), by_name);
	return names;
}

void tp_baseline_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* ---- reading ---- */

static enum tp_status unknown_name(const char *name, struct tp_error *err)
{
	size_t n;
	char **names = tp_baseline_names(&n);
	const char *near = tp_text_closest(name, (const char *const *)names, n);
	tp_fail(err, TP_ABSENT, "no baseline '%.64s'%s%s", name, near ? "; nearest: " : "",
		near ? near : "");
	tp_error_next(err, "trainprof baseline list");
	tp_baseline_names_free(names, n);
	return TP_ABSENT;
}

static char *text_of(const struct tp_json *root, const char *key)
{
	return tp_strdup(tp_json_string(tp_json_get(root, key)));
}

static enum tp_status read_runs(struct tp_baseline *out, const struct tp_json_doc *doc,
				struct tp_error *err)
{
	const struct tp_json *runs = tp_json_get(tp_json_root(doc), "runs");
	out->runs = tp_alloc((tp_json_count(runs) + 1) * sizeof(*out->runs));
	TP_JSON_EACH (item, runs) {
		const char *file = tp_json_string(item);
		if (!file || !tp_baseline_is_name(file))
			return tp_fail(err, TP_PARSE,
				       "%s:%u: a run must name a file in the same folder",
				       tp_json_name(doc), tp_json_line(item));
		out->runs[out->n_runs++] = path_in(out->directory, file);
	}
	return out->n_runs ? TP_OK
			   : tp_fail(err, TP_PARSE, "%s: it has no runs", tp_json_name(doc));
}

static enum tp_status read_baseline(struct tp_baseline *out, const struct tp_json_doc *doc,
				    struct tp_error *err)
{
	const struct tp_json *root = tp_json_root(doc);
	const char *schema = tp_json_string(tp_json_get(root, "schema"));
	if (!schema || !tp_text_starts_with(schema, SCHEMA))
		return tp_fail(err, schema ? TP_VERSION : TP_PARSE,
			       "%s: its schema is %.60s; this reads %sx", tp_json_name(doc),
			       schema ? schema : "unknown", SCHEMA);
	out->reason = text_of(root, "reason");
	out->saved_at = text_of(root, "saved_at");
	out->commit = text_of(root, "commit");
	out->machine = text_of(root, "machine");
	return read_runs(out, doc, err);
}

enum tp_status tp_baseline_load(struct tp_baseline *out, const char *name, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	*out = (struct tp_baseline){0};
	if (!tp_baseline_exists(name))
		return unknown_name(name, err);
	out->name = tp_strdup(name);
	out->directory = tp_baseline_path(name);
	char *path = path_in(out->directory, "baseline.json");
	enum tp_status status = tp_json_load(&doc, path, err);
	if (status == TP_OK)
		status = read_baseline(out, doc, err);
	tp_json_free(doc);
	free(path);
	if (status != TP_OK)
		tp_baseline_release(out);
	return status;
}

void tp_baseline_release(struct tp_baseline *baseline)
{
	for (size_t i = 0; i < baseline->n_runs; i++)
		free(baseline->runs[i]);
	free(baseline->runs);
	free(baseline->name);
	free(baseline->directory);
	free(baseline->reason);
	free(baseline->saved_at);
	free(baseline->commit);
	free(baseline->machine);
	*baseline = (struct tp_baseline){0};
}

/* ---- removing ---- */

/* Removes only saved files: anything else in the directory stays, and the directory with it. */
static enum tp_status remove_files(const char *directory, struct tp_error *err)
{
	DIR *dir = opendir(directory);
	if (!dir)
		return tp_fail_errno(err, errno, "cannot read '%s'", directory);
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
		if (strcmp(entry->d_name, "baseline.json") == 0 ||
		    strcmp(entry->d_name, TP_BASELINE_HISTORY) == 0 ||
		    tp_text_glob("run-*.json", entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	if (rmdir(directory) != 0)
		return tp_fail_errno(err, errno, "cannot remove '%s'", directory);
	return TP_OK;
}

enum tp_status tp_baseline_remove(const char *name, struct tp_error *err)
{
	if (!tp_baseline_exists(name))
		return unknown_name(name, err);
	char *directory = tp_baseline_path(name);
	enum tp_status status = remove_files(directory, err);
	free(directory);
	return status;
}

/* ---- saving ---- */

/* The time of the save, and the commit of the repository. */
struct save_stamp {
	char when[32];
	const char *commit; /* NULL = not in a repository of git */
};

static void describe(struct tp_json_writer *w, const struct tp_baseline_new *what,
		     const struct save_stamp *stamp)
{
	char file[32];
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", SCHEMA "0");
	tp_json_put_string(w, "saved_at", stamp->when);
	tp_json_put_known_string(w, "reason", what->reason);
	tp_json_put_known_string(w, "commit", stamp->commit);
	tp_json_put_known_string(w, "machine", what->machine);
	tp_json_write_key(w, "runs");
	tp_json_open(w, '[');
	for (size_t i = 0; i < what->n_documents; i++) {
		snprintf(file, sizeof(file), "run-%zu.json", i + 1);
		tp_json_write_string(w, file);
	}
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}

static enum tp_status write_file(const char *directory, const char *file, const char *text,
				 struct tp_error *err)
{
	char *path = path_in(directory, file);
	enum tp_status status = tp_file_replace(path, text, strlen(text), err);
	if (status == TP_OK && chmod(path, 0644) != 0)
		status = tp_fail_errno(err, errno, "cannot change '%s'", path);
	free(path);
	return status;
}

/* Writes the history of the baseline that is replaced, with this save added. */
static enum tp_status write_history(const char *fresh, const char *directory,
				    const struct tp_baseline_new *what,
				    const struct save_stamp *stamp, struct tp_error *err)
{
	struct tp_arena arena = {0};
	struct tp_json_writer w = {0};
	struct tp_run_history old;
	struct tp_history_save save;
	enum tp_status status = tp_baseline_history_read(&old, directory, &arena, err);
	if (status == TP_OK &&
	    tp_baseline_history_describe(&save, what->runs, what->n_documents, &arena)) {
		save.saved_at = stamp->when;
		save.commit = stamp->commit;
		save.machine = what->machine;
		save.reason = what->reason;
		tp_baseline_history_write(&w, &old, &save);
		status = write_file(fresh, TP_BASELINE_HISTORY, tp_buf_text(&w.out), err);
	}
	tp_json_writer_release(&w);
	tp_arena_release(&arena);
	return status;
}

static enum tp_status write_files(const char *directory, const struct tp_baseline_new *what,
				  const struct save_stamp *stamp, struct tp_error *err)
{
	struct tp_json_writer w = {0};
	enum tp_status status = TP_OK;
	char file[32];
	for (size_t i = 0; i < what->n_documents && status == TP_OK; i++) {
		snprintf(file, sizeof(file), "run-%zu.json", i + 1);
		status = write_file(directory, file, what->documents[i], err);
	}
	describe(&w, what, stamp);
	if (status == TP_OK)
		status = write_file(directory, "baseline.json", tp_buf_text(&w.out), err);
	tp_json_writer_release(&w);
	return status;
}

/* Makes the directory and all directories above it. */
static enum tp_status make_directory(const char *path, struct tp_error *err)
{
	char *part = tp_strdup(path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(part, 0777);
		*slash = '/';
	}
	free(part);
	if (mkdir(path, 0777) != 0)
		return tp_fail_errno(err, errno, "cannot create '%s'", path);
	return TP_OK;
}

/* The old baseline is moved aside, and moved back if the new one cannot take its place. */
static enum tp_status replace(const char *fresh, const char *directory, struct tp_error *err)
{
	char *aside = tp_asprintf("%s.old-%ld", directory, (long)getpid());
	bool had_one = rename(directory, aside) == 0;
	enum tp_status status = TP_OK;
	if (rename(fresh, directory) != 0) {
		status = tp_fail_errno(err, errno, "cannot replace '%s'", directory);
		if (had_one)
			(void)rename(aside, directory);
	} else if (had_one) {
		status = remove_files(aside, err);
	}
	free(aside);
	return status;
}

enum tp_status tp_baseline_save(const struct tp_baseline_new *what, struct tp_error *err)
{
	char *directory = tp_baseline_path(what->name);
	char *fresh = tp_asprintf("%s.new-%ld", directory, (long)getpid());
	struct tp_arena arena = {0};
	char here[PATH_MAX];
	struct save_stamp stamp = {
		.commit = getcwd(here, sizeof(here)) ? tp_git_commit_read(here, &arena) : NULL};
	tp_clock_format_utc(tp_clock_wall_ns(), stamp.when, sizeof(stamp.when));
	enum tp_status status = make_directory(fresh, err);
	if (status == TP_OK) {
		status = write_files(fresh, what, &stamp, err);
		if (status == TP_OK)
			status = write_history(fresh, directory, what, &stamp, err);
		if (status == TP_OK)
			status = replace(fresh, directory, err);
		if (status != TP_OK)
			(void)remove_files(fresh, NULL);
	}
	tp_arena_release(&arena);
	free(fresh);
	free(directory);
	return status;
}
