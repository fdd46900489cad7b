/* SPDX-License-Identifier: Apache-2.0 */
/* The advice on the screen after a run. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_SUMMARY_ADVICE_H
#define TRAINPROF_SRC_REPORT_TEXT_SUMMARY_ADVICE_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Prints as many pieces of advice as the digest shows, and their combined gain, or that there is
 * none; nothing for a run that cannot be judged. */
void tp_report_print_advices(struct tp_page *page, const struct tp_report_digest *digest);

#endif
