/* SPDX-License-Identifier: Apache-2.0 */
/* Turns CPU switches (SCHED_EVENTS) into stays of threads on CPUs. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_SWITCHES_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_SWITCHES_H

#include "nsys_thread_table.h"

/* Number of rows that are sorted together: a row further than half of them from its place is
 * skipped. */
enum { TP_NSYS_SWITCHES_SORTED = 1 << 21 };

/* Rows may come in any order. Before a thread's first switch and after the last switch of all
 * threads its state is unknown; a thread that is on a CPU at its last switch stays there until the
 * last switch of all. */
void tp_nsys_switches_read(struct tp_nsys_threads *threads);

#endif
