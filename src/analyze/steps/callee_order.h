/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of a loop whose callees take turns: A B C A B C. Where the order begins anew, a round
 * does, also when the first in turn was too short to be seen: a batch that is there when it is
 * asked for, a call that an interpreter makes by another way at first.
 */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CALLEE_ORDER_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CALLEE_ORDER_H

#include "loop_level.h"

/*
 * The rounds by the order in which the callees of `level`, which has a marker, take turns. The
 * stays of `out` (heap, as of any callee) are the rounds; its node is the first in turn. False, and
 * nothing given, where there is no such order, or rounds are not alike in their work.
 */
bool tp_callee_order_find(struct tp_callee *out, const struct tp_loop_level *level,
			  const struct tp_call_tree *tree);

#endif
