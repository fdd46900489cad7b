/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds what was traced of GPUs against what their driver says all the time: whether windows are
 * like the rest of the run, and whether the work that was traced is all that there was.
 */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_DRIVER_CROSSCHECK_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_DRIVER_CROSSCHECK_H

#include "rank_data.h"

/*
 * Sets windows.awake_ratio, windows.busy_ratio and windows.sm_active_ratio from the readings that
 * lie wholly in windows, or says why they are not known, and warns of differences of more than five
 * points that are no chance. Nothing where there are no windows. Needs ops of devices, shut.
 */
void tp_driver_crosscheck_compare(const struct tp_rank_analysis *ranks);

#endif
