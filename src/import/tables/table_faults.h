/* SPDX-License-Identifier: Apache-2.0 */
/* Finds why a database of a known maker holds nothing that can be read. */
#ifndef TRAINPROF_SRC_IMPORT_TABLES_TABLE_FAULTS_H
#define TRAINPROF_SRC_IMPORT_TABLES_TABLE_FAULTS_H

#include "import/sqlite/sqlite_db.h"
#include "tables.h"

#include "trainprof/base/buf.h"

/* Adds ": " and the reasons: the damage, the version of the schema, columns that are missing in the
 * tables of devices. Adds nothing if there is none of these. */
void tp_table_faults_add(struct tp_buf *out, struct tp_sqlite_db *db,
			 const struct tp_table_dialect *dialect);

#endif
