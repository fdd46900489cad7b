/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the guide (technique.h) into a rulebook. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_CATALOGUE_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_CATALOGUE_H

#include "book.h"

/* Adds limits.json, sources.json, pages.json and techniques/ of a folder; missing files count as
 * empty. A later item with the same id replaces the earlier one in its place. `n` counts the files
 * that were found.
 * Errors  TP_PARSE, TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_catalogue_load(struct tp_rulebook *book, const char *directory,
					       size_t *n, struct tp_error *err);
/* Sorts, and replaces names by pointers.
 * Errors  TP_PARSE: an item names something that does not exist, or itself through others. */
TP_MUST_CHECK enum tp_status tp_catalogue_link(struct tp_rulebook *book, struct tp_error *err);

const char *tp_catalogue_nearest_limit(const struct tp_catalogue *catalogue, const char *id);
const char *tp_catalogue_nearest_technique(const struct tp_catalogue *catalogue, const char *id);

#endif
