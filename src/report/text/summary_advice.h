/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the screen after a run that says what to do. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_SUMMARY_ADVICE_H
#define TRAINPROF_SRC_REPORT_TEXT_SUMMARY_ADVICE_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* As many pieces of advice as the digest shows, what all of them gain, or that there is none;
 * nothing of a run that cannot be judged. */
void tp_report_print_advices(struct tp_page *page, const struct tp_report_digest *digest);

#endif
