/* SPDX-License-Identifier: Apache-2.0 */
/* Creates databases of profilers and imports them like files of a user. */
#ifndef TRAINPROF_TESTS_UNIT_IMPORT_DATABASE_H
#define TRAINPROF_TESTS_UNIT_IMPORT_DATABASE_H

#include "imported.h"
#include "nsys_scene.h"

#include <check.h>

/* Returns false, which skips the test, if SQLite is missing. */
static inline bool database_import(struct imported *out, const char *sql)
{
	if (!nsys_can_read())
		return false;
	const char *path = nsys_file_make("%s", sql);
	imported_files(out, &path, 1, NULL);
	return true;
}

/* Returns the total time of device spans of a kind whose name has this prefix; a sum, because the
 * created spans do not overlap. */
static inline uint64_t imported_sum(const struct imported *in, enum tp_span_kind kind,
				    const char *prefix)
{
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < in->n_spans; i++)
		if (in->spans[i].kind == kind &&
		    strncmp(imported_name(in, i), prefix, strlen(prefix)) == 0)
			sum_ns += in->spans[i].end_ns - in->spans[i].start_ns;
	return sum_ns;
}

#endif
