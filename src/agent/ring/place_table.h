/* SPDX-License-Identifier: Apache-2.0 */
/* Places (device, context, stream) as numbers of the ring. One thread at a time, like the ring. */
#ifndef TRAINPROF_SRC_AGENT_RING_PLACE_TABLE_H
#define TRAINPROF_SRC_AGENT_RING_PLACE_TABLE_H

#include "ring_writer.h"

enum { TP_PLACE_TABLE_SLOTS = 2 * TP_GPU_RING_PLACES };

struct tp_place_table {
	struct tp_ring_writer *ring;
	uint16_t last; /* place of the previous event; most events share it */
	uint16_t slots[TP_PLACE_TABLE_SLOTS];
};

/* Zeroed memory with `ring` set is an empty table. */

/* Returns the number; 0, counted, if there is no room. */
uint16_t tp_place_table_number(struct tp_place_table *table, uint32_t device, uint32_t context,
			       uint32_t stream);

#endif
