/* SPDX-License-Identifier: Apache-2.0 */
/* Reads runs from the arguments of a command. */
#include "gate_runs.h"

#include "baseline_store.h"
#include "cli/session/recordings.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* True for a report outside of a recording: a report in a recording is generated again from the
 * recording. */
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

static enum tp_status add_text(struct tp_gate_runs *runs, const char *text, size_t size,
			       const char *name, struct tp_error *err)
{
	struct tp_run_values *values = tp_arena_alloc(&runs->arena, sizeof(*values));
	struct tp_json_doc *doc = NULL;
	enum tp_status status = tp_json_parse(&doc, text, size, name, err);
	if (status == TP_OK)
		status = tp_run_values_read(values, doc, name, &runs->arena, err);
	tp_json_free(doc);
	if (status != TP_OK)
		return status;
	TP_ARRAY_PUSH(runs->items, runs->n, runs->capacity) = values;
	if (runs->keeps_documents)
		TP_ARRAY_PUSH(runs->documents, runs->n_documents, runs->documents_capacity) =
			tp_arena_strndup(&runs->arena, text, size);
	return TP_OK;
}

static enum tp_status add_document(struct tp_gate_runs *runs, const char *path,
				   struct tp_error *err)
{
	struct tp_buf text = {0};
	enum tp_status status = tp_file_read(&text, path, TP_JSON_MAX_BYTES, err);
	if (status == TP_OK)
		status = add_text(runs, tp_buf_text(&text), text.len, path, err);
	tp_buf_release(&text);
	return status;
}

/* Adds the run through its JSON document, so that a recording and its report.json give the same
 * values. */
static enum tp_status add_session(struct tp_gate_runs *runs,
				  const struct tp_analysis_session *reading, struct tp_error *err)
{
	const struct tp_report_style style = {.width = 80};
	char *text;
	size_t size;
	enum tp_status status =
		tp_analysis_session_render(reading, "json", &style, &text, &size, err);
	if (status == TP_OK)
		status = add_text(runs, text, size, reading->report.directory, err);
	free(text);
	return status;
}

static enum tp_status add_recording(struct tp_gate_runs *runs, const char *word,
				    const struct tp_analysis_session_options *how, bool is_quiet,
				    struct tp_error *err)
{
	struct tp_analysis_session reading;
	enum tp_status status = tp_analysis_session_find(&reading, word, how, err);
	if (status != TP_OK)
		return status;
	if (!is_quiet)
		tp_analysis_session_warn_partial(&reading);
	status = add_session(runs, &reading, err);
	tp_analysis_session_close(&reading);
	return status;
}

static enum tp_status add_baseline(struct tp_gate_runs *runs, const char *name,
				   struct tp_error *err)
{
	struct tp_baseline baseline;
	enum tp_status status = tp_baseline_load(&baseline, name, err);
	if (status != TP_OK)
		return status;
	for (size_t i = 0; i < baseline.n_runs && status == TP_OK; i++)
		status = add_document(runs, baseline.runs[i], err);
	tp_baseline_release(&baseline);
	return status;
}

enum tp_status tp_gate_runs_add(struct tp_gate_runs *runs, const char *word,
				const struct tp_analysis_session_options *how, bool is_quiet,
				struct tp_error *err)
{
	struct stat info;
	if (is_document(word))
		return add_document(runs, word, err);
	if (word && stat(word, &info) != 0 && tp_baseline_exists(word))
		return add_baseline(runs, word, err);
	return add_recording(runs, word, how, is_quiet, err);
}

void tp_gate_runs_release(struct tp_gate_runs *runs)
{
	free(runs->items);
	free(runs->documents);
	tp_arena_release(&runs->arena);
	*runs = (struct tp_gate_runs){0};
}
