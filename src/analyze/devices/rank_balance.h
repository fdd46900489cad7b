/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the compute time of ranks and of pipeline stages with that of their peers. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_RANK_BALANCE_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_RANK_BALANCE_H

#include "collective_match.h"

/* Sets the facts about the slowest rank, the slowest stage, and uneven work. What would be saved is
 * known only if the collectives of the ranks were matched. Ranks that were not joined, of which
 * `all` has no kernels, are not compared. */
void tp_rank_balance_set(const struct tp_collectives *all);

#endif
