/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which devices do the same work: replicas of one stage of a pipeline, or, without a
 * pipeline, all of them. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_RANK_STAGES_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_RANK_STAGES_H

#include "collective_match.h"

/* Sets the stage of each device, counted from 0 in the order of ranks, in of[n_devices]. Returns
 * the number of stages; 0 if the trace does not show which devices belong together. */
size_t tp_rank_stages_find(const struct tp_collectives *all, uint32_t *of);

#endif
