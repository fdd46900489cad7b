/* SPDX-License-Identifier: Apache-2.0 */
/* The section of --full about trainprof's own CPU time. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_OWN_CPU_TABLE_H
#define TRAINPROF_SRC_REPORT_TEXT_OWN_CPU_TABLE_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Prints nothing if the recording does not contain it. */
void tp_report_own_cpu_table(struct tp_page *page, const struct tp_report_digest *digest);

#endif
