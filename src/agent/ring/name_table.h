/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as ids of the ring. A name is looked up by its address, which is fast, or else by its text.
 * When a module is unloaded, other strings may reuse the addresses of its names. An address is
 * therefore trusted only until tp_name_table_mark_stale() is called; after that the text is
 * compared with the one that was added. Within one buffer of CUPTI this is never necessary, because
 * the whole buffer is read at once.
 *
 * Uses no memory beyond the struct; the texts are in the ring. One thread at a time, like the ring.
 */
#ifndef TRAINPROF_SRC_AGENT_RING_NAME_TABLE_H
#define TRAINPROF_SRC_AGENT_RING_NAME_TABLE_H

#include "ring_writer.h"

enum {
	TP_NAME_TABLE_ADDRESSES =
		1 << 12, /* entries by address; a collision replaces the older entry */
	TP_NAME_TABLE_TEXTS = 1 << 15, /* entries by text; a quarter stays free */
};

struct tp_name_table {
	struct tp_ring_writer *ring;
	uint32_t n;
	uint32_t n_doubts;
	struct {
		const char *at;
		uint32_t id;     /* 0 = there was no room for it */
		uint32_t looked; /* n_doubts when its text was last compared */
	} places[TP_NAME_TABLE_ADDRESSES];
	struct {
		uint32_t hash;
		uint32_t id; /* 0 = free */
	} texts[TP_NAME_TABLE_TEXTS];
};

/* Zeroed memory with `ring` set is an empty table. */

/* Returns the id; 0 for NULL and if there is no room. Only the first TP_GPU_NAME_MAX bytes
 * count. */
uint32_t tp_name_table_id(struct tp_name_table *table, const char *name);

/* Declares that the memory of names may hold other texts from here on. */
void tp_name_table_mark_stale(struct tp_name_table *table);

#endif
