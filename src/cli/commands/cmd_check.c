/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof check: compares runs with the limits of a project. */
#include "cli/options/command.h"

#include "cli/compare/baseline_store.h"
#include "cli/compare/check_history.h"
#include "cli/compare/check_pairs.h"
#include "cli/compare/gate_runs.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/base/version.h"
#include "trainprof/gate/budget.h"
#include "trainprof/report/budget_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check_options {
	const char *budget;
	const char *baseline;
	const char *ignore;
	const char *inconclusive;
	bool is_history;
	struct tp_check_pairs_options pairs;
	bool is_github;
	const char *junit;
	const char *gitlab;
	const char *sarif;
	struct tp_output_format format;
	struct tp_analysis_session_options how;
};

static const struct check_options defaults = {.format = {.word = "text"},
					      .how = {.steps = "auto"},
					      .pairs = {.series = TP_PAIR_SERIES_DEFAULTS}};
static const char *const inconclusive_words[] = {"pass", "warn", "error", NULL};

#define AT(member) .offset = offsetof(struct check_options, member)

static const struct tp_option options[] = {
	{.name = "budget",
	 .type = TP_OPTION_TEXT,
	 .value = "FILE",
	 .text = "the limits",
	 .otherwise = "trainprof.budget.json here or above",
	 AT(budget)},
	{.name = "baseline",
	 .type = TP_OPTION_TEXT,
	 .value = "RUN",
	 .text = "a baseline or run to compare with",
	 .otherwise = "the budget's",
	 AT(baseline)},
	{.name = "ignore",
	 .type = TP_OPTION_TEXT,
	 .value = "LIST",
	 .text = "compare although these differ: workload, machine",
	 AT(ignore)},
	{.name = "inconclusive",
	 .type = TP_OPTION_CHOICE,
	 .value = "HOW",
	 .text = "if it cannot tell: pass (exit 0), warn (3), error (1)",
	 .otherwise = "budget's, or warn",
	 .choices = inconclusive_words,
	 AT(inconclusive)},
	{.name = "history",
	 .type = TP_OPTION_FLAG,
	 .text = "find the commit since which a repeatedly saved baseline became slower",
	 AT(is_history)},
	{.name = "base",
	 .type = TP_OPTION_TEXT,
	 .value = "COMMAND",
	 .text = "measure pairs of this and the program after --, and check those",
	 AT(pairs.base)},
	TP_PAIR_SERIES_ROWS(offsetof(struct check_options, pairs.series),
			    "with --base: number of pairs of runs",
			    "with --base: start no new pair after that long"),
	{.letter = 'o',
	 .name = "output",
	 .type = TP_OPTION_TEXT,
	 .value = "DIR",
	 .text = "with --base: keep the recordings there",
	 .otherwise = ".trainprof/MMDD-HHMMSS-check",
	 AT(pairs.output)},
	{.name = "github",
	 .type = TP_OPTION_FLAG,
	 .text = "also print annotations for GitHub",
	 AT(is_github)},
	{.name = "junit",
	 .type = TP_OPTION_TEXT,
	 .value = "FILE",
	 .text = "write JUnit XML",
	 AT(junit)},
	{.name = "gitlab",
	 .type = TP_OPTION_TEXT,
	 .value = "FILE",
	 .text = "write GitLab code quality",
	 AT(gitlab)},
	{.name = "sarif",
	 .type = TP_OPTION_TEXT,
	 .value = "FILE",
	 .text = "write SARIF 2.1.0",
	 AT(sarif)},
	TP_OUTPUT_FORMAT_ROWS(offsetof(struct check_options, format), ""),
	TP_READING_ROWS(offsetof(struct check_options, how)),
	TP_OPTION_END};

/* ---- reading ---- */

/* State of a check; zero-initialised is empty. */
struct check {
	struct tp_arena arena;
	struct tp_budget budget;
	struct tp_budget_result result;
	struct tp_gate_runs now;
	struct tp_gate_runs base;
	struct tp_check_pairs pairs; /* with --base; the runs are there */
	bool is_ignored[TP_N_LIKENESSES];
};

