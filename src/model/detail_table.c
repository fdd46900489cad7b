/* SPDX-License-Identifier: Apache-2.0 */
/* Interns details: equal details get equal ids. */
#include "trainprof/model/detail_table.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { NO_MORE = 0 };

struct tp_detail_entry {
	struct tp_detail detail;
	uint32_t next; /* next entry with the same hash; NO_MORE = last */
};

void tp_detail_table_init(struct tp_detail_table *table)
{
	*table = (struct tp_detail_table){0};
	TP_ARRAY_PUSH(table->items, table->n, table->capacity) =
		(struct tp_detail_entry){.next = NO_MORE};
}

void tp_detail_table_release(struct tp_detail_table *table)
{
	free(table->items);
	tp_map_release(&table->ids);
	*table = (struct tp_detail_table){0};
}

static uint64_t detail_hash(const struct tp_detail *d)
{
	uint64_t hash = tp_hash_mix(d->bytes, d->blocks);
	hash = tp_hash_mix(hash, (uint64_t)d->threads << 32 | d->op);
	hash = tp_hash_mix(hash, (uint64_t)d->type << 32 | d->group);
	return tp_hash_mix(hash, (uint64_t)d->n_ranks << 32 | d->sequence);
}

/* The struct has no padding: two members of eight bytes, then six of four. */
static bool detail_equal(const struct tp_detail *a, const struct tp_detail *b)
{
	_Static_assert(sizeof(*a) == 40, "no padding");
	return memcmp(a, b, sizeof(*a)) == 0;
}

uint32_t tp_detail_table_intern(struct tp_detail_table *table, const struct tp_detail *detail)
{
	if (detail_equal(detail, &table->items[0].detail))
		return 0;
	uint64_t hash = detail_hash(detail);
	uint64_t head = NO_MORE;
	(void)tp_map_get(&table->ids, hash, &head);
	for (uint32_t id = (uint32_t)head; id != NO_MORE; id = table->items[id].next)
		if (detail_equal(&table->items[id].detail, detail))
			return id;
	uint32_t id = (uint32_t)table->n;
	TP_ARRAY_PUSH(table->items, table->n, table->capacity) =
		(struct tp_detail_entry){.detail = *detail, .next = (uint32_t)head};
	tp_map_set(&table->ids, hash, id);
	return id;
}

const struct tp_detail *tp_detail_table_get(const struct tp_detail_table *table, uint32_t id)
{
	return &table->items[id < table->n ? id : 0].detail;
}
