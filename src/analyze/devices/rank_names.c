/* SPDX-License-Identifier: Apache-2.0 */
/* Caches the meaning of each name of a trace, so that patterns match it once. */
#include "rank_names.h"

#include <string.h>

enum { SENSE_UNSET = UINT8_MAX };

enum tp_span_sense tp_rank_sense(struct tp_rank_analysis *analysis, const struct tp_span *span)
{
	struct tp_name_info *info = &analysis->names[span->name];
	uint8_t *sense = &info->sense[span->kind];
	if (*sense == SENSE_UNSET)
		*sense = (uint8_t)tp_span_sense_find(analysis->patterns,
						     (enum tp_span_kind)span->kind,
						     tp_trace_string(analysis->trace, span->name));
	return (enum tp_span_sense) * sense;
}

const struct tp_kernel_row *tp_rank_kernel_row(struct tp_rank_analysis *analysis, uint32_t name)
{
	struct tp_name_info *info = &analysis->names[name];
	if (!info->row)
		info->row = tp_kernel_row_find(analysis->patterns,
					       tp_trace_string(analysis->trace, name));
	return info->row;
}

void tp_rank_names_init(struct tp_rank_analysis *analysis)
{
	size_t n = analysis->trace->n_strings;
	analysis->names = tp_arena_array(analysis->arena, n, sizeof(*analysis->names));
	for (size_t i = 0; i < n; i++)
		memset(analysis->names[i].sense, SENSE_UNSET, sizeof(analysis->names[i].sense));
}

struct tp_intervals tp_rank_spans_of(struct tp_rank_analysis *analysis,
				     const struct tp_rank_work *rank, enum tp_span_sense sense)
{
	struct tp_intervals list = {0};
	for (size_t i = 0; i < rank->n_threads; i++) {
		const struct tp_track_spans *spans = &analysis->trace->spans[rank->threads[i]];
		for (size_t k = 0; k < spans->n; k++)
			if (tp_rank_sense(analysis, &spans->items[k]) == sense)
				tp_intervals_add(&list, spans->items[k].start_ns,
						 spans->items[k].end_ns);
	}
	tp_intervals_merge(&list);
	return list;
}
