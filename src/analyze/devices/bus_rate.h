/* SPDX-License-Identifier: Apache-2.0 */
/* Transfer rate of collectives over the interconnect of their ranks. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_BUS_RATE_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_BUS_RATE_H

#include "rank_data.h"

/* Sets comm.bus_bytes_per_s: the median over collectives of the bytes that each rank has to send or
 * receive at least, divided by the shortest time of the kernel on any rank: on the other ranks the
 * kernel also waited for later ranks. Needs sizes and member counts as NCCL records them; other
 * tools count sizes differently. */
void tp_bus_rate_set(struct tp_rank_analysis *analysis);

#endif
