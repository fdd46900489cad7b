/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof attach: measures a running program, reports, and leaves it as it was. */
#include "cli/options/command.h"

#include "cli/session/analysis_session.h"
#include "cli/session/recordings.h"
#include "cli/session/run_session.h"
#include "cli/terminal/messages.h"
#include "post_run_report.h"
#include "view_offer.h"

#include "trainprof/base/text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct tp_run_options defaults = TP_RUN_DEFAULTS;

static const struct tp_option options[] = {{TP_OPTION_DURATION_TIME, .otherwise = "never",
					    .section = "What to measure", TP_RUN_AT(duration_ns)},
					   {TP_OPTION_STEPS, TP_RUN_AT(reading.steps)},
					   {TP_OPTION_SKIP, TP_RUN_AT(reading.skip)},
					   {TP_OPTION_DELAY, TP_RUN_AT(delay_ns)},
					   {TP_OPTION_GPU_TRACE, TP_RUN_AT(gpu_trace)},
					   TP_RUN_ROWS,
					   {TP_OPTION_SUMMARY, TP_RUN_AT(summary)},
					   TP_RUN_LAST_ROWS,
					   TP_OPTION_END};

static int attach_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct tp_run_options *o = opts;
	struct tp_run_session_result measured;
	if (!argc) {
		tp_message_print("pgrep -af train", "attach needs the pid of a program");
		return TP_EXIT_USAGE;
	}
	pid_t pid;
	if (!tp_text_parse_pid(argv[0], &pid)) {
		tp_message_print("pgrep -af train", "attach: '%s' is not a process id", argv[0]);
		return TP_EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN); /* the report is written even if the reader of stderr is gone */
	int status = tp_run_session_attach(&measured, cli, o, pid);
	if (status >= 0) {
		free(measured.directory);
		return status;
	}
	tp_run_session_check_whole(&measured);
	if (!measured.is_gone) {
		tp_recordings_set_last(measured.directory);
		tp_post_run_report(cli, o, &measured);
		if (strcmp(o->summary, "none") != 0)
			tp_view_offer(cli, &measured);
	}
	free(measured.directory);
	return measured.is_gone ? TP_EXIT_FILE : TP_EXIT_OK;
}

const struct tp_command tp_cmd_attach = {
	.name = "attach",
	.group = "Measure",
	.synopsis = "[options] PID",
	.summary = "measure a program that runs already",
	.intro = "Measure a running program and all that it starts, until Ctrl-C, until it ends,\n"
		 "or for --duration; then print the diagnosis on stderr. The program keeps "
		 "running.\n"
		 "Nothing is put into it and it is never stopped, unless --gpu-trace asks for it:\n"
		 "that holds a thread for a moment and leaves an inactive library in it.",
	.examples = "  trainprof attach -d 30s 4242\n"
		    "  trainprof attach -o prof $(pgrep -f train.py)",
	.ending = "Exit status: 0 measured; 2: no such process; 4: no recording; 5: not permitted.",
	.options = options,
	.storage_size = sizeof(struct tp_run_options),
	.defaults = &defaults,
	.max_words = 1,
	.exec = attach_exec,
};
