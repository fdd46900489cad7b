/* SPDX-License-Identifier: Apache-2.0 */
/* The strings of an export, by the number that its tables use for them (StringIds). */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_NAMES_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_NAMES_H

#include "import/reader/rank_writer.h"
#include "import/sqlite/sqlite_db.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/map.h"

/* The use of a string determines which part of it is the name. */
enum tp_nsys_use { TP_NSYS_KERNEL, TP_NSYS_CALL, TP_NSYS_RANGE, TP_NSYS_N_USES };

/* Zero-initialised is empty and valid. */
struct tp_nsys_names {
	struct tp_arena arena;
	struct tp_map numbers; /* of StringIds -> index into texts */
	struct tp_nsys_text {
		const char *text;
		size_t len;
	} * texts;
	size_t n_texts;
	size_t texts_capacity;
};

/* The ids of the strings in a rank's writer. Zero-initialised is empty and valid. */
struct tp_nsys_naming {
	uint32_t *ids[TP_NSYS_N_USES]; /* by index into texts; 0 = not requested yet */
};

void tp_nsys_names_load(struct tp_nsys_names *names, struct tp_sqlite_db *db);
void tp_nsys_names_release(struct tp_nsys_names *names);
void tp_nsys_naming_release(struct tp_nsys_naming *naming);

/* Returns the text that a cell contains or refers to by number, unchanged; "" if it does neither.
 * Borrowed; a text of the cell itself only until the next row. */
const char *tp_nsys_names_text(const struct tp_nsys_names *names, const struct tp_sqlite_cell *cell,
			       size_t *len);
/* Returns the writer's string for a cell that contains a text or the number of one; 0 for a cell
 * with neither. A number without a text in the file still is a distinct name: "string 42".
 * is_operator   see tp_range_name_len(); false for other uses. */
uint32_t tp_nsys_names_find(const struct tp_nsys_names *names, struct tp_nsys_naming *naming,
			    struct tp_rank_writer *writer, enum tp_nsys_use use,
			    const struct tp_sqlite_cell *cell, bool *is_operator);

#endif
