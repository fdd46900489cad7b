/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the entries of a folder of rules by name. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_LISTING_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_LISTING_H

#include "trainprof/base/status.h"

/* Zero-initialised is empty. Names are sorted by bytes, independent of the locale. */
struct tp_listing {
	struct dirent **items;
	int n;
};

/* Lists entries whose names do not begin with a dot.
 * Errors  TP_ABSENT: no folder there; TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_listing_read(struct tp_listing *out, const char *path,
					     struct tp_error *err);
void tp_listing_release(struct tp_listing *listing);
/* The i-th name without its ".json", freed by the caller; NULL if it has no such ending. */
char *tp_listing_basename(const struct tp_listing *listing, int i);

#endif
