/* SPDX-License-Identifier: Apache-2.0 */
/* Reads samples of threads: rows of COMPOSITE_EVENTS. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_SAMPLES_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_SAMPLES_H

#include "nsys_stacks.h"
#include "nsys_thread_table.h"

void tp_nsys_samples_read(const struct tp_nsys_stacks *stacks, struct tp_nsys_threads *threads);

#endif
