/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of a rank that can be emitted only when all have been read: what their lanes are is said
 * last, or which of them lie inside others. 32 bytes each.
 */
#ifndef TRAINPROF_SRC_IMPORT_READER_SPAN_STORE_H
#define TRAINPROF_SRC_IMPORT_READER_SPAN_STORE_H

#include "rank_writer.h"

/* Zero-initialised is empty and valid. */
struct tp_span_store {
	struct tp_span *items; /* heap; `track` is what the owner makes of it */
	size_t n;
	size_t capacity;
};

/* Give all to the writer, whose tracks they name by now. Of Python functions only the outermost of
 * each track, unless `keeps_python`. */
void tp_span_store_emit(struct tp_span_store *store, struct tp_rank_writer *writer,
			bool keeps_python);
void tp_span_store_release(struct tp_span_store *store);

#endif
