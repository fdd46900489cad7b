/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the lines of one run in another run, although an edit has moved them. */
#ifndef TRAINPROF_SRC_GATE_PLACE_MATCH_H
#define TRAINPROF_SRC_GATE_PLACE_MATCH_H

#include "trainprof/model/run_values.h"

/* Returns for each place of `now` the index of the same place in `base`, or base->n if it is
 * new. Kernels are the same if they have the same name. Lines are the same only within a function
 * and a part; there they keep their order, and of all such pairings that one is chosen in which the
 * times resemble each other most. The result is in the arena. */
const size_t *tp_place_match(const struct tp_value_places *base, const struct tp_value_places *now,
			     struct tp_arena *arena);

#endif
