/* SPDX-License-Identifier: Apache-2.0 */
/* What a case or a scene expects of its findings, and what all findings promise. */
#ifndef TRAINPROF_TESTS_CASES_EXPECTATION_H
#define TRAINPROF_TESTS_CASES_EXPECTATION_H

#include "trainprof/advise/advise.h"
#include "trainprof/base/json.h"

/* Findings of facts that say what they expect; all borrowed. */
struct judged {
	const char *name; /* "c16" */
	const struct tp_rulebook *book;
	const struct tp_json *expect;
	const struct tp_findings *findings;
	bool is_good;
};

/* Says what is wrong, and that it is. */
__attribute__((format(printf, 2, 3))) void expectation_fail(struct judged *judged,
							    const char *format, ...);
/* Each key of `expect`: README.md beside this file. One that is not read fails, as no key at all.
 */
void expectation_check(struct judged *judged);
/* What advice of any run has: words, sources, and gains that can be. */
void expectation_promises(struct judged *judged);

#endif
