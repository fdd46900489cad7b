/* SPDX-License-Identifier: Apache-2.0 */
/* Splits operations that contain others into segments of their self time. */
#include "self_time.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

/* Emits the part of an operation between `from_ns` and `until_ns`. */
static void emit_segment(struct tp_rank_writer *writer, const struct tp_span *op, uint64_t from_ns,
			 uint64_t until_ns)
{
	struct tp_span piece = *op;
	piece.start_ns = from_ns > op->start_ns ? from_ns : op->start_ns;
	piece.end_ns = until_ns < op->end_ns ? until_ns : op->end_ns;
	if (piece.end_ns > piece.start_ns)
		tp_rank_writer_span(writer, &piece);
}

void tp_self_time_emit(struct tp_rank_writer *writer, struct tp_span *ops, size_t n)
{
	if (!n)
		return;
	tp_spans_sort(ops, n);
	size_t *open = tp_alloc((n + 1) * sizeof(*open));
	size_t n_open = 0;
	uint64_t now_ns = 0;
	for (size_t i = 0; i <= n; i++) {
		uint64_t start_ns = i < n ? ops[i].start_ns : UINT64_MAX;
		while (n_open && ops[open[n_open - 1]].end_ns <= start_ns) {
			const struct tp_span *op = &ops[open[--n_open]];
			emit_segment(writer, op, now_ns, op->end_ns);
			now_ns = op->end_ns > now_ns ? op->end_ns : now_ns;
		}
		if (i == n)
			break;
		if (n_open)
			emit_segment(writer, &ops[open[n_open - 1]], now_ns, start_ns);
		now_ns = start_ns > now_ns ? start_ns : now_ns;
		open[n_open++] = i;
	}
	free(open);
}
