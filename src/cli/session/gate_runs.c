/* SPDX-License-Identifier: Apache-2.0 */
/* Reads runs by what was typed. */
#include "gate_runs.h"

#include "recordings.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A document of its own: JSON in a recording is read anew from that. */
static bool is_document(const char *word)
{
	struct stat info;
	char *directory = NULL;
	size_t len = word ? strlen(word) : 0;
	if (len < 5 || strcmp(word + len - 5, ".json") != 0 || stat(word, &info) != 0 ||
	    !S_ISREG(info.st_mode))
		return false;
	bool is_recording = tp_recordings_find(&directory, word, NULL) == TP_OK;
	free(directory);
	return !is_recording;
}

static enum tp_status read_document(struct tp_run_values *out, struct tp_arena *arena,
				    const char *path, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	enum tp_status status = tp_json_load(&doc, path, err);
	if (status == TP_OK)
		status = tp_run_values_read(out, doc, path, arena, err);
	tp_json_free(doc);
	return status;
}

/* By way of the document, so that a recording and its report.json say the same. */
static enum tp_status read_session(struct tp_run_values *out, struct tp_arena *arena,
				   const struct tp_analysis_session *reading, struct tp_error *err)
{
	const struct tp_report_style style = {.width = 80};
	struct tp_json_doc *doc = NULL;
	char *text;
	size_t size;
	enum tp_status status =
		tp_analysis_session_render(reading, "json", &style, &text, &size, err);
	if (status == TP_OK)
		status = tp_json_parse(&doc, text, size, reading->report.directory, err);
	if (status == TP_OK)
		status = tp_run_values_read(out, doc, reading->report.directory, arena, err);
	tp_json_free(doc);
	free(text);
	return status;
}

static enum tp_status read_recording(struct tp_run_values *out, struct tp_arena *arena,
				     const char *word,
				     const struct tp_analysis_session_options *how, bool is_quiet,
				     struct tp_error *err)
{
	struct tp_analysis_session reading;
	enum tp_status status = tp_analysis_session_find(&reading, word, how, err);
	if (status != TP_OK)
		return status;
	if (!is_quiet)
		tp_analysis_session_warn_partial(&reading);
	status = read_session(out, arena, &reading, err);
	tp_analysis_session_close(&reading);
	return status;
}

enum tp_status tp_gate_runs_add(struct tp_gate_runs *runs, const char *word,
				const struct tp_analysis_session_options *how, bool is_quiet,
				struct tp_error *err)
{
	struct tp_run_values *values = tp_arena_alloc(&runs->arena, sizeof(*values));
	enum tp_status status =
		is_document(word) ? read_document(values, &runs->arena, word, err)
				  : read_recording(values, &runs->arena, word, how, is_quiet, err);
	if (status == TP_OK)
		TP_ARRAY_PUSH(runs->items, runs->n, runs->capacity) = values;
	return status;
}

void tp_gate_runs_release(struct tp_gate_runs *runs)
{
	free(runs->items);
	tp_arena_release(&runs->arena);
	*runs = (struct tp_gate_runs){0};
}
