/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as one rank of a job: decides where each rank records and which rank prints. A job continues
 * whatever happens to its recording. */
#ifndef TRAINPROF_SRC_CLI_COMMANDS_RANK_RUN_H
#define TRAINPROF_SRC_CLI_COMMANDS_RANK_RUN_H

#include "cli/options/command.h"
#include "cli/session/run_session.h"

#include <stdbool.h>

struct tp_rank_run {
	struct tp_arena arena;
	struct tp_run_job job;
	struct tp_cli cli; /* only rank 0 prints messages that apply to all */
	struct tp_run_options options;
	const struct tp_cli *asked; /* the options as they were typed */
	char *folder;
};

/* Determines whether this process is a rank; if true, the caller continues with `cli` and `options`
 * of `rank`. Must be released in either case. */
bool tp_rank_run_begin(struct tp_rank_run *rank, const struct tp_cli *cli,
		       const struct tp_run_options *options);

/* Executes the program without measuring it; returns the exit status if that fails. */
int tp_rank_run_exec(struct tp_rank_run *rank, char **argv);

/* Prints how a failed rank ended. The last rank of the job prints its summary. Returns false if the
 * summary should have been written and was not. */
bool tp_rank_run_end(struct tp_rank_run *rank, const struct tp_run_session_result *measured);

void tp_rank_run_release(struct tp_rank_run *rank);

#endif
