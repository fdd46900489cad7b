/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof guide --plan: what to do about a run, step by step. */
#ifndef TRAINPROF_SRC_CLI_GUIDE_GUIDE_PLAN_H
#define TRAINPROF_SRC_CLI_GUIDE_GUIDE_PLAN_H

#include "cli/options/command.h"

/* All borrowed. */
struct tp_plan_request {
	const char *run;    /* a recording, a file of facts, "-"; NULL: the last recording here */
	const char *other;  /* to be compared with it; NULL: none */
	const char *format; /* "text", "json", "markdown" */
	const struct tp_words *rules;
	bool is_lenient;
};

/* Print the plan, or both runs side by side and why not to compare them; returns the exit status: 3
 * when nothing can be told of the run or no number is known of both, 1 when two are not to be
 * compared. */
int tp_guide_plan(const struct tp_cli *cli, const struct tp_plan_request *request);

#endif
