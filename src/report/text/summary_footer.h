/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the screen after a run. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_SUMMARY_FOOTER_H
#define TRAINPROF_SRC_REPORT_TEXT_SUMMARY_FOOTER_H

#include "report/digest/digest.h"

#include "trainprof/report/page.h"

/* Prints what was left out or measured with less detail, what measuring cost, how the program
 * ended, and the commands to type next. */
void tp_report_print_footer(struct tp_page *page, const struct tp_report_digest *digest);

#endif
