/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an import: opens the output, reads the files, closes the recording. */
#include "import_job.h"

#include "cli/terminal/interrupt.h"
#include "cli/terminal/messages.h"
#include "recording_read.h"
#include "recordings.h"
#include "run_info_collect.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/import/import.h"
#include "trainprof/import/trace_folder.h"
#include "trainprof/store/recording.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* State from the first file to the end of the recording. */
struct import_session {
	const struct tp_import_job_options *options;
	const char *const *files;
	size_t n_files;
	char *directory; /* heap */
	struct tp_arena arena;
	struct tp_run_info run;
	struct tp_store *store;
	bool is_ours; /* we created the directory */
	char *aside;  /* the recording that this one replaces, by --force */
	bool is_whole;
	pthread_mutex_t lock; /* for the output: an interruption waits until it can be undone */
	struct tp_import_result result;
	bool has_result;
};

static enum tp_status open_store(struct import_session *s, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	/* A generated name replaces nothing. */
	if (s->options->force && s->options->output)
		status = tp_recordings_backup(&s->aside, s->directory, err);
	if (status == TP_OK)
		status = tp_recordings_check_room(s->directory, err);
	if (status == TP_OK)
		status = tp_store_create(&s->store, s->directory, &s->run, UINT64_MAX, err);
	s->is_ours = status == TP_OK;
	return status;
}

/* Jobs that start at the same time in one folder find the same name free; only one of them gets
 * it. */
static enum tp_status open_output(struct import_session *s, struct tp_error *err)
{
	enum tp_status status = open_store(s, err);
	while (status == TP_EXISTS && !s->options->output) {
		free(s->directory);
		s->directory = tp_recordings_new_name("");
		status = open_store(s, err);
	}
	return status;
}

/* Writes a source row for each format that occurred, with the information that the format does not
 * contain. */
static void add_source(struct import_session *s, const struct tp_import_format_info *format)
{
	struct tp_sink *sink = tp_store_sink(s->store);
	struct tp_source source = {.presence = TP_PRESENCE_DEGRADED};
	bool is_met = false;
	for (size_t i = 0; i < s->result.n_ranks; i++) {
		const struct tp_rank_info *rank = &s->result.ranks[i];
		if (strcmp(rank->format, format->name) != 0)
			continue;
		is_met = true;
		source.n_records += rank->n_kept;
		source.n_lost += rank->n_skipped;
	}
	if (!is_met)
		return;
	if (format->threads)
		source.n_records += s->result.n_thread_records;
	source.name = tp_sink_string(sink, format->name);
	source.summary = tp_sink_string(sink, format->summary);
	/* The first item is the one in short reports. */
	char *loses = format->threads && !s->result.n_tasks
			      ? tp_asprintf("%s, %s", format->threads, format->loses)
			      : tp_strdup(format->loses);
	source.reason = tp_sink_string(sink, loses);
	free(loses);
	const struct tp_record record = {.kind = TP_RECORD_SOURCE, .of.source = source};
	sink->type->put(sink, &record);
}

static void note_result(struct import_session *s)
{
	const struct tp_import_format_info *format;
	for (size_t i = 0; (format = tp_import_format_info(i)); i++)
		add_source(s, format);
	s->run.ranks = s->result.ranks;
	s->run.n_ranks = s->result.n_ranks;
	s->run.started_ns = s->run.measure_from_ns = s->result.first_ns;
	s->run.ended_ns = s->run.measure_until_ns = s->result.last_ns;
}

static enum tp_status refuse_copy(const char *one, const char *other, struct tp_error *err)
{
	tp_fail(err, TP_PARSE, "'%s' and '%s' are the same trace", one, other);
	tp_error_next_word(err, "trainprof import ", one, "");
	return TP_PARSE;
}

/* A trace that is given twice would look like a job of two ranks with equal work. */
static enum tp_status check_copies(const struct import_session *s, struct tp_error *err)
{
	const struct tp_rank_info *ranks = s->result.ranks;
	for (size_t i = 0; i < s->n_files; i++)
		for (size_t j = i + 1; j < s->n_files; j++)
			if (strcmp(s->files[i], s->files[j]) == 0)
				return refuse_copy(s->files[i], s->files[j], err);
	for (size_t i = 0; i < s->result.n_ranks; i++)
		for (size_t j = i + 1; j < s->result.n_ranks; j++)
			if (ranks[i].sha256 && ranks[j].sha256 &&
			    strcmp(ranks[i].sha256, ranks[j].sha256) == 0 &&
			    strcmp(ranks[i].path, ranks[j].path) != 0)
				return refuse_copy(ranks[i].path, ranks[j].path, err);
	return TP_OK;
}

/* NULL = the files say it. */
static const char *format_named(const struct import_session *s)
{
	return strcmp(s->options->from, "auto") == 0 ? NULL : s->options->from;
}

static enum tp_status read_files(struct import_session *s, struct tp_error *err)
{
	const struct tp_import_options how = {
		.format = format_named(s),
		.keeps_python = s->options->keeps_python,
		.device_lane = s->options->device_lane,
	};
	enum tp_status status = tp_import_files(&s->result, s->files, s->n_files, &how,
						tp_store_sink(s->store), err);
	s->has_result = status == TP_OK;
	if (status == TP_OK)
		status = check_copies(s, err);
	if (status == TP_OK)
		note_result(s);
	return status;
}

