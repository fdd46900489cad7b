/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof explain: shows why a rule fired, stayed quiet or could not be judged. */
#include "cli/options/command.h"

#include "cli/session/analysis_session.h"
#include "cli/session/recording_read.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/report/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct explain_options {
	bool is_all;
	bool is_not_judged;
	struct tp_analysis_session_options how;
};

static const struct explain_options defaults = {.how = {.steps = "auto"}};

#define AT(member) .offset = offsetof(struct explain_options, member)

static const struct tp_option options[] = {
	{.name = "all", .type = TP_OPTION_FLAG, .text = "also rules that do not apply", AT(is_all)},
	{.name = "not-judged",
	 .type = TP_OPTION_FLAG,
	 .text = "only rules that could not be checked for lack of data",
	 AT(is_not_judged)},
	TP_READING_ROWS(offsetof(struct explain_options, how)),
	TP_OPTION_END};

static void print_heading(struct tp_page *page, const char *text)
{
	if (page->n_lines)
		tp_page_end(page);
	tp_page_add(page, TP_PAINT_BOLD, text);
	tp_page_end(page);
}

static void list_state(struct tp_page *page, const struct tp_findings *findings,
		       enum tp_finding_state state, const char *heading)
{
	bool is_first = true;
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct tp_finding *finding = &findings->items[i];
		bool is_advice = i < findings->n_fired;
		if (finding->state != state || is_advice)
			continue;
		if (is_first)
			print_heading(page, heading);
		is_first = false;
		tp_page_column(page, 2);
		tp_report_explain_line(page, finding);
		const char *why = state == TP_FINDING_NOT_JUDGED ? finding->not_judged_because
				  : state == TP_FINDING_QUIET    ? finding->quiet_because
								 : finding->suppressed;
		if (!why)
			continue;
		tp_page_column(page, 6);
		tp_page_wrap(page, 6, TP_PAINT_DIM, why, 2);
	}
}

static void list_findings(struct tp_page *page, const struct tp_report *report,
			  const struct explain_options *o)
{
	const struct tp_findings *findings = report->findings;
	for (size_t i = 0; i < findings->n_fired && !o->is_not_judged; i++) {
		if (i)
			tp_page_end(page);
		tp_report_explain(page, report, &findings->items[i]);
	}
	if (!o->is_not_judged)
		list_state(page, findings, TP_FINDING_FIRED, "Apply, but are not shown as advice");
	if (o->is_all)
		list_state(page, findings, TP_FINDING_QUIET, "Do not apply");
	if (o->is_all || o->is_not_judged)
		list_state(page, findings, TP_FINDING_NOT_JUDGED, "Could not be checked");
	if (!page->n_lines) {
		tp_page_add(page, TP_PAINT_NONE,
			    o->is_not_judged ? "All rules could be checked."
					     : "No advice for this run; see explain --all.");
		tp_page_end(page);
	}
}

static const struct tp_finding *find_rule(const struct tp_findings *findings, const char *word)
{
	for (size_t i = 0; i < findings->n_items; i++)
		if (strcmp(findings->items[i].rule, word) == 0)
			return &findings->items[i];
	return NULL;
}

/* Writes "trainprof explain [RUN] WORDS" for the run that was named, if it must be named. */
static void format_next(char *out, size_t size, const struct tp_report *report, const char *words)
{
	snprintf(out, size, "trainprof explain%s%s%s%s", report->is_last ? "" : " ",
		 report->is_last ? "" : report->directory, *words ? " " : "", words);
}

static int unknown_word(const struct tp_report *report, const char *word)
{
	const struct tp_findings *findings = report->findings;
	size_t n = 0;
	const char **names = tp_alloc((findings->n_items + tp_n_facts) * sizeof(*names));
	for (size_t i = 0; i < findings->n_items; i++)
		names[n++] = findings->items[i].rule;
	for (tp_fact_id f = 0; f < tp_n_facts; f++)
		names[n++] = tp_fact_desc(f)->name;
	const char *near = tp_text_closest(word, names, n);
	char next[200];
	format_next(next, sizeof(next), report, near ? near : "--all");
	tp_message_print(next, "no rule, fact or advice '%s'%s%s", word, near ? "; nearest: " : "",
			 near ? near : "");
	free(names);
	return TP_EXIT_USAGE;
}

