/* SPDX-License-Identifier: Apache-2.0 */
/* Reads runs from the arguments of a command. */
#include "gate_runs.h"

#include "baseline_store.h"
#include "cli/job/job_session.h"
#include "cli/session/job_folder.h"
#include "cli/session/recording_read.h"
#include "cli/session/recordings.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/report/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* True for a report outside of a recording: a report in a recording is generated again from the
 * recording. */
static bool is_document(const char *word)
{
	struct stat info;
	size_t len = word ? strlen(word) : 0;
	return len >= 5 && strcmp(word + len - 5, ".json") == 0 && stat(word, &info) == 0 &&
	       S_ISREG(info.st_mode) && !tp_recording_holds(word);
}

/* Returns the index of a run that this one is a copy of, or the number of runs. Copies agree
 * perfectly, which would be taken for a program that hardly varies. */
static size_t find_copy(const struct tp_gate_runs *runs, const struct tp_run_values *values)
{
	for (size_t i = 0; i < runs->n; i++)
		if (values->id && runs->items[i]->id && strcmp(values->id, runs->items[i]->id) == 0)
			return i;
	return runs->n;
}

/* A copy of a run from `first` on is left out, one of an earlier run is refused. */
static enum tp_status add_text(struct tp_gate_runs *runs, const char *text, size_t size,
			       const char *name, size_t first, struct tp_error *err)
{
	struct tp_run_values *values = tp_arena_alloc(&runs->arena, sizeof(*values));
	struct tp_json_doc *doc = NULL;
	enum tp_status status = tp_json_parse(&doc, text, size, name, err);
	if (status == TP_OK)
		status = tp_run_values_read(values, doc, name, &runs->arena, err);
	tp_json_free(doc);
	if (status != TP_OK)
		return status;
	size_t copy = find_copy(runs, values);
	if (copy < first && copy < runs->n)
		return tp_fail(err, TP_USAGE,
			       "%s and %s are one run: it counts only once on a side",
			       runs->items[copy]->name, values->name);
	if (copy < runs->n)
		return TP_OK;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	TP_ARRAY_PUSH(runs->items, runs->n, runs->capacity) = values;
	if (runs->keeps_documents)
		TP_ARRAY_PUSH(runs->documents, runs->n_documents, runs->documents_capacity) =
			tp_arena_strndup(&runs->arena, text, size);
	return TP_OK;
}

static enum tp_status add_document(struct tp_gate_runs *runs, const char *path, size_t first,
				   struct tp_error *err)
{
	struct tp_buf text = {0};
	enum tp_status status = tp_file_read(&text, path, TP_JSON_MAX_BYTES, err);
	if (status == TP_OK)
		status = add_text(runs, tp_buf_text(&text), text.len, path, first, err);
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
		status = add_text(runs, text, size, reading->report.directory, runs->n, err);
	free(text);
	return status;
}

/* Runs that are only in the same folder have no common step. */
static enum tp_status refuse_separate(const char *folder, size_t n, struct tp_error *err)
{
	tp_fail(err, TP_USAGE, "'%s' has %s that no launcher started as one job: name each of them",
		folder, tp_unit_counted(n, "recording").text);
	return TP_USAGE;
}

/* Adds a job through the report of its ranks. */
static enum tp_status add_job(struct tp_gate_runs *runs, const struct tp_cli *cli,
			      const char *folder, const struct tp_analysis_session_options *how,
			      struct tp_error *err)
{
	const struct tp_report_style style = {.width = 80};
	struct tp_buf text = {0};
	struct tp_job job;
	struct tp_progress_line progress;
	tp_progress_start(&progress, cli, "reading", &folder, 1);
	enum tp_status status = tp_job_session_read(&job, &folder, 1, NULL, how, err);
	tp_progress_stop(&progress);
	if (status != TP_OK)
		return status;
	if (job.launcher) {
		tp_job_session_render(&text, &job, "json", &style, NULL);
		status = add_text(runs, tp_buf_text(&text), text.len, folder, runs->n, err);
		runs->n_judged++;
	} else {
		status = refuse_separate(folder, job.n_ranks, err);
	}
	tp_buf_release(&text);
	tp_job_release(&job);
	return status;
}

