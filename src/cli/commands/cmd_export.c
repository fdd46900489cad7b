/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof export: writes a recording in a format of another program. */
#include "cli/options/command.h"

#include "cli/job/job_session.h"
#include "cli/session/analysis_session.h"
#include "cli/session/recording_read.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/output_file.h"
#include "cli/terminal/progress.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/report/export.h"
#include "trainprof/report/job_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct export_options {
	const char *to;
	const char *output;
	bool wants_list;
	struct tp_analysis_session_options how;
};

static const struct export_options defaults = {.how = {.steps = "auto"}};

#define AT(member) .offset = offsetof(struct export_options, member)

static const struct tp_option options[] = {
	{.letter = 't',
	 .name = "to",
	 .type = TP_OPTION_TEXT,
	 .value = "FORMAT",
	 .text = "a word of --list",
	 AT(to)},
	{TP_OPTION_OUTPUT_FILE, .is_own = true, AT(output)},
	{.name = "list", .type = TP_OPTION_FLAG, .text = "list the formats", AT(wants_list)},
	TP_READING_ROWS(offsetof(struct export_options, how)),
	TP_OPTION_END};

/* Tables of a job are several files, and a job may exist without a recording. */
#define PARQUET "parquet"

static int list_formats(void)
{
	struct tp_buf out = {0};
	for (const struct tp_export_format *const *f = tp_export_list(); *f; f++)
		tp_buf_printf(&out, "%-12s %-40s %s\n", (*f)->name, (*f)->summary, (*f)->opens);
	tp_buf_printf(&out, "%-12s %-40s %s\n", PARQUET, "tables of a job's ranks, steps, places",
		      "DuckDB, Spark, pandas");
	return tp_output_buf(&out);
}

static int refuse_format(const char *word)
{
	enum { MAX_FORMATS = 32 };
	const char *names[MAX_FORMATS];
	size_t n = 0;
	for (const struct tp_export_format *const *f = tp_export_list(); *f && n < MAX_FORMATS; f++)
		names[n++] = (*f)->name;
	names[n < MAX_FORMATS ? n++ : n - 1] = PARQUET;
	const char *nearest = word ? tp_text_closest(word, names, n) : NULL;
	struct tp_buf next = {0};
	tp_buf_printf(&next, "trainprof export %s%s", nearest ? "--to=" : "--list",
		      nearest ? nearest : "");
	if (word)
		tp_message_print(tp_buf_text(&next), "unknown format '%s'%s%s", word,
				 nearest ? "; nearest: " : "", nearest ? nearest : "");
	else
		tp_message_print(tp_buf_text(&next), "export needs a format");
	tp_buf_release(&next);
	return TP_EXIT_USAGE;
}

static int refuse_terminal(const struct tp_export_format *format)
{
	struct tp_buf next = {0};
	tp_buf_printf(&next, "trainprof export --to=%s -o profile.%s", format->name,
		      format->ending);
	tp_message_print(tp_buf_text(&next), "%s is not for a terminal", format->name);
	tp_buf_release(&next);
	return TP_EXIT_USAGE;
}

/* No progress is drawn into output on the same terminal. */
static enum tp_status write_export(const struct tp_cli *cli, const struct export_options *o,
				   const struct tp_export_format *format,
				   const struct tp_report *report, struct tp_error *err)
{
	struct tp_output_file file;
	struct tp_progress_line progress = {0};
	enum tp_status status = tp_output_file_open(&file, o->output, err);
	if (status != TP_OK)
		return status;
	if (!isatty(fileno(file.stream)))
		tp_progress_start(&progress, cli, "writing", &format->name, 1);
	status = format->write(report, file.stream, err);
	status = tp_output_file_close(&file, status, err);
	tp_progress_stop(&progress);
	return status;
}

static enum tp_status write_table(const struct tp_job *job, const char *folder,
				  const struct tp_job_table *table, struct tp_error *err)
{
	struct tp_output_file file;
	char *path = tp_asprintf("%s/%s", folder, table->file);
	enum tp_status status = tp_output_file_open(&file, path, err);
	if (status == TP_OK)
		status = tp_output_file_close(&file, table->write(job, file.stream, err), err);
	free(path);
	return status;
}

static int export_job(const struct tp_cli *cli, const struct export_options *o, int argc,
		      char **argv)
{
	struct tp_error err = {0};
	struct tp_progress_line progress;
	struct tp_job job;
	if (!argc || tp_output_file_is_stdout(o->output)) {
		tp_message_print("trainprof export --to=parquet -o tables prof",
				 "tables need the folder of a job, and -o with a folder for them");
		return TP_EXIT_USAGE;
	}
	tp_progress_start(&progress, cli, "exporting", (const char *const *)argv, (size_t)argc);
	enum tp_status status = tp_job_session_read(&job, (const char *const *)argv, (size_t)argc,
						    NULL, &o->how, &err);
	tp_progress_stop(&progress);
	if (status != TP_OK)
		return tp_message_error_status(NULL, &err);
	if (mkdir(o->output, 0700) != 0 && errno != EEXIST)
		status = tp_fail_errno(&err, errno, "cannot make '%s'", o->output);
	for (size_t i = 0; i < TP_N_JOB_TABLES && status == TP_OK; i++)
		status = write_table(&job, o->output, &tp_job_tables[i], &err);
	tp_job_release(&job);
	return status == TP_OK ? TP_EXIT_OK : tp_message_error_status(NULL, &err);
}

static int export_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct export_options *o = opts;
	struct tp_error err = {0};
	struct tp_analysis_session reading;
	if (o->wants_list)
		return list_formats();
	if (o->to && strcmp(o->to, PARQUET) == 0)
		return export_job(cli, o, argc, argv);
	if (argc > 1) {
		tp_message_print(NULL, "unexpected argument '%s'", argv[1]);
		return TP_EXIT_USAGE;
	}
	const struct tp_export_format *format = o->to ? tp_export_find(o->to) : NULL;
	if (!format)
		return refuse_format(o->to);
	if (format->is_binary && tp_output_file_is_stdout(o->output) && isatty(STDOUT_FILENO))
		return refuse_terminal(format);
	if (tp_recording_read(&reading, cli, argc ? argv[0] : NULL, &o->how, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	enum tp_status status = write_export(cli, o, format, &reading.report, &err);
	tp_analysis_session_close(&reading);
	return status == TP_OK ? TP_EXIT_OK : tp_message_error_status(NULL, &err);
}

const struct tp_command tp_cmd_export = {
	.name = "export",
	.group = "Read",
	.synopsis = "--to=FORMAT [options] [RUN...]",
	.summary = "write a recording in a format that other programs open",
	.intro = "Write a recording for other programs: flame graphs, trace viewers, monitoring,\n"
		 "spreadsheets. Times are in ns and add up to those of the report.",
	.examples = "  trainprof export --to=speedscope -o profile.speedscope.json\n"
		    "  trainprof export --to=pprof -o profile.pb.gz prof\n"
		    "  trainprof export --to=parquet -o tables job.tpj\n"
		    "  trainprof export --to=openmetrics -o /var/lib/node_exporter/train.prom",
	.options = options,
	.storage_size = sizeof(struct export_options),
	.defaults = &defaults,
	.max_words = SIZE_MAX,
	.exec = export_exec,
};