static int explain_number(struct tp_page *page, const struct tp_report *report, uint64_t number)
{
	const struct tp_findings *findings = report->findings;
	if (number >= 1 && number <= findings->n_fired) {
		tp_report_explain(page, report, &findings->items[number - 1]);
		return TP_EXIT_OK;
	}
	char next[200];
	format_next(next, sizeof(next), report, findings->n_fired ? "" : "--all");
	if (findings->n_fired)
		tp_message_print(next, "there is no advice %llu; this run has %zu",
				 (unsigned long long)number, findings->n_fired);
	else
		tp_message_print(next, "there is no advice %llu; this run has none",
				 (unsigned long long)number);
	return TP_EXIT_USAGE;
}

static int explain_word(struct tp_page *page, const struct tp_report *report, const char *word)
{
	uint64_t number;
	tp_fact_id fact = tp_fact_find(word);
	const struct tp_finding *finding = find_rule(report->findings, word);
	if (tp_text_parse_count(word, &number))
		return explain_number(page, report, number);
	if (fact != tp_n_facts)
		tp_report_explain_fact(page, report, fact);
	else if (finding)
		tp_report_explain(page, report, finding);
	else
		return unknown_word(report, word);
	return TP_EXIT_OK;
}

/* The first of two words is the run, unless only the second is the name of one; a single word is
 * whatever exists with that name. */
static void split_words(int argc, char **argv, const char **run, const char **what)
{
	*run = NULL;
	*what = NULL;
	if (argc == 2) {
		bool is_turned = !tp_recording_is_path(argv[0]) && tp_recording_is_path(argv[1]);
		*run = argv[is_turned];
		*what = argv[!is_turned];
	} else if (argc == 1) {
		*(tp_recording_is_path(argv[0]) ? run : what) = argv[0];
	}
}

static int explain_recording(const struct tp_cli *cli, const struct explain_options *o,
			     const struct tp_analysis_session *reading, const char *what)
{
	if (!reading->has_findings)
		return tp_message_error_status(NULL, &reading->no_rules);
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	int status = TP_EXIT_OK;
	tp_page_init(&page, &style);
	if (what)
		status = explain_word(&page, &reading->report, what);
	else
		list_findings(&page, &reading->report, o);
	if (status == TP_EXIT_OK)
		status = tp_output_paged(&page);
	tp_page_release(&page);
	return status;
}

static int explain_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct explain_options *o = opts;
	const char *word;
	const char *what;
	struct tp_error err = {0};
	struct tp_analysis_session reading;
	split_words(argc, argv, &word, &what);
	if (tp_recording_read(&reading, cli, word, &o->how, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	int status = explain_recording(cli, o, &reading, what);
	tp_analysis_session_close(&reading);
	return status;
}

const struct tp_command tp_cmd_explain = {
	.name = "explain",
	.group = "Read",
	.synopsis = "[options] [RUN] [NUMBER|RULE|FACT]",
	.summary = "why a rule applies, does not apply or could not be checked",
	.intro = "Show how advice was derived: each condition with value, interval and limit,\n"
		 "what to do, the expected gain, and how to disprove it. NUMBER is the position\n"
		 "in the printed advice.",
	.examples = "  trainprof explain 1\n"
		    "  trainprof explain input/loads-in-trainer\n"
		    "  trainprof explain step.dataloader_ratio\n"
		    "  trainprof explain --not-judged",
	.options = options,
	.storage_size = sizeof(struct explain_options),
	.defaults = &defaults,
	.max_words = 2,
	.exec = explain_exec,
};
