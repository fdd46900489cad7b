/* SPDX-License-Identifier: Apache-2.0 */
/* Interned details of spans: equal details get equal ids; id 0 is the detail without
 * information. */
#ifndef TRAINPROF_MODEL_DETAIL_TABLE_H
#define TRAINPROF_MODEL_DETAIL_TABLE_H

#include "trainprof/base/map.h"
#include "trainprof/model/span.h"

#include <stddef.h>
#include <stdint.h>

struct tp_detail_entry;

struct tp_detail_table {
	struct tp_detail_entry *items; /* by id; heap */
	size_t n;                      /* number of ids, including 0 */
	size_t capacity;
	struct tp_map ids; /* hash of a detail -> head of a chain in items */
};

void tp_detail_table_init(struct tp_detail_table *table);
void tp_detail_table_release(struct tp_detail_table *table);

/* A new detail gets the id that `n` had before. */
uint32_t tp_detail_table_intern(struct tp_detail_table *table, const struct tp_detail *detail);
/* Borrowed until the next change; the detail of id 0 for an id that does not exist. */
const struct tp_detail *tp_detail_table_get(const struct tp_detail_table *table, uint32_t id);

#endif
