/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a row is by its name or type, and remembers it: a database has few texts for many
 * rows. */
#ifndef TRAINPROF_SRC_IMPORT_TABLES_TABLE_TYPES_H
#define TRAINPROF_SRC_IMPORT_TABLES_TABLE_TYPES_H

#include "table_values.h"

enum { TP_TABLE_TYPES_KNOWN = 512 };

/* For one list of types; zero-initialised is empty and valid. */
struct tp_table_types {
	uint32_t text_ids[TP_TABLE_TYPES_KNOWN]; /* by the rest of a division; 0 = none */
	const struct tp_table_type *types[TP_TABLE_TYPES_KNOWN];
};

/* Returns the first of the types that the text matches; NULL if there is none, or no text. */
const struct tp_table_type *tp_table_types_find(struct tp_table_types *known,
						const struct tp_table_type *types, size_t n,
						const struct tp_table_value *value);

#endif
