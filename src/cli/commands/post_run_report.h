/* SPDX-License-Identifier: Apache-2.0 */
/* After the program's end: the report, in a process of its own. */
#ifndef TRAINPROF_SRC_CLI_COMMANDS_POST_RUN_REPORT_H
#define TRAINPROF_SRC_CLI_COMMANDS_POST_RUN_REPORT_H

#include "cli/options/command.h"
#include "cli/session/run_session.h"

#include <stdbool.h>

/* How the child that writes a report ends. */
enum { TP_REPORT_WRITTEN, TP_REPORT_LOST, TP_REPORT_FAILED };

/* What the child does; the result is one of these. */
typedef int tp_report_fn(const struct tp_cli *cli, const struct tp_run_options *options,
			 const char *directory);

/* The same with another report: false when it failed or was given up. */
bool tp_post_run_report_by(tp_report_fn *work, const struct tp_cli *cli,
			   const struct tp_run_options *options, const char *directory,
			   bool was_interrupted);

/*
 * Read the recording, write report.json into it and the summary to stderr. A crash, a full memory
 * or an endless loop there cannot change what run returns: it happens in a child, within --grace.
 * True when the report was written and nothing was lost.
 */
bool tp_post_run_report(const struct tp_cli *cli, const struct tp_run_options *options,
			const struct tp_run_session_result *measured);

#endif