/* A trace without its end would be judged as if it were complete. */
static enum tp_status close_store(struct import_session *s, struct tp_error *err)
{
	struct tp_error cause = {0};
	uint64_t until_ns;
	tp_store_flush(s->store);
	bool has_stopped = tp_store_has_stopped(s->store, &until_ns, &cause);
	enum tp_status status = tp_store_finish(s->store, &s->run, err);
	s->store = NULL;
	if (!has_stopped)
		return status;
	status = tp_fail(err, TP_IO, "cannot write '%s': %s", s->directory, cause.text);
	tp_error_next(err, "choose another -o");
	return status;
}

/* True if the only argument is a recording, by its directory or by its report. */
static bool is_recording(const struct import_session *s)
{
	return s->n_files == 1 && tp_recording_holds(s->files[0]);
}

/* Proposals from other modules name the most used command (run); replaces it by import. */
static void fit_next(const struct import_session *s, struct tp_error *err)
{
	if (!*err->next && err->status == TP_DENIED)
		tp_error_next_word(err, "ls -l ", s->files[0], "");
	else if (!*err->next && strcmp(s->files[0], "-") == 0)
		tp_error_next(err, "trainprof import /dev/stdin");
	else if (!*err->next && is_recording(s))
		tp_error_next_word(err, "trainprof report ", s->files[0], "");
	else if (!*err->next && err->status != TP_IO)
		tp_error_next(err, "trainprof import --list");
	if (tp_text_starts_with(err->next, "trainprof run -o "))
		tp_error_next_word(err, "trainprof import -o /tmp/prof ", s->files[0],
				   s->n_files > 1 ? " …" : "");
}

/* Leaves nothing of the output, and restores the recording that --force was to replace. */
static void remove_output(struct import_session *s)
{
	struct tp_error err = {0};
	if (s->is_ours)
		(void)!tp_recordings_remove(s->directory, NULL);
	s->is_ours = false;
	if (s->aside && tp_recordings_restore(s->aside, s->directory, &err) != TP_OK)
		tp_message_error(NULL, &err);
}

static void undo(struct import_session *s)
{
	if (s->store)
		(void)!tp_store_finish(s->store, &s->run, NULL);
	remove_output(s);
}

/* Waits while the output is being opened or closed. Otherwise the store is in use, and its files
 * are only unlinked. */
static void tidy(void *context)
{
	struct import_session *s = context;
	pthread_mutex_lock(&s->lock);
	if (s->is_whole) {
		struct tp_buf next = {0};
		tp_buf_puts(&next, "trainprof report ");
		tp_text_add_word(&next, s->directory);
		tp_message_print(tp_buf_text(&next), "interrupted: '%s' is complete", s->directory);
		tp_buf_release(&next);
		return;
	}
	remove_output(s);
	tp_message_print(NULL, "interrupted: %s%s%s", s->aside ? "'" : "nothing was imported",
			 s->aside ? s->directory : "", s->aside ? "' is as it was" : "");
}

static enum tp_status record(struct import_session *s, struct tp_error *err)
{
	pthread_mutex_lock(&s->lock);
	enum tp_status status = open_output(s, err);
	if (status == TP_OK) {
		pthread_mutex_unlock(&s->lock);
		status = read_files(s, err);
		pthread_mutex_lock(&s->lock);
	}
	if (status == TP_OK)
		status = close_store(s, err);
	if (status != TP_OK)
		undo(s);
	else if (s->aside)
		(void)!tp_recordings_remove(s->aside, NULL);
	s->is_whole = status == TP_OK;
	pthread_mutex_unlock(&s->lock);
	return status;
}

static void expand_folders(struct import_session *s, const char *const *files, size_t n)
{
	struct tp_trace_files found;
	tp_trace_folder_expand(&found, files, n, format_named(s), &s->arena);
	s->files = found.paths;
	s->n_files = found.n;
	if (found.chosen)
		tp_message_print(NULL, "reading '%s', the newest of %zu profiles", found.chosen,
				 found.n_choices);
}

enum tp_status tp_import_job_record(char **directory, const struct tp_import_job_options *options,
				    char **files, size_t n, struct tp_error *err)
{
	struct import_session s = {.options = options,
				   .directory = options->output ? tp_strdup(options->output)
								: tp_recordings_new_name(""),
				   .lock = PTHREAD_MUTEX_INITIALIZER};
	struct tp_interrupt interrupt;
	expand_folders(&s, (const char *const *)files, n);
	tp_run_info_make_import(&s.run, s.files, s.n_files, options->label, &s.arena);
	tp_interrupt_start(&interrupt, tidy, &s);
	enum tp_status status = record(&s, err);
	tp_interrupt_stop(&interrupt);
	if (status != TP_OK) {
		fit_next(&s, err);
		free(s.directory);
	} else {
		*directory = s.directory;
	}
	if (s.has_result)
		tp_import_result_release(&s.result);
	free(s.aside);
	tp_arena_release(&s.arena);
	return status;
}
