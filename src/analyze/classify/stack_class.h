/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies a stack from all its frames. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_STACK_CLASS_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_STACK_CLASS_H

#include "analyze/analysis.h"

/* Returns a class for every stack of the trace, in the analysis' arena. Each frame is matched once.
 * *flags, unless flags is NULL: TP_FRAME_IS_… of every frame, also in the arena. */
struct tp_stack_class *tp_stack_class_build(const struct tp_trace *trace,
					    const struct tp_patterns *patterns,
					    struct tp_arena *arena, uint8_t **flags);

#endif
