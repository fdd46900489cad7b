/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of an export that hold spans. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_TABLES_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_TABLES_H

#include "nsys_names.h"
#include "nsys_process.h"

/* Whether the database has any table of nsys's that is read. */
bool tp_nsys_tables_any(const struct tp_sqlite_db *db);

/* Give every span of every rank to its writer; the rest is skipped and counted. */
void tp_nsys_tables_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			 struct tp_sqlite_db *db);

#endif