static enum tp_status add_recording(struct tp_gate_runs *runs, const struct tp_cli *cli,
				    const char *word, const struct tp_analysis_session_options *how,
				    struct tp_error *err)
{
	struct tp_analysis_session reading;
	enum tp_status status = tp_recording_read(&reading, cli, word, how, err);
	if (status != TP_OK)
		return status;
	status = add_session(runs, &reading, err);
	runs->n_judged++;
	tp_analysis_session_close(&reading);
	return status;
}

/* Baselines that an older version saved may hold a run more than once. */
static void warn_of_copies(const char *name)
{
	struct tp_buf next = {0};
	tp_buf_printf(&next, "trainprof baseline save --reason='…' %s …", name);
	tp_message_print(tp_buf_text(&next),
			 "baseline '%s' holds a run more than once: it counts only once", name);
	tp_buf_release(&next);
}

static enum tp_status add_baseline(struct tp_gate_runs *runs, const char *name,
				   struct tp_error *err)
{
	struct tp_baseline baseline;
	enum tp_status status = tp_baseline_load(&baseline, name, err);
	if (status != TP_OK)
		return status;
	size_t first = runs->n;
	for (size_t i = 0; i < baseline.n_runs && status == TP_OK; i++)
		status = add_document(runs, baseline.runs[i], first, err);
	if (status == TP_OK && runs->n - first < baseline.n_runs)
		warn_of_copies(name);
	tp_baseline_release(&baseline);
	return status;
}

enum tp_status tp_gate_runs_add(struct tp_gate_runs *runs, const struct tp_cli *cli,
				const char *word, const struct tp_analysis_session_options *how,
				struct tp_error *err)
{
	struct stat info;
	if (is_document(word))
		return add_document(runs, word, runs->n, err);
	if (word && stat(word, &info) != 0 && tp_baseline_exists(word))
		return add_baseline(runs, word, err);
	char *last = word ? NULL : tp_recordings_last_job();
	const char *folder = last ? last : word;
	bool is_job = folder && !how->rank && (last || tp_job_folder_is_one(folder));
	enum tp_status status = is_job ? add_job(runs, cli, folder, how, err)
				       : add_recording(runs, cli, word, how, err);
	free(last);
	return status;
}

enum tp_status tp_gate_runs_parse_ignore(bool is_ignored[TP_N_LIKENESSES], const char *list,
					 const char *command, struct tp_error *err)
{
	const char *names[TP_N_LIKENESSES];
	for (int i = 0; i < TP_N_LIKENESSES; i++)
		names[i] = tp_comparable_name((enum tp_likeness)i);
	while (list && *list) {
		char word[40];
		size_t len = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : 39), list);
		int i = 0;
		while (i < TP_N_LIKENESSES && strcmp(names[i], word) != 0)
			i++;
		if (i == TP_N_LIKENESSES) {
			const char *near = tp_text_closest(word, names, TP_N_LIKENESSES);
			tp_fail(err, TP_USAGE,
				"--ignore=%s: not one of workload, machine, software%s%s", word,
				near ? "; nearest: " : "", near ? near : "");
			tp_error_next(err, "trainprof help %s", command);
			return TP_USAGE;
		}
		is_ignored[i] = true;
		list += len + (list[len] == ',');
	}
	return TP_OK;
}

enum tp_status tp_gate_runs_refuse_unused(const struct tp_gate_runs *base,
					  const struct tp_gate_runs *now,
					  const struct tp_analysis_session_options *given,
					  bool has_rules, struct tp_error *err)
{
	static const struct tp_option rows[] = {TP_READING_ROWS(0), TP_OPTION_END};
	static const struct tp_analysis_session_options usual = {.steps = "auto"};
	static const char *const of_rules[] = {"rules", "lenient", NULL};
	static const char *const none[] = {NULL};
	if (base->n_judged || now->n_judged)
		return TP_OK;
	return tp_option_refuse_unused(rows, given, &usual, has_rules ? of_rules : none,
				       "has no effect on reports: they are judged already", err);
}

void tp_gate_runs_release(struct tp_gate_runs *runs)
{
	free(runs->items);
	free(runs->documents);
	tp_arena_release(&runs->arena);
	*runs = (struct tp_gate_runs){0};
}
