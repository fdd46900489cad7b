/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof compare: runs two commands alternately until it is known which one is faster. */
#include "cli/options/command.h"

#include "cli/compare/pair_series.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"
#include "trainprof/report/diff_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct compare_options {
	struct tp_pair_series_options series;
	struct tp_output_format format;
	const char *output;
};

static const struct compare_options defaults = {.series = TP_PAIR_SERIES_DEFAULTS,
						.format = {.word = "text"}};

#define AT(member) .offset = offsetof(struct compare_options, member)

static const struct tp_option options[] = {
	TP_PAIR_SERIES_ROWS(offsetof(struct compare_options, series), "number of pairs of runs",
			    "start no new pair after that long"),
	{.name = "seed",
	 .type = TP_OPTION_COUNT,
	 .value = "N",
	 .text = "seed of the random order within pairs",
	 .otherwise = "1",
	 AT(series.seed)},
	TP_OUTPUT_FORMAT_ROWS(offsetof(struct compare_options, format), ""),
	{.letter = 'o',
	 .name = "output",
	 .type = TP_OPTION_TEXT,
	 .value = "DIR",
	 .text = "keep the recordings there",
	 .otherwise = ".trainprof/MMDD-HHMMSS-compare",
	 AT(output)},
	TP_OPTION_END};

/* ---- result ---- */

static void write_json(struct tp_json_writer *w, const struct tp_pair_series *s,
		       const struct tp_run_diff *diff)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-pairs/1.0");
	tp_json_put_string(w, "version", tp_version());
	tp_pair_series_write(w, s, diff);
	tp_json_close(w, '}');
}

static int print_text(const struct tp_cli *cli, const struct tp_pair_series *s,
		      const struct tp_run_diff *diff)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	struct tp_buf text = {0};
	if (style.width > 80)
		style.width = 80;
	tp_page_init(&page, &style);
	for (int side = 0; side < 2; side++) {
		tp_page_addf(&page, TP_PAINT_BOLD, "%s  ", tp_pair_series_sides[side]);
		tp_page_wrap(&page, 3, TP_PAINT_NONE, s->commands[side], 0);
	}
	tp_page_end(&page);
	tp_report_diff_text(&page, diff);
	tp_page_end(&page);
	tp_pair_series_describe(&text, s);
	tp_page_wrap(&page, 0, TP_PAINT_NONE, tp_buf_text(&text), 0);
	int status = tp_output_page(&page);
	tp_buf_release(&text);
	tp_page_release(&page);
	return status;
}

static int print(const struct tp_cli *cli, const struct compare_options *o,
		 const struct tp_pair_series *s, const struct tp_run_diff *diff)
{
	const char *format = tp_output_format(&o->format);
	struct tp_json_writer w = {0};
	if (strcmp(format, "json") == 0) {
		write_json(&w, s, diff);
		return tp_output_buf(&w.out);
	}
	if (!diff)
		return TP_EXIT_OK;
	if (strcmp(format, "text") == 0)
		return print_text(cli, s, diff);
	tp_report_diff_markdown(&w.out, diff);
	tp_buf_putc(&w.out, '\n');
	tp_pair_series_describe(&w.out, s);
	tp_buf_putc(&w.out, '\n');
	return tp_output_buf(&w.out);
}

static int print_pairs(const struct tp_cli *cli, const struct compare_options *o,
		       const struct tp_pair_series *s)
{
	struct tp_arena arena = {0};
	struct tp_run_diff *diff = tp_arena_alloc(&arena, sizeof(*diff));
	tp_pair_series_diff(diff, s, &arena);
	int status = print(cli, o, s, diff);
	tp_arena_release(&arena);
	if (status != TP_EXIT_OK)
		return status;
	return s->state == TP_PAIRS_DIFFERENT || s->state == TP_PAIRS_ALIKE ? TP_EXIT_OK
									    : TP_EXIT_UNDECIDED;
}

static int print_failed(const struct tp_cli *cli, const struct compare_options *o,
			const struct tp_pair_series *s)
{
	tp_pair_series_print_failed(s);
	(void)print(cli, o, s, NULL);
	return TP_EXIT_FILE;
}

static int print_result(const struct tp_cli *cli, const struct compare_options *o,
			const struct tp_pair_series *s)
{
	if (s->failed >= 0)
		return print_failed(cli, o, s);
	if (s->n_pairs)
		return print_pairs(cli, o, s);
	tp_message_print(NULL, "interrupted before the first pair was measured");
	(void)print(cli, o, s, NULL);
	return TP_EXIT_UNDECIDED;
}

/* ---- the command ---- */

static int compare_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct compare_options *o = opts;
	struct tp_error err = {0};
	if (argc != 2) {
		tp_message_print("trainprof compare -- 'CMD A' 'CMD B'",
				 "compare needs two commands, each in quotes");
		return TP_EXIT_USAGE;
	}
	if (tp_pair_series_check_count(o->series.pairs, &err) != TP_OK)
		return tp_message_error_status("compare", &err);
	char *directory = NULL;
	struct tp_pair_series *s = tp_alloc(sizeof(*s));
	tp_pair_run_watch();
	enum tp_status status =
		tp_pair_series_make_directory(&directory, o->output, "-compare", &err);
	tp_pair_series_init(s, &o->series, argv[0], argv[1], directory,
			    !cli->is_quiet && isatty(STDERR_FILENO));
	if (status == TP_OK)
		status = tp_pair_series_run(s, &err);
	int result =
		status == TP_OK ? print_result(cli, o, s) : tp_message_error_status(NULL, &err);
	tp_pair_series_release(s);
	free(s);
	free(directory);
	return result;
}

const struct tp_command tp_cmd_compare = {
	.name = "compare",
	.group = "Compare",
	.synopsis = "[options] -- 'COMMAND A' 'COMMAND B'",
	.summary = "run two commands alternately until it is known which is faster",
	.intro = "Measure two commands of the shell in pairs, in random order within each pair, "
		 "and\n"
		 "compare them: steps if both have them, else the time from start to end. The "
		 "first\n"
		 "run of each does not count. Pairs that other programs disturbed are repeated.\n"
		 "Ctrl-C ends it with the verdict so far. What the programs print is kept beside\n"
		 "their recordings.",
	.examples = "  trainprof compare -- './train --workers 2' './train --workers 4'\n"
		    "  trainprof compare --pairs=5 --json -- 'python3 old.py' 'python3 new.py'",
	.ending =
		"Exit status: 0 decided (different, or alike within the margin), 3 undecided, 4 a\n"
		"program failed.",
	.options = options,
	.storage_size = sizeof(struct compare_options),
	.defaults = &defaults,
	.max_words = 3,
	.exec = compare_exec,
};
