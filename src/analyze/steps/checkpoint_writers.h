/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions of the user's own that save state, whatever they are called. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CHECKPOINT_WRITERS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CHECKPOINT_WRITERS_H

#include "call_tree.h"

#include <stdint.h>

/* Among what the looping function `loop` calls: gives stacks below such calls that are in no phase,
 * or in math, the phase of checkpoints. Before labels are given. */
void tp_checkpoint_writers_mark(struct tp_analysis *analysis, const struct tp_call_tree *tree,
				uint32_t loop);

#endif
