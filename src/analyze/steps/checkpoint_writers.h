/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions in user code that save state, whatever their names. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CHECKPOINT_WRITERS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CHECKPOINT_WRITERS_H

#include "call_tree.h"

#include <stdint.h>

/* Searches the direct callees of the looping function `loop`: stacks below a function that saves
 * state get the checkpoint phase if they are in no phase or in compute. Must run before labels are
 * assigned. */
void tp_checkpoint_writers_mark(struct tp_analysis *analysis, const struct tp_call_tree *tree,
				uint32_t loop);

#endif
