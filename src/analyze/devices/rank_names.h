/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of the names of spans and kernels in a trace of ranks, each looked up once. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_RANK_NAMES_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_RANK_NAMES_H

#include "rank_data.h"

#include <stdint.h>

/* Allocates analysis->names in the arena: one entry per string of the trace, all not looked up. */
void tp_rank_names_init(struct tp_rank_analysis *analysis);

/* `name` is a string id. Never returns NULL. */
const struct tp_kernel_row *tp_rank_kernel_row(struct tp_rank_analysis *analysis, uint32_t name);
enum tp_span_sense tp_rank_sense(struct tp_rank_analysis *analysis, const struct tp_span *span);
/* Returns the union of the spans of a meaning on the rank's threads; heap. */
struct tp_intervals tp_rank_spans_of(struct tp_rank_analysis *analysis,
				     const struct tp_rank_work *rank, enum tp_span_sense sense);

#endif
