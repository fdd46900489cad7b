/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the traced GPU work with the driver's continuous readings: whether windows are like the
 * rest of the run, and whether the trace contains all work. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_DRIVER_CROSSCHECK_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_DRIVER_CROSSCHECK_H

#include "rank_data.h"

/* Sets windows.awake_ratio, windows.busy_ratio and windows.sm_active_ratio from the readings that
 * lie wholly in windows, or the reason why they are unknown, and warns of differences above five
 * points that are not by chance. Does nothing if there are no windows. Needs ops of devices,
 * shut. */
void tp_driver_crosscheck_compare(const struct tp_rank_analysis *ranks);

#endif
