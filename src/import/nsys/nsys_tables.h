/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tables of an export that contain spans. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_TABLES_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_TABLES_H

#include "nsys_names.h"
#include "nsys_process.h"

/* Returns true if the database has any nsys table that can be read. */
bool tp_nsys_tables_any(const struct tp_sqlite_db *db);

/* Passes every span of every rank to its writer; other rows are skipped and counted. */
void tp_nsys_tables_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			 struct tp_sqlite_db *db);

#endif
