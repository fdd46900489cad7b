/* SPDX-License-Identifier: Apache-2.0 */
/* Loads rules/patterns/. */
#include "trainprof/analyze/analyze.h"

#include "kernel_group.h"
#include "pattern_row.h"
#include "pattern_tables.h"

#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The keys of a row determine its subject. */
static enum tp_status read_row(struct tp_patterns *patterns, const struct tp_pattern_row *row,
			       struct tp_error *err)
{
	if (tp_setting_pattern_is(row)) /* first, because it shares keys with other subjects */
		return tp_setting_pattern_read(&patterns->settings, row, err);
	if (tp_counter_pattern_is(row))
		return tp_counter_pattern_read(&patterns->counters, row, err);
	if (tp_work_pattern_is(row))
		return tp_work_pattern_read(&patterns->idioms, row, err);
	if (tp_kernel_pattern_is(row))
		return tp_kernel_pattern_read(&patterns->kernels, row, err);
	if (tp_span_pattern_is(row))
		return tp_span_pattern_read(&patterns->spans, row, err);
	if (tp_python_pattern_is(row))
		return tp_python_pattern_read(&patterns->python, row, err);
	return tp_frame_pattern_read(&patterns->frames, row, err);
}

static enum tp_status load_file(struct tp_patterns *patterns, const char *path,
				struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	enum tp_status status = tp_json_load(&doc, path, err);
	if (status)
		return status;
	const struct tp_json *rows = tp_json_get(tp_json_root(doc), "patterns");
	if (tp_json_type(rows) != TP_JSON_ARRAY)
		status = tp_fail(err, TP_PARSE, "%s: no list \"patterns\"", path);
	const char *file = tp_arena_strdup(&patterns->arena, path);
	const struct tp_json *groups = tp_json_get(tp_json_root(doc), "groups");
	const struct tp_pattern_row all_groups = {&patterns->arena, groups, file};
	if (!status && groups)
		status = tp_kernel_groups_read(&patterns->kernels, &all_groups, err);
	TP_JSON_EACH (json, rows) {
		const struct tp_pattern_row row = {&patterns->arena, json, file};
		if (!status)
			status = read_row(patterns, &row, err);
	}
	tp_json_free(doc);
	return status;
}

static enum tp_status load_idiom(struct tp_patterns *patterns, const char *path,
				 struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	enum tp_status status = tp_json_load(&doc, path, err);
	if (status)
		return status;
	const struct tp_pattern_row row = {&patterns->arena, tp_json_root(doc),
					   tp_arena_strdup(&patterns->arena, path)};
	status = tp_idiom_read(&patterns->idioms, &row, err);
	tp_json_free(doc);
	return status;
}

static int is_json(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

enum tp_status tp_patterns_load(struct tp_patterns **out, const char *directory,
				struct tp_error *err)
{
	struct dirent **names = NULL;
	/* Sorted, so that the first match does not depend on the file system. */
	int n = scandir(directory, &names, is_json, alphasort);
	if (n < 0)
		return tp_fail(err, TP_ABSENT, "cannot read patterns in '%s': %s", directory,
			       tp_errno_text(errno));
	struct tp_patterns *patterns = tp_alloc(sizeof(*patterns));
	enum tp_status status = TP_OK;
	for (int i = 0; i < n; i++) {
		char *path = tp_asprintf("%s/%s", directory, names[i]->d_name);
		if (!status)
			status = load_file(patterns, path, err);
		free(path);
		free(names[i]);
	}
	free(names);
	tp_kernel_groups_apply(&patterns->kernels);
	if (status)
		tp_patterns_free(patterns);
	else
		*out = patterns;
	return status;
}

enum tp_status tp_patterns_load_idioms(struct tp_patterns *patterns, const char *directory,
				       struct tp_error *err)
{
	struct dirent **names = NULL;
	int n = scandir(directory, &names, is_json, alphasort);
	enum tp_status status = TP_OK;
	if (n < 0 && errno != ENOENT)
		return tp_fail(err, TP_ABSENT, "cannot read idioms in '%s': %s", directory,
			       tp_errno_text(errno));
	for (int i = 0; i < n; i++) {
		char *path = tp_asprintf("%s/%s", directory, names[i]->d_name);
		if (!status)
			status = load_idiom(patterns, path, err);
		free(path);
		free(names[i]);
	}
	free(names);
	return status;
}

void tp_patterns_free(struct tp_patterns *patterns)
{
	if (!patterns)
		return;
	tp_arena_release(&patterns->arena);
	free(patterns->frames.items);
	free(patterns->kernels.items);
	free(patterns->kernels.families);
	free(patterns->spans.items);
	free(patterns->python.items);
	free(patterns->settings.items);
	free(patterns->counters.items);
	tp_idiom_patterns_release(&patterns->idioms);
	free(patterns);
}
