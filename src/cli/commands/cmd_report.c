/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof report: prints a recording. */
#include "cli/options/command.h"

#include "cli/job/job_session.h"
#include "cli/session/analysis_session.h"
#include "cli/session/force_recovery.h"
#include "cli/session/job_folder.h"
#include "cli/session/recording_read.h"
#include "cli/session/recordings.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/output_file.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/trust.h"
#include "trainprof/report/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report_options {
	struct tp_output_format format;
	bool is_html;
	const char *output;
	bool is_full;
	const char *section;
	bool wants_schema;
	bool wants_validate;
	const char *job;
	struct tp_analysis_session_options how;
};

static const struct report_options defaults = {.format = {.word = "text"},
					       .how = {.steps = "auto"}};

#define AT(member) .offset = offsetof(struct report_options, member)

static const char *const report_formats[] = {"text", "json", "markdown", "html", NULL};

static const struct tp_option options[] = {
	{.name = "format",
	 .type = TP_OPTION_CHOICE,
	 .value = "WHAT",
	 .text = "text, json, markdown, html",
	 .otherwise = "text",
	 .choices = report_formats,
	 AT(format.word)},
	{.name = "json",
	 .type = TP_OPTION_FLAG,
	 .text = "same as --format=json",
	 AT(format.is_json)},
	{.name = "markdown",
	 .type = TP_OPTION_FLAG,
	 .text = "same as --format=markdown",
	 AT(format.is_markdown)},
	{.name = "html", .type = TP_OPTION_FLAG, .text = "same as --format=html", AT(is_html)},
	{.name = "full",
	 .type = TP_OPTION_FLAG,
	 .text = "all details: intervals, steps, processes, stacks, findings",
	 AT(is_full)},
	{.name = "section",
	 .type = TP_OPTION_CHOICE,
	 .value = "NAME",
	 .text = "only this section of --full: parts, steps, lines, ...",
	 .choices = tp_report_sections,
	 AT(section)},
	{TP_OPTION_OUTPUT_FILE, .is_own = true, AT(output)},
	{.name = "job",
	 .type = TP_OPTION_TEXT,
	 .value = "ID",
	 .text = "which job, if the folder has several",
	 .otherwise = "the last one",
	 AT(job)},
	TP_READING_ROWS(offsetof(struct report_options, how)),
	{.name = "schema",
	 .type = TP_OPTION_FLAG,
	 .text = "print the JSON Schema of the report",
	 AT(wants_schema)},
	{.name = "validate",
	 .type = TP_OPTION_FLAG,
	 .text = "check a report.json: sums, reasons, ids",
	 AT(wants_validate)},
	TP_OPTION_END};

