/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof run: starts a program, measures it, reports, and ends with its exit status. */
#include "cli/options/command.h"

#include "cli/live/viewer.h"
#include "cli/session/analysis_session.h"
#include "cli/session/recordings.h"
#include "cli/session/run_session.h"
#include "cli/session/source_list.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "post_run_report.h"
#include "rank_run.h"
#include "view_offer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tp_run_options defaults = TP_RUN_DEFAULTS;

static const struct tp_option options[] = {{TP_OPTION_STEPS, .section = "What to measure",
					    TP_RUN_AT(reading.steps)},
					   {TP_OPTION_SKIP, TP_RUN_AT(reading.skip)},
					   {TP_OPTION_DELAY, TP_RUN_AT(delay_ns)},
					   {TP_OPTION_DURATION_TIME, .otherwise = "never",
					    TP_RUN_AT(duration_ns)},
					   {TP_OPTION_GPU_TRACE, TP_RUN_AT(gpu_trace)},
					   TP_RUN_ROWS,
					   {.name = "log",
					    .type = TP_OPTION_TEXT,
					    .value = "FILE",
					    .text = "copy the program's stdout and stderr to FILE",
					    .is_own = true,
					    TP_RUN_AT(log)},
					   {.name = "live",
					    .type = TP_OPTION_FLAG,
					    .text = "show trainprof top meanwhile; needs --log",
					    .is_own = true,
					    TP_RUN_AT(is_live)},
					   {TP_OPTION_SUMMARY, TP_RUN_AT(summary)},
					   {.name = "digest-only",
					    .type = TP_OPTION_FLAG,
					    .text = "keep only what the report of a job needs",
					    TP_RUN_AT(is_digest_only)},
					   {.name = "dry-run",
					    .type = TP_OPTION_FLAG,
					    .text = "print what would be measured; start nothing",
					    TP_RUN_AT(is_dry_run)},
					   {.name = "strict",
					    .type = TP_OPTION_FLAG,
					    .text = "exit 125 if the measurement was incomplete",
					    TP_RUN_AT(is_strict)},
					   {.name = "keep-last",
					    .type = TP_OPTION_FLAG,
					    .text = "do not make this the last recording",
					    .is_rare = true,
					    TP_RUN_AT(keeps_last)},
					   TP_RUN_LAST_ROWS,
					   TP_OPTION_END};

static int dry_run(const struct tp_cli *cli, const struct tp_run_options *o)
{
	struct tp_host host;
	struct tp_plan *plan = NULL;
	struct tp_error err = {0};
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	int status;
	tp_host_open(&host, "");
	tp_page_init(&page, &style);
	if (tp_run_session_plan(&plan, &host, o, false, &err) == TP_OK) {
		tp_source_list_print(&page, plan);
		status = tp_output_page(&page);
	} else {
		tp_message_error(NULL, &err);
		status = err.status == TP_USAGE ? TP_EXIT_USAGE : TP_EXIT_NOT_STARTED;
	}
	tp_page_release(&page);
	tp_plan_free(plan);
	tp_host_close(&host);
	return status;
}

/* The terminal cannot show both the program's output and the live view. */
static bool can_be_live(const struct tp_run_options *o)
{
	if (!o->log)
		tp_message_print("trainprof run --live --log=train.log -- ./train …",
				 "--live needs --log=FILE: it takes the place of the program's "
				 "output");
	else if (!tp_viewer_has_terminal())
		tp_message_print("trainprof run --log=FILE -- ./train …",
				 "--live needs a terminal for keys and screen");
	return o->log && tp_viewer_has_terminal();
}

/* Reports about the recording; false if the report is incomplete. */
static bool report_recording(const struct tp_cli *cli, const struct tp_run_options *o,
			     struct tp_rank_run *rank, const struct tp_run_session_result *measured)
{
	if (!o->keeps_last)
		tp_recordings_set_last(o->job ? rank->job.folder : measured->directory);
	if (o->job)
		return tp_rank_run_end(rank, measured);
	bool is_complete = tp_post_run_report(cli, o, measured);
	if (strcmp(o->summary, "none") != 0)
		tp_view_offer(cli, measured);
	if (o->is_digest_only)
		tp_recordings_keep_digest(measured->directory);
	return is_complete;
}

static int run_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct tp_run_options *o = opts;
	struct tp_run_session_result measured;
	struct tp_rank_run rank;
	if (o->is_dry_run)
		return dry_run(cli, o);
	if (!argc) {
		tp_message_print("trainprof run -- ./train …", "run needs a program");
		return TP_EXIT_USAGE;
	}
	if (o->is_live && !can_be_live(o))
		return TP_EXIT_USAGE;
	/* If the reader of stderr is gone, the report is still written and the program's status is
	 * kept. The program gets the signal handling that trainprof was started with. */
	signal(SIGPIPE, SIG_IGN);
	if (tp_rank_run_begin(&rank, cli, o)) {
		cli = &rank.cli;
		o = &rank.options;
	}
	int status = tp_run_session_run(&measured, cli, o, argv);
	if (status >= 0) {
		if (o->job && measured.could_run && !o->is_strict)
			status = tp_rank_run_exec(&rank, argv);
		free(measured.directory);
		tp_rank_run_release(&rank);
		return status;
	}
	bool is_complete = tp_run_session_check_whole(&measured);
	if (!measured.is_gone)
		is_complete &= report_recording(cli, o, &rank, &measured);
	free(measured.directory);
	tp_rank_run_release(&rank);
	bool was_good = measured.end.kind == TP_END_EXITED && measured.end.code == 0;
	if (o->is_strict && was_good && !is_complete)
		return TP_EXIT_NOT_STARTED;
	tp_target_exit_like(&measured.end);
}

const struct tp_command tp_cmd_run = {
	.name = "run",
	.group = "Measure",
	.synopsis = "[options] [--] program [argument...]",
	.summary = "start a program and measure it",
	.intro = "Start a program, measure it until it ends, print the diagnosis on stderr.\n"
		 "Everything after the program's name belongs to the program.",
	.examples = "  trainprof run -- ./train --epochs 1\n"
		    "  trainprof run --skip 50 --duration 2m -- python3 train.py\n"
		    "  trainprof run --log train.log -o prof -- ./train\n"
		    "  trainprof run --live --log train.log -- python3 train.py",
	.ending = "Exit status: that of the program; 126, 127: it could not be started;\n"
		  "125: trainprof failed.",
	.options = options,
	.storage_size = sizeof(struct tp_run_options),
	.defaults = &defaults,
	.stops_at_word = true,
	.exec = run_exec,
};
