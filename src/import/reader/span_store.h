/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of a rank that can be emitted only when all have been read, because the roles of their
 * lanes come last, or because only the outermost are kept. 32 bytes each. */
#ifndef TRAINPROF_SRC_IMPORT_READER_SPAN_STORE_H
#define TRAINPROF_SRC_IMPORT_READER_SPAN_STORE_H

#include "rank_writer.h"

/* Zero-initialised is empty and valid. */
struct tp_span_store {
	struct tp_span *items; /* heap; the owner defines the meaning of `track` */
	size_t n;
	size_t capacity;
};

/* Passes all spans to the writer; their tracks must be the writer's by now. Of Python functions
 * only the outermost of each track, unless `keeps_python`. */
void tp_span_store_emit(struct tp_span_store *store, struct tp_rank_writer *writer,
			bool keeps_python);
void tp_span_store_release(struct tp_span_store *store);

#endif
