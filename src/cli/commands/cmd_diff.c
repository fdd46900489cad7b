/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof diff: shows the differences between runs, and how sure they are. */
#include "cli/options/command.h"

#include "cli/compare/gate_runs.h"
#include "cli/session/rules_dir.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/output_file.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/text.h"
#include "trainprof/report/diff_text.h"

#include <string.h>
#include <unistd.h>

struct diff_options {
	struct tp_words base;
	struct tp_words now;
	double margin; /* 0 = no gate */
	const char *ignore;
	bool is_paired;
	struct tp_output_format format;
	const char *output;
	struct tp_analysis_session_options how;
};

static const struct diff_options defaults = {.format = {.word = "text"}, .how = {.steps = "auto"}};

#define AT(member) .offset = offsetof(struct diff_options, member)

static const struct tp_option options[] = {
	{.name = "base",
	 .type = TP_OPTION_WORDS,
	 .value = "RUN",
	 .text = "a run before the change; can be repeated",
	 AT(base)},
	{.name = "new",
	 .type = TP_OPTION_WORDS,
	 .value = "RUN",
	 .text = "a run with the change; can be repeated",
	 AT(now)},
	{.name = "paired",
	 .type = TP_OPTION_FLAG,
	 .text = "compare the n-th base run with the n-th new run",
	 AT(is_paired)},
	{.name = "gate",
	 .type = TP_OPTION_PERCENT,
	 .value = "P",
	 .bare = "3%",
	 .text = "exit 1 if slower by more than P, 3 if unknown",
	 .otherwise = "3% when bare",
	 AT(margin)},
	{.name = "ignore",
	 .type = TP_OPTION_TEXT,
	 .value = "LIST",
	 .text = "compare although these differ: workload, machine",
	 AT(ignore)},
	TP_OUTPUT_FORMAT_ROWS(offsetof(struct diff_options, format), ""),
	{TP_OPTION_OUTPUT_FILE, AT(output)},
	TP_READING_ROWS(offsetof(struct diff_options, how)),
	TP_OPTION_END};

/* ---- arguments ---- */

/* BASE [NEW] and --base, --new are two ways to name the same runs. */
static enum tp_status collect_words(struct tp_words *base, struct tp_words *now,
				    const struct diff_options *o, int argc, char **argv,
				    struct tp_error *err)
{
	*base = o->base;
	*now = o->now;
	if (argc && (base->n || now->n)) {
		tp_fail(err, TP_USAGE, "either BASE and NEW, or --base and --new");
		tp_error_next(err, "trainprof help diff");
		return TP_USAGE;
	}
	if (argc)
		base->items[base->n++] = argv[0];
	if (argc > 1)
		now->items[now->n++] = argv[1];
	if (!base->n) {
		tp_fail(err, TP_USAGE, "diff needs a run to compare with");
		tp_error_next(err, "trainprof diff BASE NEW");
		return TP_USAGE;
	}
	if (!now->n)
		now->items[now->n++] = NULL; /* the last recording here */
	if (o->is_paired && base->n != now->n) {
		tp_fail(err, TP_USAGE, "--paired needs as many new runs as base runs");
		tp_error_next(err, "trainprof help diff");
		return TP_USAGE;
	}
	return TP_OK;
}

static enum tp_status read_all(struct tp_gate_runs *runs, const struct tp_words *words,
			       const struct tp_cli *cli, const struct diff_options *o,
			       struct tp_error *err)
{
	enum tp_status status = TP_OK;
	for (size_t i = 0; i < words->n && status == TP_OK; i++)
		status = tp_gate_runs_add(runs, cli, words->items[i], &o->how, err);
	return status;
}

/* ---- printing ---- */

static int print_text(const struct tp_cli *cli, const struct tp_run_diff *diff, bool is_stdout,
		      struct tp_buf *out)
{
	struct tp_report_style style = tp_terminal_style(cli, is_stdout ? STDOUT_FILENO : -1);
	struct tp_page page;
	int status = TP_EXIT_OK;
	if (style.width > 80)
		style.width = 80;
	tp_page_init(&page, &style);
	tp_report_diff_text(&page, diff);
	if (is_stdout)
		status = tp_output_paged(&page);
	else
		tp_buf_add(out, page.out.data, page.out.len);
	tp_page_release(&page);
	return status;
}

