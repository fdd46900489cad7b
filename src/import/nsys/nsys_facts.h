/* SPDX-License-Identifier: Apache-2.0 */
/* What an export tells of machine, job and threads. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_FACTS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_FACTS_H

#include "nsys_names.h"
#include "nsys_process.h"

/* Tell the ranks' writers host, devices, place in the job and names of threads; after their spans,
 * for only threads with spans are named. */
void tp_nsys_facts_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			struct tp_sqlite_db *db);

#endif
