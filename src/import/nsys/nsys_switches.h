/* SPDX-License-Identifier: Apache-2.0 */
/* Switches of CPUs (SCHED_EVENTS) become stays of threads on them. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_SWITCHES_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_SWITCHES_H

#include "nsys_thread_table.h"

/* Rows that are sorted together: what lies further from its place than half of them is skipped. */
enum { TP_NSYS_SWITCHES_SORTED = 1 << 21 };

/*
 * Rows may come in any order. Before a thread's first switch and after the last one of all nothing
 * is known of it; a thread that is on a CPU then is so until the last switch of all.
 */
void tp_nsys_switches_read(struct tp_nsys_threads *threads);

#endif