static int print(const struct tp_cli *cli, const struct diff_options *o,
		 const struct tp_run_diff *diff)
{
	const char *format = tp_output_format(&o->format);
	bool is_stdout = tp_output_file_is_stdout(o->output);
	struct tp_json_writer w = {0};
	if (strcmp(format, "json") == 0)
		tp_report_diff_json(&w, diff);
	else if (strcmp(format, "markdown") == 0)
		tp_report_diff_markdown(&w.out, diff);
	else {
		int status = print_text(cli, diff, is_stdout, &w.out);
		if (is_stdout)
			return status;
	}
	int status = tp_output_text_to(o->output, tp_buf_text(&w.out), w.out.len);
	tp_buf_release(&w.out);
	return status;
}

/* ---- the command ---- */

static int exit_status(const struct tp_run_diff *diff)
{
	static const int statuses[] = {[TP_GATE_PASS] = TP_EXIT_OK,
				       [TP_GATE_FAIL] = TP_EXIT_BAD,
				       [TP_GATE_UNDECIDED] = TP_EXIT_UNDECIDED};
	return diff->has_gate ? statuses[diff->answer] : TP_EXIT_OK;
}

static int compare(const struct tp_cli *cli, const struct diff_options *o,
		   const struct tp_gate_runs *base, const struct tp_gate_runs *now,
		   const struct tp_rulebook *book, const bool *is_ignored)
{
	enum { WARNINGS_MAX = 4 };
	const char *warnings[WARNINGS_MAX];
	struct tp_arena arena = {0};
	struct tp_run_diff *diff = tp_arena_alloc(&arena, sizeof(*diff));
	struct tp_diff_request request = {
		.base = base->items,
		.n_base = base->n,
		.now = now->items,
		.n_now = now->n,
		.is_paired = o->is_paired,
		.has_gate = o->margin > 0,
		.margin_ratio = o->margin > 0 ? o->margin : TP_GATE_DEFAULT_MARGIN,
		.warnings = warnings,
		.n_warnings =
			tp_rulebook_not_comparable(book, base->items[0]->facts,
						   now->items[0]->facts, warnings, WARNINGS_MAX),
	};
	memcpy(request.is_ignored, is_ignored, sizeof(request.is_ignored));
	tp_run_diff_make(diff, &request, &arena);
	int status = print(cli, o, diff);
	if (status == TP_EXIT_OK)
		status = exit_status(diff);
	tp_arena_release(&arena);
	return status;
}

static int diff_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct diff_options *o = opts;
	struct tp_words base_words;
	struct tp_words now_words;
	struct tp_gate_runs base = {0};
	struct tp_gate_runs now = {0};
	struct tp_rulebook *book = NULL;
	struct tp_error err = {0};
	const struct diff_options *given = cli->given;
	bool is_ignored[TP_N_LIKENESSES] = {false};
	enum tp_status status = tp_gate_runs_parse_ignore(is_ignored, o->ignore, "diff", &err);
	if (status == TP_OK)
		status = collect_words(&base_words, &now_words, o, argc, argv, &err);
	if (status == TP_OK)
		status = read_all(&base, &base_words, cli, o, &err);
	if (status == TP_OK)
		status = read_all(&now, &now_words, cli, o, &err);
	if (status == TP_OK)
		status = tp_gate_runs_refuse_unused(&base, &now, &given->how, true, &err);
	if (status == TP_OK)
		status = tp_rules_dir_rulebook(&book, &o->how.rules, o->how.is_lenient, &err);
	int result = status == TP_OK ? compare(cli, o, &base, &now, book, is_ignored)
				     : tp_message_error_status(NULL, &err);
	if (book)
		tp_rulebook_free(book);
	tp_gate_runs_release(&base);
	tp_gate_runs_release(&now);
	return result;
}

const struct tp_command tp_cmd_diff = {
	.name = "diff",
	.group = "Compare",
	.synopsis = "[options] BASE [NEW] | --base RUN... --new RUN...",
	.summary = "what differs between runs, and how sure that is",
	.intro = "Compare runs: the step and its parts with intervals, what appeared and what is\n"
		 "gone, and whether advice that was followed kept its promise. BASE and NEW are\n"
		 "recordings or report.json files; NEW is the last recording here if left out.\n"
		 "The run is the unit: with one run per side, 2 % are assumed between two runs of\n"
		 "the same program. More runs on each side make smaller changes visible.",
	.examples = "  trainprof diff before after\n"
		    "  trainprof diff --base b1 --base b2 --new n1 --new n2 --gate=3%\n"
		    "  trainprof diff --markdown before.json after.json",
	.ending = "Exit status: 0 whatever it finds; with --gate 1 slower, 3 cannot tell; 4 a run\n"
		  "cannot be read.",
	.options = options,
	.storage_size = sizeof(struct diff_options),
	.defaults = &defaults,
	.max_words = 2,
	.exec = diff_exec,
};
