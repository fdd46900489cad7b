/* SPDX-License-Identifier: Apache-2.0 */
/* One hash table over the ring's places. */
#include "place_table.h"

static bool is_at(const struct tp_place_table *table, uint16_t number, uint32_t device,
		  uint32_t context, uint32_t stream)
{
	const struct tp_gpu_place *place = &table->ring->places[number - 1];
	return place->stream == stream && place->device == device && place->context == context;
}

static uint32_t hash_place(uint32_t device, uint32_t context, uint32_t stream)
{
	uint64_t hash = stream + (uint64_t)context * 0x10001u + ((uint64_t)device << 32);
	return (uint32_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

uint16_t tp_place_table_number(struct tp_place_table *table, uint32_t device, uint32_t context,
			       uint32_t stream)
{
	if (table->last && is_at(table, table->last, device, context, stream))
		return table->last;
	uint32_t i = hash_place(device, context, stream) % TP_PLACE_TABLE_SLOTS;
	for (; table->slots[i]; i = (i + 1) % TP_PLACE_TABLE_SLOTS)
		if (is_at(table, table->slots[i], device, context, stream))
			return table->last = table->slots[i];
	uint16_t number = tp_ring_writer_add_place(table->ring, device, context, stream);
	if (!number) {
		table->ring->header->n_unplaced++;
		return 0;
	}
	return table->last = table->slots[i] = number;
}
