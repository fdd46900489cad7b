/*
 * Names as ids of the ring. Found by where the name lies, which is quick, and believed only when
 * the text there is still the one that was added: a module that is unloaded leaves its names'
 * places to others. Then by text.
 *
 * Holds no memory of its own beyond the struct; the texts are those in the ring. One thread at a
 * time, as the ring.
 */
#ifndef TRAINPROF_SRC_AGENT_NAMETABLE_H
#define TRAINPROF_SRC_AGENT_NAMETABLE_H

#include "ringwriter.h"

enum {
	TP_NAMETABLE_PLACES = 1 << 12, /* pointers; of two that meet the later one stays */
	TP_NAMETABLE_TEXTS = 1 << 15,  /* a quarter stays free */
};

struct tp_nametable {
	struct tp_ringwriter *ring;
	uint32_t n;
	struct {
		const char *at;
		uint32_t id;
	} places[TP_NAMETABLE_PLACES];
	struct {
		uint32_t hash;
		uint32_t id; /* 0 = free */
	} texts[TP_NAMETABLE_TEXTS];
};

/* Zeroed memory with `ring` set is an empty table. */

/* The id; 0 for NULL and when there is no room. Only the first TP_GPU_NAME_MOST bytes count. */
uint32_t tp_nametable_id(struct tp_nametable *table, const char *name);

#endif
