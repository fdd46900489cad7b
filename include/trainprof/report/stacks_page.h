/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what all threads of a program do at one moment. */
#ifndef TRAINPROF_REPORT_STACKS_PAGE_H
#define TRAINPROF_REPORT_STACKS_PAGE_H

#include "trainprof/base/json.h"
#include "trainprof/model/thread_stack.h"
#include "trainprof/report/page.h"

#include <stdbool.h>

/* Threads that do the same at the same place are one group. */
void tp_report_stacks_page(struct tp_page *page, const struct tp_thread_stacks *stacks);
/* Prints only the training threads of a job's ranks: ranks at the same functions and lines are one
 * group. Returns false, and prints nothing, if none of the processes is a rank. */
bool tp_report_stacks_job_page(struct tp_page *page, const struct tp_thread_stacks *stacks);
void tp_report_stacks_json(struct tp_json_writer *w, const struct tp_thread_stacks *stacks);

#endif
