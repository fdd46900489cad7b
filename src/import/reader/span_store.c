/* SPDX-License-Identifier: Apache-2.0 */
/* Emits spans that were kept. */
#include "span_store.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

static bool has_python(const struct tp_span_store *store)
{
	for (size_t i = 0; i < store->n; i++)
		if (store->items[i].kind == TP_SPAN_PYTHON)
			return true;
	return false;
}

void tp_span_store_emit(struct tp_span_store *store, struct tp_rank_writer *writer,
			bool keeps_python)
{
	uint64_t *ends_ns = NULL; /* by track: end of the outermost function so far */
	if (!keeps_python && has_python(store)) {
		ends_ns = tp_alloc((UINT16_MAX + 1) * sizeof(*ends_ns));
		tp_spans_sort(store->items, store->n);
	}
	for (size_t i = 0; i < store->n; i++) {
		const struct tp_span *span = &store->items[i];
		if (ends_ns && span->kind == TP_SPAN_PYTHON) {
			if (span->start_ns < ends_ns[span->track])
				continue;
			ends_ns[span->track] = span->end_ns;
		}
		tp_rank_writer_span(writer, span);
	}
	free(ends_ns);
}

void tp_span_store_release(struct tp_span_store *store)
{
	free(store->items);
	*store = (struct tp_span_store){0};
}
