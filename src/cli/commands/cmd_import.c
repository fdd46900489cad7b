/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof import: makes a recording of traces that other tools wrote, and reports on it. */
#include "cli/options/command.h"

#include "cli/session/analysis_session.h"
#include "cli/session/force_recovery.h"
#include "cli/session/import_job.h"
#include "cli/session/recordings.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"

#include "trainprof/import/import.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const from_choices[] = {"auto",       "kineto",    "nsys",       "xprof",
					   "xprof-json", "rocpd",     "rocprof",    "rpd",
					   "ascend",     "ascend-db", "ascend-csv", "timeline",
					   "horovod",    "straggler", "lanes",      NULL};
static const struct tp_import_job_options defaults = {.from = "auto"};

#define AT(member) .offset = offsetof(struct tp_import_job_options, member)

static const struct tp_option options[] = {
	{.name = "list",
	 .type = TP_OPTION_FLAG,
	 .text = "print the formats, what each keeps and loses",
	 AT(wants_list)},
	{.name = "from",
	 .type = TP_OPTION_CHOICE,
	 .value = "FORMAT",
	 .text = "auto, or a name that --list prints",
	 .otherwise = "auto",
	 .choices = from_choices,
	 AT(from)},
	{.name = "device-lane",
	 .type = TP_OPTION_TEXT,
	 .value = "GLOB",
	 .text = "in JSON of an unknown tool: lanes (PROCESS/THREAD) of devices",
	 AT(device_lane)},
	{.name = "python",
	 .type = TP_OPTION_FLAG,
	 .text = "keep all Python functions, not only the outermost",
	 AT(keeps_python)},
	{TP_OPTION_OUTPUT, AT(output)},
	{TP_OPTION_LABEL, .otherwise = "file name", AT(label)},
	{TP_OPTION_FORCE, AT(force)},
	TP_OPTION_END};

enum { COLUMN_FORMAT = 12, COLUMN_TEXT = 19 };

static void print_words(struct tp_page *page, const char *name, const char *text)
{
	tp_page_column(page, COLUMN_FORMAT);
	tp_page_add(page, TP_PAINT_DIM, name);
	tp_page_column(page, COLUMN_TEXT);
	tp_page_wrap(page, COLUMN_TEXT, TP_PAINT_NONE, text, 0);
}

static int list_formats(const struct tp_cli *cli)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	const struct tp_import_format_info *format;
	struct tp_page page;
	tp_page_init(&page, &style);
	for (size_t i = 0; (format = tp_import_format_info(i)); i++) {
		tp_page_addf(&page, TP_PAINT_BOLD, "%s  ", format->name);
		tp_page_column(&page, COLUMN_FORMAT);
		tp_page_wrap(&page, COLUMN_FORMAT, TP_PAINT_NONE, format->summary, 0);
		print_words(&page, "keeps", format->keeps);
		print_words(&page, "loses", format->loses);
	}
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

/* Prints the text of `report`, and writes report.json next to the records. */
static int report(const struct tp_cli *cli, const char *directory)
{
	const struct tp_analysis_session_options how = {0};
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_analysis_session reading;
	struct tp_error err = {0};
	char *text = NULL;
	size_t size = 0;
	if (tp_analysis_session_open(&reading, directory, &how, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	enum tp_status done =
		tp_analysis_session_render(&reading, "text", &style, &text, &size, &err);
	int status = done == TP_OK ? tp_output_text(text) : tp_message_error_status(NULL, &err);
	if (tp_analysis_session_save(&reading, &err) != TP_OK)
		status = tp_message_error_status(NULL, &err);
	tp_analysis_session_close(&reading);
	free(text);
	return status;
}

static int import_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct tp_import_job_options *o = opts;
	struct tp_error err = {0};
	char *directory = NULL;
	if (o->wants_list)
		return list_formats(cli);
	if (!argc) {
		tp_message_print(
			"trainprof import trace.json.gz   (formats: trainprof import --list)",
			"import needs a file");
		return TP_EXIT_USAGE;
	}
	if (o->output)
		tp_force_recover(o->output, cli->is_quiet);
	struct tp_progress_line progress;
	tp_progress_start(&progress, cli, "importing", (const char *const *)argv, (size_t)argc);
	enum tp_status done = tp_import_job_record(&directory, o, argv, (size_t)argc, &err);
	tp_progress_stop(&progress);
	if (done != TP_OK)
		return tp_message_error_status(NULL, &err);
	tp_recordings_set_last(directory);
	int status = report(cli, directory);
	free(directory);
	return status;
}

const struct tp_command tp_cmd_import = {
	.name = "import",
	.group = "Exchange",
	.synopsis = "[options] FILE|FOLDER...",
	.summary = "make a recording of traces that other tools wrote",
	.intro = "Read traces of torch.profiler (Kineto or Chrome JSON, also packed), nsys, XProf\n"
		 "(JAX, TensorFlow), rocprofv3, rocmProfileData, Ascend's profiler, TensorFlow 1,\n"
		 "Horovod, or straggler timelines of jobs, of one or more ranks of one job, and\n"
		 "print the diagnosis that a run would get.",
	.examples = "  trainprof import worker0.pt.trace.json.gz\n"
		    "  trainprof import -o job rank0.json.gz rank1.json.gz\n"
		    "  trainprof import t.nsys-rep   (where nsys is installed)\n"
		    "  trainprof import logdir   (of jax.profiler, rocprofv3 or torch_npu)",
	.options = options,
	.storage_size = sizeof(struct tp_import_job_options),
	.defaults = &defaults,
	.max_words = SIZE_MAX,
	.exec = import_exec,
};
