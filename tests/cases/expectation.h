/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the findings of a case or a scene: its own expectations, and promises of all findings. */
#ifndef TRAINPROF_TESTS_CASES_EXPECTATION_H
#define TRAINPROF_TESTS_CASES_EXPECTATION_H

#include "trainprof/advise/advise.h"
#include "trainprof/base/json.h"

/* Findings from facts with expectations; all borrowed. */
struct judged {
	const char *name; /* "c16" */
	const struct tp_rulebook *book;
	const struct tp_json *expect;
	const struct tp_findings *findings;
	bool is_good;
};

/* Prints the failure and marks the case as failed. */
__attribute__((format(printf, 2, 3))) void expectation_fail(struct judged *judged,
							    const char *format, ...);
/* Checks each key of `expect`, see README.md in this folder. An unknown key is a failure, as is an
 * empty `expect`. */
void expectation_check(struct judged *judged);
/* Checks what all advice must have: sentences, sources, and plausible gains. */
void expectation_promises(struct judged *judged);

#endif
