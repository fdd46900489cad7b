/* SPDX-License-Identifier: Apache-2.0 */
/* Imports traces made for tests and keeps the results. */
#ifndef TRAINPROF_TESTS_UNIT_IMPORT_IMPORTED_H
#define TRAINPROF_TESTS_UNIT_IMPORT_IMPORTED_H

#include "trainprof/import/import.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/span.h"

#include <stddef.h>

struct imported {
	struct tp_sink sink; /* must be first */
	struct tp_span *spans;
	size_t n_spans;
	size_t spans_capacity;
	struct tp_track *tracks; /* by id, as emitted last */
	size_t n_tracks;
	size_t tracks_capacity;
	struct tp_import_result result;
	enum tp_status status;
	struct tp_error err;
};

/* options may be NULL. */
void imported_files(struct imported *out, const char *const *paths, size_t n,
		    const struct tp_import_options *options);
/* Imports a file of these bytes, in a directory that is removed afterwards. */
void imported_bytes(struct imported *out, const void *bytes, size_t size,
		    const struct tp_import_options *options);
void imported_text(struct imported *out, const char *text);
void imported_release(struct imported *imported);

/* Resolve the ids of span i. */
const char *imported_name(const struct imported *imported, size_t i);
const struct tp_track *imported_track(const struct imported *imported, size_t i);
struct tp_detail imported_detail(const struct imported *imported, size_t i);
/* Returns the number of spans of a kind. */
size_t imported_count(const struct imported *imported, enum tp_span_kind kind);

#endif