static int validate(const char *path)
{
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	struct tp_buf problems = {0};
	if (tp_json_load(&doc, path, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	size_t n = tp_report_validate(doc, &problems);
	if (!n)
		tp_buf_printf(&problems, "%s: valid, and all sums are exact\n", path);
	int status = tp_output_text(tp_buf_text(&problems));
	tp_buf_release(&problems);
	tp_json_free(doc);
	return status == TP_EXIT_OK && n ? TP_EXIT_BAD : status;
}

/* Validates the report of a recording, or a file. */
static int validate_word(const char *word)
{
	struct tp_error err = {0};
	char *directory = NULL;
	size_t len = word ? strlen(word) : 0;
	if (len > 5 && strcmp(word + len - 5, ".json") == 0)
		return validate(word);
	if (tp_recordings_find(&directory, word, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	struct tp_buf path = {0};
	tp_buf_printf(&path, "%s/report.json", directory);
	int status = validate(tp_buf_text(&path));
	tp_buf_release(&path);
	free(directory);
	return status;
}

static const char *format_of(const struct report_options *o)
{
	return o->is_html ? "html" : tp_output_format(&o->format);
}

static int write_report(const struct tp_cli *cli, const struct report_options *o,
			const struct tp_analysis_session *reading)
{
	const char *format = format_of(o);
	bool is_stdout = tp_output_file_is_stdout(o->output);
	struct tp_report_style style = tp_terminal_style(cli, is_stdout ? STDOUT_FILENO : -1);
	struct tp_error err = {0};
	char *text;
	size_t size;
	style.is_full = o->is_full || o->section;
	style.section = o->section;
	enum tp_status status =
		tp_analysis_session_render(reading, format, &style, &text, &size, &err);
	if (status != TP_OK)
		return tp_message_error_status(NULL, &err);
	bool is_paged = is_stdout && style.is_full && strcmp(format, "text") == 0;
	int result =
		is_paged ? tp_output_paged_text(text) : tp_output_text_to(o->output, text, size);
	free(text);
	return result;
}

/* HTML is not readable in a terminal. */
static bool is_page_on_terminal(const struct report_options *o)
{
	bool is_stdout = tp_output_file_is_stdout(o->output);
	return strcmp(format_of(o), "html") == 0 && is_stdout && isatty(STDOUT_FILENO);
}

/* ---- a job of several ranks ---- */

/* Says which page there is instead: of the first rank in a folder, or of one that a recording
 * holds. */
static int refuse_page(const struct report_options *o, const char *word, bool is_only)
{
	struct tp_error err = {0};
	struct tp_job_members members = {0};
	bool is_one = tp_job_folder_is_one(word);
	bool has_first = is_one && tp_job_members_add(&members, word, &err) == TP_OK && members.n;
	tp_fail(&err, TP_USAGE, "a job of several ranks has no HTML page; each of its ranks has");
	tp_error_next(&err, "trainprof report --html -o %s%s %s",
		      o->output ? o->output : "rank.html", is_only && !is_one ? " --rank=0" : "",
		      has_first ? members.items[0].directory : word);
	tp_job_members_release(&members);
	return tp_message_error_status(NULL, &err);
}

static int report_job(const struct tp_cli *cli, const struct report_options *o,
		      const char *const *words, size_t n_words)
{
	bool is_stdout = tp_output_file_is_stdout(o->output);
	struct tp_report_style style = tp_terminal_style(cli, is_stdout ? STDOUT_FILENO : -1);
	struct tp_error err = {0};
	struct tp_buf text = {0};
	struct tp_job job;
	struct tp_progress_line progress;
	if (strcmp(format_of(o), "html") == 0)
		return refuse_page(o, words[0], n_words == 1);
	tp_progress_start(&progress, cli, "reading", words, n_words);
	enum tp_status read = tp_job_session_read(&job, words, n_words, o->job, &o->how, &err);
	tp_progress_stop(&progress);
	if (read != TP_OK)
		return tp_message_error_status(NULL, &err);
	tp_job_session_render(&text, &job, tp_output_format(&o->format), &style,
			      n_words == 1 ? words[0] : NULL);
	int status = tp_output_text_to(o->output, tp_buf_text(&text), text.len);
	tp_buf_release(&text);
	tp_job_release(&job);
	return status;
}

/* Reports the ranks that a launcher started within one recording. Closes the reading. */
static int report_ranks_within(const struct tp_cli *cli, const struct report_options *o,
			       struct tp_analysis_session *reading)
{
	char *directory = tp_strdup(reading->report.directory);
	const char *only = directory;
	tp_analysis_session_close(reading);
	int status = report_job(cli, o, &only, 1);
	free(directory);
	return status;
}

static int report_recording(const struct tp_cli *cli, const struct report_options *o,
			    const char *word)
{
	struct tp_error err = {0};
	struct tp_analysis_session reading;
	tp_force_recover(word, cli->is_quiet);
	if (tp_recording_read(&reading, cli, word, &o->how, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	if (reading.n_ranks && !o->how.rank)
		return report_ranks_within(cli, o, &reading);
	int status = write_report(cli, o, &reading);
	tp_analysis_session_close(&reading);
	return status;
}

static bool is_bad_usage(const struct report_options *o)
{
	if (o->section && strcmp(format_of(o), "text") != 0)
		tp_message_print("trainprof report --json   (one document has all of it)",
				 "--section is for text");
	else if (is_page_on_terminal(o))
		tp_message_print("trainprof report --html -o report.html",
				 "a page is for a browser, not for a terminal");
	else
		return false;
	return true;
}

static int report_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct report_options *o = opts;
	const char *word = argc ? argv[0] : NULL;
	if (o->wants_schema)
		return tp_output_text(tp_report_schema());
	if (o->wants_validate)
		return validate_word(word);
	if (is_bad_usage(o))
		return TP_EXIT_USAGE;
	if (argc > 1)
		return report_job(cli, o, (const char *const *)argv, (size_t)argc);
	char *last = word ? NULL : tp_recordings_last_job();
	const char *only = last ? last : word;
	int status = last || (word && tp_job_folder_is_one(word)) ? report_job(cli, o, &only, 1)
								  : report_recording(cli, o, word);
	free(last);
	return status;
}

const struct tp_command tp_cmd_report = {
	.name = "report",
	.group = "Read",
	.synopsis = "[options] [RUN...]",
	.summary = "print a recording as text, JSON, Markdown or HTML",
	.intro =
		"Print the report of a recording: of RUN, a directory or its report.json, or of\n"
		"the last one here. Several recordings, or a folder that holds them, are ranks of\n"
		"one job: they are joined by their steps, and the rank that comes last is named.",
	.examples = "  trainprof report --full\n"
		    "  trainprof report --markdown >> \"$GITHUB_STEP_SUMMARY\"\n"
		    "  trainprof report --html -o report.html\n"
		    "  trainprof report --json -o report.json prof\n"
		    "  trainprof report prof/rank-*",
	.options = options,
	.storage_size = sizeof(struct report_options),
	.defaults = &defaults,
	.max_words = SIZE_MAX,
	.exec = report_exec,
};
