/* SPDX-License-Identifier: Apache-2.0 */
/* Maps categories of events to kinds of spans: Kineto's names of activities, old and new. */
#ifndef TRAINPROF_SRC_IMPORT_READER_CATEGORY_H
#define TRAINPROF_SRC_IMPORT_READER_CATEGORY_H

#include <stddef.h>
#include <stdint.h>

enum tp_category_use {
	TP_CATEGORY_UNKNOWN, /* not Kineto's */
	TP_CATEGORY_KEPT,
	TP_CATEGORY_LEFT_OUT, /* known to repeat other events, or not to be work */
};

struct tp_category {
	enum tp_category_use use;
	uint8_t kind; /* enum tp_span_kind, if kept */
};

enum { TP_CATEGORY_CACHED = 64, TP_CATEGORY_CACHED_BYTES = 24 };

struct tp_category_row {
	char name[TP_CATEGORY_CACHED_BYTES];
	size_t len; /* 0 = empty */
	struct tp_category category;
};

/* The last categories found: a trace has few categories and millions of events. Zero-initialised is
 * empty and valid. */
struct tp_category_cache {
	struct tp_category_row rows[TP_CATEGORY_CACHED];
};

struct tp_category tp_category_find(struct tp_category_cache *cache, const char *name, size_t len);

#endif
