/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof rules: lists, shows, checks and tests the rules. */
#include "cli/options/command.h"

#include "cli/guide/guide.h"
#include "cli/session/analysis_session.h"
#include "cli/session/rules_dir.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/advise/advise.h"
#include "trainprof/advise/technique.h"
#include "trainprof/analyze/analyze.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rules_options {
	struct tp_words rules;
	bool is_lenient;
};

#define AT(member) .offset = offsetof(struct rules_options, member)

static const struct tp_option options[] = {{TP_OPTION_RULES, AT(rules)},
					   {TP_OPTION_LENIENT, AT(is_lenient)},
					   TP_OPTION_END};

/* The output of a verb is collected first, so that a failure half-way prints no partial output. */
struct rules_job {
	const struct tp_rulebook *book;
	const char *rule;        /* or NULL */
	struct tp_buf *problems; /* found while loading and checking, one line each */
	FILE *out;
	struct tp_error *err;
};

static int rules_list(const struct rules_job *job)
{
	return tp_rulebook_print(job->book, NULL, job->out, job->err) == TP_OK ? TP_EXIT_OK : -1;
}

static int rules_show(const struct rules_job *job)
{
	if (!job->rule) {
		tp_fail(job->err, TP_USAGE, "rules show needs a rule");
		tp_error_next(job->err, "trainprof rules list");
		return -1;
	}
	return tp_rulebook_print(job->book, job->rule, job->out, job->err) == TP_OK ? TP_EXIT_OK
										    : -1;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Loading has checked each file and skipped invalid ones; this checks all of them together. */
static int rules_check(const struct rules_job *job)
{
	size_t n_rules = tp_rulebook_count(job->book);
	size_t n_techniques = tp_rulebook_catalogue(job->book)->n_techniques;
	tp_rulebook_check(job->book, job->problems);
	size_t n = count_lines(tp_buf_text(job->problems));
	tp_message_print_lines(tp_buf_text(job->problems));
	fprintf(job->out, "%zu rule%s, %zu technique%s, ", n_rules, n_rules == 1 ? "" : "s",
		n_techniques, n_techniques == 1 ? "" : "s");
	if (n)
		fprintf(job->out, "%zu problem%s\n", n, n == 1 ? "" : "s");
	else
		fputs("no problem\n", job->out);
	return n ? TP_EXIT_BAD : TP_EXIT_OK;
}

static int rules_test(const struct rules_job *job)
{
	struct tp_rule_test_result result = {0};
	if (tp_rulebook_test(job->book, job->rule, job->out, &result, job->err) != TP_OK)
		return -1;
	fprintf(job->out, "rules: %zu passed, %zu failed, 0 skipped\n", result.n_passed,
		result.n_failed);
	return result.n_failed ? TP_EXIT_BAD : TP_EXIT_OK;
}

static const struct {
	const char *name;
	int (*run)(const struct rules_job *job);
} subcommands[] = {{"list", rules_list},
		   {"show", rules_show},
		   {"check", rules_check},
		   {"test", rules_test}};

enum { N_SUBCOMMANDS = sizeof(subcommands) / sizeof(subcommands[0]) };

static size_t find_subcommand(const char *word)
{
	size_t i = 0;
	while (i < N_SUBCOMMANDS && strcmp(subcommands[i].name, word) != 0)
		i++;
	return i;
}

static int unknown_subcommand(const char *word)
{
	const char *names[N_SUBCOMMANDS];
	for (size_t i = 0; i < N_SUBCOMMANDS; i++)
		names[i] = subcommands[i].name;
	const char *near = word ? tp_text_closest(word, names, N_SUBCOMMANDS) : NULL;
	char next[64];
	snprintf(next, sizeof(next), "trainprof rules %s", near ? near : "list");
	if (word)
		tp_message_print(next, "unknown action '%s'; use list, show, check or test", word);
	else
		tp_message_print(next, "rules needs an action: list, show, check or test");
	return TP_EXIT_USAGE;
}

/* A rule is printed for readers; lists and failures are printed for grep, one line each. */
static int print_text(const struct tp_cli *cli, size_t verb, char *text)
{
	if (subcommands[verb].run != rules_show)
		return tp_output_text(text);
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_output_add_rule(&page, text);
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

static int run_subcommand(const struct tp_cli *cli, size_t verb, const struct tp_rulebook *book,
			  const char *rule, struct tp_buf *problems)
{
	struct tp_error err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	if (!memory)
		tp_oom(size);
	const struct rules_job job = {
		.book = book, .rule = rule, .problems = problems, .out = memory, .err = &err};
	int status = subcommands[verb].run(&job);
	fclose(memory);
	if (status < 0) {
		if (err.status == TP_ABSENT && !err.next[0])
			tp_error_next(&err, "trainprof rules list");
		tp_message_error(NULL, &err);
		/* An unknown rule is a wrong argument, not a missing file. */
		status = err.status == TP_ABSENT ? TP_EXIT_USAGE : tp_exit_status(&err);
	} else {
		int printed = print_text(cli, verb, text);
		status = printed == TP_EXIT_OK ? status : printed;
	}
	free(text);
	return status;
}

/* Patterns have no verb of their own: `check` checks them, too. */
static enum tp_status check_patterns(const struct tp_rules_dirs *dirs, struct tp_buf *problems,
				     struct tp_error *err)
{
	struct tp_patterns *patterns = NULL;
	enum tp_status status = tp_rules_dir_load_patterns(&patterns, dirs, err);
	if (status == TP_OK)
		status = tp_patterns_check(patterns, err);
	tp_patterns_free(patterns);
	if (status != TP_PARSE)
		return status;
	tp_buf_printf(problems, "%s\n", err->text);
	return TP_OK;
}

/* `check` reports every mistake, so it loads all that is valid. */
static enum tp_status load(struct tp_rulebook **book, const struct rules_options *o, bool is_check,
			   struct tp_buf *problems, struct tp_error *err)
{
	struct tp_rules_dirs dirs;
	bool is_lenient = is_check || o->is_lenient;
	enum tp_status status = tp_rules_dir_find(&dirs, &o->rules, err);
	if (status == TP_OK)
		status = tp_rules_dir_load_rest(book, &dirs, is_lenient ? problems : NULL, err);
	if (status == TP_OK && is_check)
		status = check_patterns(&dirs, problems, err);
	if (!is_check)
		tp_message_print_lines(tp_buf_text(problems));
	tp_rules_dir_release(&dirs);
	return status;
}

static int rules_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct rules_options *o = opts;
	struct tp_rulebook *book = NULL;
	struct tp_buf problems = {0};
	struct tp_error err = {0};
	size_t verb = argc ? find_subcommand(argv[0]) : N_SUBCOMMANDS;
	int result;
	if (verb == N_SUBCOMMANDS)
		return unknown_subcommand(argc ? argv[0] : NULL);
	enum tp_status status =
		load(&book, o, subcommands[verb].run == rules_check, &problems, &err);
	if (status == TP_OK) {
		result = run_subcommand(cli, verb, book, argc > 1 ? argv[1] : NULL, &problems);
	} else {
		tp_message_error(NULL, &err);
		result = status == TP_PARSE ? TP_EXIT_BAD : tp_exit_status(&err);
	}
	tp_buf_release(&problems);
	tp_rulebook_free(book);
	return result;
}

const struct tp_command tp_cmd_rules = {
	.name = "rules",
	.group = "Other",
	.synopsis = "list|show|check|test [--rules=DIR] [RULE]",
	.summary = "list, show, check and test rules",
	.intro = "list: all rules. show: one, with conditions and sources. check: all that is "
		 "wrong\n"
		 "with rules, techniques and patterns. test: run the cases inside the rules.",
	.examples = "  trainprof rules show input/loads-in-trainer\n"
		    "  trainprof rules test --rules my-rules",
	.ending = "Exit status: 1 when a rule is invalid or a case fails.",
	.options = options,
	.storage_size = sizeof(struct rules_options),
	.max_words = 2,
	.exec = rules_exec,
};
