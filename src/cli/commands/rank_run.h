/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run as one rank of a job: who records where, who prints what. A job goes on whatever happens to
 * its recording.
 */
#ifndef TRAINPROF_SRC_CLI_COMMANDS_RANK_RUN_H
#define TRAINPROF_SRC_CLI_COMMANDS_RANK_RUN_H

#include "cli/options/command.h"
#include "cli/session/run_session.h"

#include <stdbool.h>

struct tp_rank_run {
	struct tp_arena arena;
	struct tp_run_job job;
	struct tp_cli cli; /* only rank 0 says what goes for all */
	struct tp_run_options options;
	const struct tp_cli *asked; /* as it was typed */
	char *folder;
};

/* Find out whether we are a rank; true: then `cli` and `options` are those to go on with. Released
 * in either case. */
bool tp_rank_run_begin(struct tp_rank_run *rank, const struct tp_cli *cli,
		       const struct tp_run_options *options);

/* Become the program without measuring it; the exit status where that fails. */
int tp_rank_run_exec(struct tp_rank_run *rank, char **argv);

/* Say how a rank ended that failed. The last one of the job prints the job's summary. False when
 * that should have been written and was not. */
bool tp_rank_run_end(struct tp_rank_run *rank, const struct tp_run_session_result *measured);

void tp_rank_run_release(struct tp_rank_run *rank);

#endif
