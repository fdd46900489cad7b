/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what all threads of a program do at one moment. */
#ifndef TRAINPROF_REPORT_STACKS_PAGE_H
#define TRAINPROF_REPORT_STACKS_PAGE_H

#include "trainprof/base/json.h"
#include "trainprof/model/thread_stack.h"
#include "trainprof/report/page.h"

/* Threads that do the same at the same place form one group. */
void tp_report_stacks_page(struct tp_page *page, const struct tp_thread_stacks *stacks);
void tp_report_stacks_json(struct tp_json_writer *w, const struct tp_thread_stacks *stacks);

#endif
