/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof guide --plan: prints the steps that make a run faster. */
#ifndef TRAINPROF_SRC_CLI_GUIDE_GUIDE_PLAN_H
#define TRAINPROF_SRC_CLI_GUIDE_GUIDE_PLAN_H

#include "cli/options/command.h"

/* All borrowed. */
struct tp_plan_request {
	const char *run;    /* a recording, a file of facts, "-"; NULL = the last recording here */
	const char *other;  /* a run to compare with; NULL = none */
	const char *format; /* "text", "json", "markdown" */
	const struct tp_words *rules;
	bool is_lenient;
};

/* Prints the plan, or both runs next to each other and the reasons why they cannot be compared.
 * Returns the exit status: 3 if nothing is known about the run or no number is known for both, 1 if
 * the two cannot be compared. */
int tp_guide_plan(const struct tp_cli *cli, const struct tp_plan_request *request);

#endif
