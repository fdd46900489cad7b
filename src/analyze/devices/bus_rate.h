/* SPDX-License-Identifier: Apache-2.0 */
/* How fast collectives go over what connects their ranks. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_BUS_RATE_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_BUS_RATE_H

#include "rank_data.h"

/*
 * Sets comm.bus_bytes_per_s: the median over collectives of what each rank has to send or receive
 * at least, by the slowest way to count it, through the shortest time that the kernel took on any
 * rank: on the others it also waited for those that came later. Needs sizes and members as NCCL
 * tells them; other tools count sizes in other ways.
 */
void tp_bus_rate_set(struct tp_rank_analysis *analysis);

#endif
