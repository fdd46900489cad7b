/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the facts of an export about machine, job and threads. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_FACTS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_FACTS_H

#include "nsys_names.h"
#include "nsys_process.h"

/* Passes host, devices, rank in the job and names of threads to the ranks' writers. Runs after
 * their spans, because only threads with spans are named. */
void tp_nsys_facts_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			struct tp_sqlite_db *db);

#endif
