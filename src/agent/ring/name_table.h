/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as ids of the ring. Found by where the name lies, which is quick, or else by its text. A
 * module that is unloaded leaves its names' places to others, so a place is believed only until
 * tp_name_table_mark_stale(): after that its text is compared with the one that was added. Within
 * one buffer of CUPTI that is never necessary, since all of it is read at one time.
 *
 * Holds no memory of its own beyond the struct; the texts are those in the ring. One thread at a
 * time, as the ring.
 */
#ifndef TRAINPROF_SRC_AGENT_RING_NAME_TABLE_H
#define TRAINPROF_SRC_AGENT_RING_NAME_TABLE_H

#include "ring_writer.h"

enum {
	TP_NAME_TABLE_ADDRESSES = 1 << 12, /* pointers; of two that meet the later one stays */
	TP_NAME_TABLE_TEXTS = 1 << 15,     /* a quarter stays free */
};

struct tp_name_table {
	struct tp_ring_writer *ring;
	uint32_t n;
	uint32_t n_doubts;
	struct {
		const char *at;
		uint32_t id;     /* 0: there was no room for it */
		uint32_t looked; /* n_doubts, when its text was looked at last */
	} places[TP_NAME_TABLE_ADDRESSES];
	struct {
		uint32_t hash;
		uint32_t id; /* 0 = free */
	} texts[TP_NAME_TABLE_TEXTS];
};

/* Zeroed memory with `ring` set is an empty table. */

/* The id; 0 for NULL and when there is no room. Only the first TP_GPU_NAME_MAX bytes count. */
uint32_t tp_name_table_id(struct tp_name_table *table, const char *name);

/* From here on other texts may lie where names were. */
void tp_name_table_mark_stale(struct tp_name_table *table);

#endif
