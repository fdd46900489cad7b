/* Prints the plan for a run. */
#include "guide_plan.h"

#include "complain.h"
#include "judged.h"
#include "output.h"
#include "terminal.h"

#include "trainprof/base/json.h"
#include "trainprof/report/roadmap.h"

#include <string.h>
#include <unistd.h>

static int print_buf(struct tp_buf *buf)
{
	int status = tp_output_text(tp_buf_text(buf));
	tp_buf_release(buf);
	return status;
}

static int print_text(const struct tp_cli *cli, const struct tp_report_plan *plan)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	if (style.width > 80)
		style.width = 80;
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_plan_text(&page, plan);
	int status = tp_output_paged(&page);
	tp_page_release(&page);
	return status;
}

static int print_plan(const struct tp_cli *cli, const struct tp_plan_request *request,
		      const struct tp_report_plan *plan)
{
	int status;
	if (strcmp(request->format, "json") == 0) {
		struct tp_json_writer w = {0};
		tp_report_plan_json(&w, plan);
		status = print_buf(&w.out);
	} else if (strcmp(request->format, "markdown") == 0) {
		struct tp_buf text = {0};
		tp_report_plan_markdown(&text, plan);
		status = print_buf(&text);
	} else {
		status = print_text(cli, plan);
	}
	const struct tp_findings *findings = plan->findings;
	bool tells = findings->verdict || findings->n_fired;
	return status == TP_EXIT_OK && !tells ? TP_EXIT_CANNOT_TELL : status;
}

int tp_guide_plan(const struct tp_cli *cli, const struct tp_plan_request *request)
{
	struct tp_error err = {0};
	struct tp_judged judged;
	const struct tp_judged_options options = {.rules = request->rules,
						  .is_lenient = request->is_lenient,
						  .is_quiet = cli->is_quiet};
	if (tp_judged_open(&judged, request->run, &options, &err) != TP_OK)
		return tp_complain_status(NULL, &err);
	const struct tp_report_plan plan = {.subject = judged.subject,
					    .facts = judged.facts,
					    .findings = judged.findings};
	int status = print_plan(cli, request, &plan);
	tp_judged_close(&judged);
	return status;
}
