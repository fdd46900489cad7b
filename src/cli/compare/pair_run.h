/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a comparison: a command line, measured by another trainprof. */
#ifndef TRAINPROF_SRC_CLI_COMPARE_PAIR_RUN_H
#define TRAINPROF_SRC_CLI_COMPARE_PAIR_RUN_H

#include "trainprof/base/status.h"

#include <stdbool.h>

/* The result of a run. */
struct tp_pair_run {
	bool is_interrupted; /* a signal asked us to stop during the run */
	int exit_code;       /* of the program; 0 = success */
	int signal;          /* that killed the program; 0 = none */
};

/* The command to run. */
struct tp_pair_command {
	const char *command;    /* line of the shell */
	const char *loader;     /* settings of its DataLoader, or NULL: as it is */
	const char *loader_log; /* file for what was set; not NULL if `loader` is not */
};

/* Measures a command line of the shell into `directory`, which must not exist; its output goes into
 * `log`.
 * Errors  TP_IO, TP_TARGET if nothing could be started. */
TP_MUST_CHECK enum tp_status tp_pair_run(struct tp_pair_run *out,
					 const struct tp_pair_command *command,
					 const char *directory, const char *log,
					 struct tp_error *err);

/* From now on SIGINT and SIGTERM end the running program, and are remembered. */
void tp_pair_run_watch(void);
bool tp_pair_run_is_interrupted(void);

#endif
