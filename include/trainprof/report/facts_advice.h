/* SPDX-License-Identifier: Apache-2.0 */
/* Advice for facts that were written by hand; there is no recording. */
#ifndef TRAINPROF_REPORT_FACTS_ADVICE_H
#define TRAINPROF_REPORT_FACTS_ADVICE_H

#include "trainprof/report/page.h"

#include "trainprof/model/finding.h"

struct tp_json_writer;

/* All borrowed. */
struct tp_report_advice {
	const char *name;                /* name of the training that the facts describe, or NULL */
	const struct tp_quantity *facts; /* tp_n_facts */
	size_t n_given;
	const struct tp_findings *findings;
	size_t max_advice;
};

/* The verdict, each piece of advice with its evidence, gain, price and what to check, the combined
 * gain, the next limit, and which facts to find out. */
void tp_report_advice_text(struct tp_page *page, const struct tp_report_advice *advice);

/* The same as trainprof-advice/1.0; contains all findings that fired or lack facts, regardless of
 * max_advice. */
void tp_report_advice_json(struct tp_json_writer *w, const struct tp_report_advice *advice);

#endif