/* Finds trainprof.budget.json here or in a directory above. */
static enum tp_status find_budget(struct tp_buf *path, struct tp_error *err)
{
	for (int up = 0; up < 32; up++) {
		tp_buf_clear(path);
		for (int i = 0; i < up; i++)
			tp_buf_puts(path, "../");
		tp_buf_puts(path, "trainprof.budget.json");
		if (access(tp_buf_text(path), F_OK) == 0)
			return TP_OK;
	}
	tp_fail(err, TP_ABSENT, "no trainprof.budget.json here or above");
	tp_error_next(err, "echo '{\"schema\": \"trainprof-budget/1.0\", \"assert\": "
			   "{\"step.time_ns\": {\"max\": \"50 ms\"}}}' >trainprof.budget.json");
	return TP_ABSENT;
}

static enum tp_status read_budget(struct check *c, const char *given, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	struct tp_buf path = {0};
	enum tp_status status = TP_OK;
	if (given)
		tp_buf_puts(&path, given);
	else
		status = find_budget(&path, err);
	if (status == TP_OK)
		status = tp_json_load(&doc, tp_buf_text(&path), err);
	if (status == TP_OK) {
		status = tp_budget_read(&c->budget, doc, &c->arena, err);
		/* A mistake in a budget is misuse, not a file that cannot be read. */
		if (status != TP_OK && err)
			err->status = TP_USAGE;
	}
	tp_json_free(doc);
	tp_buf_release(&path);
	return status;
}

static enum tp_status absent_baseline(const char *name, const char *named_by, struct tp_error *err)
{
	size_t n;
	char **names = tp_baseline_names(&n);
	const char *near = tp_text_closest(name, (const char *const *)names, n);
	tp_fail(err, TP_ABSENT, "no baseline '%s', which %s names%s%s", name, named_by,
		near ? "; nearest: " : "", near ? near : "");
	tp_error_next(err, "trainprof baseline save %s RUN...", name);
	tp_baseline_names_free(names, n);
	return TP_ABSENT;
}

static enum tp_status read_runs(struct check *c, const struct tp_cli *cli,
				const struct check_options *o, int argc, char **argv,
				struct tp_error *err)
{
	const char *baseline = o->baseline ? o->baseline : c->budget.baseline;
	enum tp_status status = TP_OK;
	if (!argc)
		status = tp_gate_runs_add(&c->now, cli, NULL, &o->how, err);
	for (int i = 0; i < argc && status == TP_OK; i++)
		status = tp_gate_runs_add(&c->now, cli, argv[i], &o->how, err);
	const struct check_options *given = cli->given;
	c->budget.baseline = baseline;
	if (status == TP_OK && baseline)
		status = tp_gate_runs_add(&c->base, cli, baseline, &o->how, err);
	if (status == TP_OK)
		return tp_gate_runs_refuse_unused(&c->base, &c->now, &given->how, false, err);
	if (!baseline)
		return status;
	if (status == TP_ABSENT && access(baseline, F_OK) != 0 && !tp_baseline_exists(baseline))
		return absent_baseline(baseline, o->baseline ? "--baseline" : c->budget.path, err);
	return status;
}

/* ---- result ---- */

/* A limit that was not measured never passes, whatever the options are. */
static int status_if_open(const struct check *c, const struct check_options *o)
{
	const char *how = o->inconclusive          ? o->inconclusive
			  : c->budget.inconclusive ? c->budget.inconclusive
						   : "warn";
	if (strcmp(how, "error") == 0)
		return TP_EXIT_BAD;
	if (strcmp(how, "pass") == 0 && !c->result.n_not_measured)
		return TP_EXIT_OK;
	return TP_EXIT_UNDECIDED;
}

static int exit_status(const struct check *c, const struct check_options *o)
{
	if (c->result.n_failed)
		return TP_EXIT_BAD;
	return c->result.n_undecided ? status_if_open(c, o) : TP_EXIT_OK;
}

static enum tp_status write_file(const char *path, struct tp_buf *text, struct tp_error *err)
{
	enum tp_status status = tp_file_write(path, tp_buf_text(text), text->len, err);
	tp_buf_release(text);
	return status;
}

