/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the recording that a command was asked for. */
#include "recording_read.h"

#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "recordings.h"

#include "trainprof/base/text.h"

#include <stdlib.h>
#include <sys/stat.h>

bool tp_recording_holds(const char *path)
{
	char *directory = NULL;
	bool is_found = tp_recordings_find(&directory, path, NULL) == TP_OK;
	free(directory);
	return is_found;
}

bool tp_recording_is_path(const char *word)
{
	struct stat info;
	uint64_t number;
	return !tp_text_parse_count(word, &number) && stat(word, &info) == 0;
}

static enum tp_status find_and_open(struct tp_analysis_session *reading, const char *word,
				    const struct tp_analysis_session_options *options,
				    struct tp_error *err)
{
	char *directory = NULL;
	*reading = (struct tp_analysis_session){0};
	enum tp_status status = tp_recordings_find(&directory, word, err);
	if (status == TP_OK)
		status = tp_analysis_session_open(reading, directory, options, err);
	if (status == TP_OK)
		reading->directory = directory;
	else
		free(directory);
	return status;
}

static void warn_partial(const struct tp_analysis_session *reading)
{
	const char *directory = reading->report.directory;
	size_t n = reading->profile.n_steps;
	if (!reading->trace.is_partial)
		return;
	if (n)
		tp_message_print(NULL, "%s was not closed properly; using %zu complete step%s",
				 directory, n, n == 1 ? "" : "s");
	else
		tp_message_print(NULL,
				 "%s was not closed properly; using what was written until then",
				 directory);
}

enum tp_status tp_recording_read(struct tp_analysis_session *reading, const struct tp_cli *cli,
				 const char *word,
				 const struct tp_analysis_session_options *options,
				 struct tp_error *err)
{
	struct tp_progress_line progress;
	const char *subject = word ? word : "the last recording";
	tp_progress_start(&progress, cli, "reading", &subject, 1);
	enum tp_status status = find_and_open(reading, word, options, err);
	tp_progress_stop(&progress);
	if (status == TP_OK && !cli->is_quiet)
		warn_partial(reading);
	return status;
}
