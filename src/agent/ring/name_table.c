/* SPDX-License-Identifier: Apache-2.0 */
/* Two hash tables over the ring's names. */
#include "name_table.h"

#include <string.h>

static uint32_t hash_place(const char *at)
{
	return (uint32_t)(((uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

/* FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv). */
static uint32_t hash_text(const char *text, size_t length)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash;
}

static bool is_same(const struct tp_name_table *table, uint32_t id, const char *name)
{
	return strncmp(tp_ring_writer_name(table->ring, id), name, TP_GPU_NAME_MAX) == 0;
}

static uint32_t find_or_add(struct tp_name_table *table, const char *name)
{
	size_t length = strnlen(name, TP_GPU_NAME_MAX);
	uint32_t hash = hash_text(name, length);
	uint32_t i = hash & (TP_NAME_TABLE_TEXTS - 1);
	for (; table->texts[i].id; i = (i + 1) & (TP_NAME_TABLE_TEXTS - 1))
		if (table->texts[i].hash == hash && is_same(table, table->texts[i].id, name))
			return table->texts[i].id;
	if (table->n >= TP_NAME_TABLE_TEXTS / 4 * 3) {
		__atomic_fetch_add(&table->ring->header->n_unnamed, 1, __ATOMIC_RELAXED);
		return 0;
	}
	uint32_t id = tp_ring_writer_add_name(table->ring, name, length);
	if (!id)
		return 0;
	table->texts[i].hash = hash;
	table->texts[i].id = id;
	table->n++;
	return id;
}

uint32_t tp_name_table_id(struct tp_name_table *table, const char *name)
{
	if (!name)
		return 0;
	uint32_t i = hash_place(name) & (TP_NAME_TABLE_ADDRESSES - 1);
	uint32_t id = table->places[i].id;
	bool is_known = table->places[i].at == name;
	if (is_known && table->places[i].looked == table->n_doubts)
		return id;
	if (!is_known || !id || !is_same(table, id, name))
		id = find_or_add(table, name);
	table->places[i].at = name;
	table->places[i].id = id;
	table->places[i].looked = table->n_doubts;
	return id;
}

void tp_name_table_mark_stale(struct tp_name_table *table)
{
	table->n_doubts++;
}
