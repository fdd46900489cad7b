/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of spans and kernels of a trace of ranks mean, each looked up once. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_RANK_NAMES_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_RANK_NAMES_H

#include "rank_data.h"

#include <stdint.h>

/* Makes analysis->names: one entry for each string of the trace, in the arena, all unknown. */
void tp_rank_names_init(struct tp_rank_analysis *analysis);

/* `name` is the id of a string; never NULL. */
const struct tp_kernel_row *tp_rank_kernel_row(struct tp_rank_analysis *analysis, uint32_t name);
enum tp_span_sense tp_rank_sense(struct tp_rank_analysis *analysis, const struct tp_span *span);

#endif
