/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the plan for a run, or two runs next to each other. */
#include "guide_plan.h"

#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "subject.h"

#include "trainprof/base/json.h"
#include "trainprof/report/plan_text.h"
#include "trainprof/report/side_by_side.h"

#include <string.h>
#include <unistd.h>

/* The printed run: one of the two. */
struct plan_subject {
	const struct tp_report_plan *plan;
	const struct tp_report_pair *pair;
};

static int print_text(const struct tp_cli *cli, const struct plan_subject *subject)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	if (style.width > 80)
		style.width = 80;
	struct tp_page page;
	tp_page_init(&page, &style);
	if (subject->plan)
		tp_report_plan_text(&page, subject->plan);
	else
		tp_report_pair_text(&page, subject->pair);
	int status = tp_output_paged(&page);
	tp_page_release(&page);
	return status;
}

static int print_json(const struct plan_subject *subject)
{
	struct tp_json_writer w = {0};
	if (subject->plan)
		tp_report_plan_json(&w, subject->plan);
	else
		tp_report_pair_json(&w, subject->pair);
	return tp_output_buf(&w.out);
}

static int print_markdown(const struct plan_subject *subject)
{
	struct tp_buf text = {0};
	if (subject->plan)
		tp_report_plan_markdown(&text, subject->plan);
	else
		tp_report_pair_markdown(&text, subject->pair);
	return tp_output_buf(&text);
}

static int print(const struct tp_cli *cli, const struct tp_plan_request *request,
		 const struct plan_subject *subject)
{
	if (strcmp(request->format, "json") == 0)
		return print_json(subject);
	if (strcmp(request->format, "markdown") == 0)
		return print_markdown(subject);
	return print_text(cli, subject);
}

static int print_plan(const struct tp_cli *cli, const struct tp_plan_request *request,
		      const struct tp_report_plan *plan)
{
	int status = print(cli, request, &(struct plan_subject){.plan = plan});
	const struct tp_findings *findings = plan->findings;
	bool tells = findings->verdict || findings->n_fired;
	return status == TP_EXIT_OK && !tells ? TP_EXIT_UNDECIDED : status;
}

/* ---- two runs ---- */

static struct tp_report_side side_of(const struct tp_subject *judged)
{
	return (struct tp_report_side){.subject = judged->subject,
				       .facts = judged->facts,
				       .findings = judged->findings};
}

static int print_pair(const struct tp_cli *cli, const struct tp_plan_request *request,
		      const struct tp_subject *first, const struct tp_subject *second)
{
	enum { WARNINGS_MAX = 8 };
	const char *warnings[WARNINGS_MAX];
	const struct tp_report_pair pair = {
		.sides = {side_of(first), side_of(second)},
		.warnings = warnings,
		.n_warnings = tp_rulebook_not_comparable(first->book, first->facts, second->facts,
							 warnings, WARNINGS_MAX),
	};
	int status = print(cli, request, &(struct plan_subject){.pair = &pair});
	if (status != TP_EXIT_OK)
		return status;
	return tp_report_pair_is_known(&pair) ? TP_EXIT_OK : TP_EXIT_UNDECIDED;
}

static int compare(const struct tp_cli *cli, const struct tp_plan_request *request,
		   const struct tp_subject_options *options, const struct tp_subject *first)
{
	struct tp_error err = {0};
	struct tp_subject second;
	if (tp_subject_open(&second, request->other, options, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	int status = print_pair(cli, request, first, &second);
	tp_subject_close(&second);
	return status;
}

int tp_guide_plan(const struct tp_cli *cli, const struct tp_plan_request *request)
{
	struct tp_error err = {0};
	struct tp_subject judged;
	const struct tp_subject_options options = {.rules = request->rules,
						   .is_lenient = request->is_lenient,
						   .cli = cli};
	if (tp_subject_open(&judged, request->run, &options, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	const struct tp_report_plan plan = {.subject = judged.subject,
					    .facts = judged.facts,
					    .findings = judged.findings};
	int status = request->other ? compare(cli, request, &options, &judged)
				    : print_plan(cli, request, &plan);
	tp_subject_close(&judged);
	return status;
}