static enum tp_status write_files(const struct check *c, const struct check_options *o,
				  struct tp_error *err)
{
	enum tp_status status = TP_OK;
	struct tp_json_writer w = {0};
	if (o->junit) {
		tp_report_budget_junit(&w.out, &c->result);
		status = write_file(o->junit, &w.out, err);
	}
	if (status == TP_OK && o->gitlab) {
		w = (struct tp_json_writer){0};
		tp_report_budget_gitlab(&w, &c->result);
		status = write_file(o->gitlab, &w.out, err);
	}
	if (status == TP_OK && o->sarif) {
		w = (struct tp_json_writer){0};
		tp_report_budget_sarif(&w, &c->result);
		status = write_file(o->sarif, &w.out, err);
	}
	return status;
}

static int print_text(const struct tp_cli *cli, const struct check *c)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_budget_text(&page, &c->result);
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

static void write_pairs(struct tp_json_writer *w, const struct check *c)
{
	if (!c->pairs.series)
		return;
	tp_json_write_key(w, "pairs");
	tp_json_open(w, '{');
	tp_pair_series_write(w, c->pairs.series, NULL);
	tp_json_close(w, '}');
}

static int print(const struct tp_cli *cli, const struct check_options *o, const struct check *c)
{
	const char *format = tp_output_format(&o->format);
	struct tp_json_writer w = {0};
	if (strcmp(format, "text") == 0) {
		int status = print_text(cli, c);
		if (status != TP_EXIT_OK || !o->is_github)
			return status;
	} else if (strcmp(format, "json") == 0) {
		tp_json_open(&w, '{');
		tp_report_budget_json(&w, &c->result, exit_status(c, o));
		write_pairs(&w, c);
		tp_json_close(&w, '}');
	} else {
		tp_report_budget_markdown(&w.out, &c->result);
	}
	if (o->is_github && strcmp(format, "json") != 0)
		tp_report_budget_github(&w.out, &c->result);
	return tp_output_buf(&w.out);
}

/* Refuses options of another way to check, which would have no effect. Settings may name them:
 * those apply where they can. */
static enum tp_status refuse_unused(const struct check_options *o,
				    const struct check_options *given, int argc,
				    struct tp_error *err)
{
	static const char *const of_history[] = {"history",  "baseline", "budget", "inconclusive",
						 "markdown", "format",   "json",   NULL};
	static const char *const of_pairs[] = {"base",   "pairs",        "margin",   "time",
					       "warmup", "output",       "github",   "junit",
					       "gitlab", "sarif",        "markdown", "format",
					       "json",   "inconclusive", "budget",   NULL};
	static const char *const of_runs[] = {"baseline",     "ignore",  "github",
					      "junit",        "gitlab",  "sarif",
					      "markdown",     "format",  "json",
					      "inconclusive", "budget",  "steps",
					      "skip",         "rank",    "rules",
					      "redact",       "lenient", NULL};
	if (o->is_history && argc)
		return tp_fail(err, TP_USAGE, "RUN has no effect with --history");
	const char *const *used = o->is_history ? of_history : o->pairs.base ? of_pairs : of_runs;
	const char *why = o->is_history ? "has no effect with --history"
			  : o->pairs.base
				  ? "has no effect with --base, which measures both programs"
				  : "needs --base, the program to compare with";
	return tp_option_refuse_unused(options, given, &defaults, used, why, err);
}

/* The baseline that is named by an option, or by the budget. */
static int check_baseline(const struct tp_cli *cli, const struct check_options *o)
{
	struct check c = {0};
	struct tp_error err = {0};
	int result;
	bool has_all = o->baseline && !o->budget;
	enum tp_status status = has_all ? TP_OK : read_budget(&c, o->budget, &err);
	const char *baseline = o->baseline ? o->baseline : c.budget.baseline;
	if (status == TP_OK && !baseline)
		status = tp_fail(&err, TP_USAGE, "--history: the budget names no baseline");
	if (status == TP_OK)
		result = tp_check_history(cli, baseline, tp_output_format(&o->format));
	else
		result = tp_message_error_status(NULL, &err);
	if (result == TP_EXIT_UNDECIDED)
		result = status_if_open(&c, o);
	tp_arena_release(&c.arena);
	return result;
}

/* ---- the command ---- */

