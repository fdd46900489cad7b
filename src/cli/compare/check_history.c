/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the history of a baseline and prints the result. */
#include "check_history.h"

#include "baseline_history.h"
#include "baseline_store.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "trainprof/gate/gate.h"
#include "trainprof/gate/history.h"
#include "trainprof/report/history_text.h"

#include <string.h>
#include <unistd.h>

static enum tp_status read_history(struct tp_run_history *out, const char *name,
				   struct tp_arena *arena, struct tp_error *err)
{
	struct tp_baseline baseline;
	enum tp_status status = tp_baseline_load(&baseline, name, err);
	if (status != TP_OK)
		return status;
	status = tp_baseline_history_read(out, baseline.directory, arena, err);
	tp_baseline_release(&baseline);
	if (status == TP_OK && !out->n) {
		status = tp_fail(err, TP_ABSENT, "baseline '%.64s' has no history", name);
		tp_error_next(err, "trainprof baseline save --reason='…' %s", name);
	}
	return status;
}

static int print_text(const struct tp_cli *cli, const struct tp_history_result *result)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_history_text(&page, result);
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

static int print(const struct tp_cli *cli, const struct tp_history_result *result,
		 const char *format, int answer)
{
	struct tp_json_writer w = {0};
	if (strcmp(format, "text") == 0)
		return print_text(cli, result);
	if (strcmp(format, "json") == 0)
		tp_report_history_json(&w, result, answer);
	else
		tp_report_history_markdown(&w.out, result);
	return tp_output_buf(&w.out);
}

int tp_check_history(const struct tp_cli *cli, const char *baseline, const char *format)
{
	static const int statuses[] = {[TP_GATE_PASS] = TP_EXIT_OK,
				       [TP_GATE_FAIL] = TP_EXIT_BAD,
				       [TP_GATE_UNDECIDED] = TP_EXIT_UNDECIDED};
	struct tp_arena arena = {0};
	struct tp_error err = {0};
	struct tp_run_history history;
	struct tp_history_result result;
	int status;
	if (read_history(&history, baseline, &arena, &err) == TP_OK) {
		tp_history_judge(&result, &history, TP_GATE_DEFAULT_MARGIN);
		status = print(cli, &result, format, statuses[result.answer]);
		if (status == TP_EXIT_OK)
			status = statuses[result.answer];
	} else {
		status = tp_message_error_status(NULL, &err);
	}
	tp_arena_release(&arena);
	return status;
}
