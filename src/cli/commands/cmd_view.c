/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof view: browses a recording. */
#include "cli/options/command.h"

#include "cli/compare/gate_runs.h"
#include "cli/live/viewer.h"
#include "cli/session/analysis_session.h"
#include "cli/session/native_lines.h"
#include "cli/session/recording_read.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/run_diff.h"
#include "trainprof/report/cell_grid.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PICTURE_LINES = 24 };

struct view_options {
	bool is_plain;
	const char *keys;
	const char *picture;
	uint64_t lines;
	struct tp_analysis_session_options how;
};

static const char *const pictures[] = {"text", "markdown", "svg", NULL};

static const struct view_options defaults = {.how = {.steps = "auto"}, .lines = PICTURE_LINES};

#define AT(member) .offset = offsetof(struct view_options, member)

static const struct tp_option options[] = {
	{.name = "plain",
	 .type = TP_OPTION_FLAG,
	 .text = "print each screen as lines, for screen readers",
	 AT(is_plain)},
	{.name = "keys",
	 .type = TP_OPTION_TEXT,
	 .value = "KEYS",
	 .text = "keys to press first, such as 4<Enter><Down>",
	 AT(keys)},
	{.name = "print",
	 .type = TP_OPTION_CHOICE,
	 .value = "WHAT",
	 .text = "print the screen and end: text, markdown, svg",
	 .choices = pictures,
	 AT(picture)},
	{.name = "lines",
	 .type = TP_OPTION_COUNT,
	 .value = "N",
	 .text = "lines of a printed screen",
	 .otherwise = "24",
	 .is_rare = true,
	 AT(lines)},
	TP_READING_ROWS(offsetof(struct view_options, how)),
	TP_OPTION_END};

/* ---- one run, or two ---- */

struct viewed_runs {
	struct tp_analysis_session reading;
	struct tp_gate_runs base;
	struct tp_gate_runs now;
	struct tp_arena arena;
	struct tp_run_diff *diff;
};

static bool combine(void *context, const bool *is_chosen, double *low, double *value, double *high)
{
	const struct viewed_runs *opened = context;
	return tp_advise_combine(opened->reading.book, &opened->reading.profile,
				 &opened->reading.findings, is_chosen, low, value, high);
}

static bool find_lines(void *context, const char *module, const uint64_t *addresses, size_t n,
		       char *file, size_t size, uint32_t *lines)
{
	const struct viewed_runs *runs = context;
	const struct tp_native_lines_query query = {
		.module = module,
		.addresses = addresses,
		.n = n,
		.older_than_ns = runs->reading.trace.run.started_wall_ns,
	};
	return tp_native_lines_find(&query, file, size, lines);
}

static enum tp_status open_diff(struct viewed_runs *opened, const struct tp_cli *cli,
				const struct view_options *o, char **argv, struct tp_error *err)
{
	const struct tp_cli quiet = {.is_quiet = true}; /* the second run was read before */
	enum tp_status status = tp_gate_runs_add(&opened->base, cli, argv[0], &o->how, err);
	if (status == TP_OK)
		status = tp_gate_runs_add(&opened->now, &quiet, argv[1], &o->how, err);
	if (status != TP_OK)
		return status;
	opened->diff = tp_arena_alloc(&opened->arena, sizeof(*opened->diff));
	const struct tp_diff_request request = {
		.base = opened->base.items,
		.n_base = opened->base.n,
		.now = opened->now.items,
		.n_now = opened->now.n,
		.margin_ratio = TP_GATE_DEFAULT_MARGIN,
	};
	tp_run_diff_make(opened->diff, &request, &opened->arena);
	return TP_OK;
}

static void close_all(struct viewed_runs *opened)
{
	tp_analysis_session_close(&opened->reading);
	tp_gate_runs_release(&opened->base);
	tp_gate_runs_release(&opened->now);
	tp_arena_release(&opened->arena);
}

/* ---- printing ---- */

static int print_screen(const struct tp_cli *cli, const struct view_options *o,
			struct tp_view *view)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_grid grid;
	struct tp_buf out = {0};
	size_t lines = o->lines < 500 ? (size_t)o->lines : 500;
	tp_grid_init(&grid, style.width, lines, style.is_ascii);
	tp_view_draw(view, &grid);
	if (strcmp(o->picture, "svg") == 0)
		tp_grid_add_image(&out, &grid, "trainprof view");
	else if (strcmp(o->picture, "markdown") == 0)
		tp_view_add_markdown(view, &out);
	else
		tp_grid_add_text(&out, &grid);
	tp_grid_release(&grid);
	return tp_output_buf(&out);
}

/* Without a terminal there is no user: print the report instead. */
static int print_report(const struct tp_cli *cli, const struct tp_analysis_session *reading)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_error err = {0};
	char *text;
	size_t size;
	int status = TP_EXIT_OK;
	if (tp_analysis_session_render(reading, "text", &style, &text, &size, &err) == TP_OK)
		status = tp_output_text(text);
	else
		status = tp_message_error_status(NULL, &err);
	free(text);
	return status;
}

static int show(const struct tp_cli *cli, const struct view_options *o, struct viewed_runs *opened)
{
	const struct tp_view_input input = {
		.report = &opened->reading.report,
		.diff = opened->diff,
		.combine = opened->reading.has_findings ? combine : NULL,
		.find_lines = find_lines,
		.context = opened,
	};
	struct tp_error err = {0};
	struct tp_view *view = tp_view_new(&input);
	int status;
	if (o->keys && tp_viewer_handle_keys(view, o->keys, &err) != TP_OK)
		status = tp_message_error_status(NULL, &err);
	else if (o->picture)
		status = print_screen(cli, o, view);
	else if (o->is_plain)
		status = tp_viewer_run_plain(cli, view);
	else if (tp_viewer_has_terminal())
		status = tp_viewer_run(cli, view);
	else
		status = print_report(cli, &opened->reading);
	tp_view_free(view);
	return status;
}

static int view_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct view_options *o = opts;
	struct viewed_runs opened = {0};
	struct tp_error err = {0};
	const char *word = argc > 1 ? argv[1] : argc ? argv[0] : NULL;
	enum tp_status status = tp_recording_read(&opened.reading, cli, word, &o->how, &err);
	if (status == TP_OK && argc > 1)
		status = open_diff(&opened, cli, o, argv, &err);
	int result;
	if (status != TP_OK) {
		result = tp_message_error_status(NULL, &err);
	} else {
		/* Reading took twice the memory that browsing needs, perhaps for hours. */
		tp_memory_trim();
		result = show(cli, o, &opened);
	}
	close_all(&opened);
	return result;
}

const struct tp_command tp_cmd_view = {
	.name = "view",
	.group = "Read",
	.synopsis = "[options] [RUN [RUN]]",
	.summary = "look around in a recording, on the terminal",
	.intro =
		"Show a recording in screens: where a step goes, steps, processes, stacks, GPUs,\n"
		"communication, advice. Enter opens a row, down to source lines and evidence; Esc\n"
		"goes back; ? lists the keys; q quits. With two RUNs the second is shown, and how\n"
		"it differs from the first. Where stdin or stdout is no terminal, the report is\n"
		"printed.",
	.examples = "  trainprof view\n"
		    "  trainprof view before after\n"
		    "  trainprof view --plain\n"
		    "  trainprof view --keys='4<Enter>' --print=svg > stacks.svg",
	.ending = "Exit status: 0 shown; 4: no such recording, or it cannot be read.",
	.options = options,
	.storage_size = sizeof(struct view_options),
	.defaults = &defaults,
	.max_words = 2,
	.exec = view_exec,
};