/* A pair has failed, or none was finished: nothing can be checked. */
static int report_no_pairs(const struct check *c, const struct check_options *o)
{
	const struct tp_pair_series *series = c->pairs.series;
	int result = series->failed >= 0 ? TP_EXIT_FILE : TP_EXIT_UNDECIDED;
	if (series->failed >= 0)
		tp_pair_series_print_failed(series);
	else
		tp_message_print(NULL, "interrupted before the first pair was measured");
	if (strcmp(tp_output_format(&o->format), "json") == 0) {
		struct tp_json_writer w = {0};
		tp_json_open(&w, '{');
		tp_json_put_string(&w, "schema", "trainprof-check/1.0");
		tp_json_put_string(&w, "version", tp_version());
		tp_json_put_uint(&w, "exit_status", (uint64_t)result);
		write_pairs(&w, c);
		tp_json_close(&w, '}');
		(void)tp_output_buf(&w.out);
	}
	return result;
}

static enum tp_status check_runs(struct check *c, struct tp_error *err)
{
	const struct tp_pair_series *series = c->pairs.series;
	const struct tp_gate_runs *now = series ? &series->sides[1] : &c->now;
	const struct tp_gate_runs *base = series ? &series->sides[0] : &c->base;
	struct tp_budget_runs runs = {.now = now->items,
				      .n_now = now->n,
				      .base = base->items,
				      .n_base = base->n,
				      .is_paired = series != NULL,
				      .is_now_first = series ? series->is_b_first : NULL};
	memcpy(runs.is_ignored, c->is_ignored, sizeof(runs.is_ignored));
	return tp_budget_check(&c->result, &c->budget, &runs, &c->arena, err);
}

static int check(struct check *c, const struct tp_cli *cli, const struct check_options *o, int argc,
		 char **argv)
{
	struct tp_error err = {0};
	enum tp_status status = read_budget(c, o->budget, &err);
	if (status == TP_OK)
		status = tp_gate_runs_parse_ignore(c->is_ignored, o->ignore, "check", &err);
	if (status == TP_OK && o->pairs.base)
		status = tp_check_pairs_run(&c->pairs, &o->pairs, argc, argv,
					    !cli->is_quiet && isatty(STDERR_FILENO), &err);
	else if (status == TP_OK)
		status = read_runs(c, cli, o, argc, argv, &err);
	if (status == TP_OK && c->pairs.series &&
	    (c->pairs.series->failed >= 0 || !c->pairs.series->n_pairs))
		return report_no_pairs(c, o);
	if (status == TP_OK)
		status = check_runs(c, &err);
	if (status != TP_OK)
		return tp_message_error_status(NULL, &err);
	/* The answer is on the screen even if a file cannot be written. */
	int printed = print(cli, o, c);
	if (write_files(c, o, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	return printed == TP_EXIT_OK ? exit_status(c, o) : printed;
}

static int check_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct check_options *o = opts;
	struct check c = {0};
	struct tp_error err = {0};
	if (refuse_unused(o, cli->given, argc, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	if (o->is_history)
		return check_baseline(cli, o);
	int result = check(&c, cli, o, argc, argv);
	tp_gate_runs_release(&c.now);
	tp_gate_runs_release(&c.base);
	tp_check_pairs_release(&c.pairs);
	tp_arena_release(&c.arena);
	return result;
}

const struct tp_command tp_cmd_check = {
	.name = "check",
	.group = "Compare",
	.synopsis = "[options] [RUN...] | --base='COMMAND' -- COMMAND...",
	.summary = "compare runs with the limits in trainprof.budget.json",
	.intro = "Compare runs with a budget: limits on measured values and numbers of findings,\n"
		 "and on ratios to a baseline. RUN is a recording, a report.json or a baseline;\n"
		 "without RUN the last recording here. A value that was not measured never\n"
		 "passes. With --base both programs are measured in pairs first, as `compare` "
		 "does:\n"
		 "on a machine that others use, too, only pairs show small changes.",
	.examples = "  trainprof check prof\n"
		    "  trainprof check --pairs=5 --base='python3 old.py' -- python3 new.py\n"
		    "  trainprof check --history --baseline=nightly\n"
		    "  trainprof check --baseline=main --github --junit=junit.xml run1 run2 run3",
	.ending = "Exit status: 0 within all limits, 1 a limit is exceeded, 2 invalid budget,\n"
		  "3 cannot tell (see --inconclusive), 4 a run cannot be read, or a program that\n"
		  "--pairs starts fails.",
	.options = options,
	.storage_size = sizeof(struct check_options),
	.defaults = &defaults,
	.max_words = TP_MAX_WORDS,
	.exec = check_exec,
};
