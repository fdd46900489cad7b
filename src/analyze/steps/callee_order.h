/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rounds of a loop whose callees take turns: A B C A B C. A round begins where the order
 * restarts, even if the first callee was too short to be sampled: for instance a batch that is
 * ready when it is requested, or a call that an interpreter makes differently the first time. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CALLEE_ORDER_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CALLEE_ORDER_H

#include "loop_level.h"

/* Finds the rounds by the order in which the callees of `level`, which has a marker, take turns.
 * The stays of `out` (heap, as for any callee) are the rounds; its node is the marker's. Returns
 * false and sets nothing if there is no such order, or if the work of the rounds differs too
 * much. */
bool tp_callee_order_find(struct tp_callee *out, const struct tp_loop_level *level,
			  const struct tp_call_tree *tree);

#endif
