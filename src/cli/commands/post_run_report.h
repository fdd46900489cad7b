/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the report after the program's end, in its own process. */
#ifndef TRAINPROF_SRC_CLI_COMMANDS_POST_RUN_REPORT_H
#define TRAINPROF_SRC_CLI_COMMANDS_POST_RUN_REPORT_H

#include "cli/options/command.h"
#include "cli/session/run_session.h"

#include <stdbool.h>

/* Exit status of the child that writes a report. */
enum { TP_REPORT_WRITTEN, TP_REPORT_LOST, TP_REPORT_FAILED };

/* The work of the child; the result is one of these. */
typedef int tp_report_fn(const struct tp_cli *cli, const struct tp_run_options *options,
			 const char *directory);

/* The same with another report: false if it failed or the parent gave up. */
bool tp_post_run_report_by(tp_report_fn *work, const struct tp_cli *cli,
			   const struct tp_run_options *options, const char *directory,
			   bool was_interrupted);

/* Reads the recording, writes report.json into it and the summary to stderr. This happens in a
 * child, limited by --grace, so that a crash, exhausted memory or an endless loop cannot change the
 * exit status of run. Returns true if the report was written and nothing was lost. */
bool tp_post_run_report(const struct tp_cli *cli, const struct tp_run_options *options,
			const struct tp_run_session_result *measured);

#endif
