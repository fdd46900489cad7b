/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map from 64-bit keys to 64-bit values, and the hashes used by it and by others. */
#ifndef TRAINPROF_BASE_MAP_H
#define TRAINPROF_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_map_slot;

/* Zero-initialised is empty and valid. Any key and value may be stored. */
struct tp_map {
	struct tp_map_slot *slots;
	size_t n;       /* keys present */
	size_t n_used;  /* slots ever used, including removed ones */
	size_t n_slots; /* 0 or a power of two */
};

void tp_map_release(struct tp_map *map);
void tp_map_set(struct tp_map *map, uint64_t key, uint64_t value);
bool tp_map_get(const struct tp_map *map, uint64_t key, uint64_t *value); /* value may be NULL */
bool tp_map_remove(struct tp_map *map, uint64_t key);
/* Walk in unspecified order: *cursor starts at 0; false at the end. No changes during a walk. */
bool tp_map_next(const struct tp_map *map, size_t *cursor, uint64_t *key, uint64_t *value);

uint64_t tp_hash_bytes(const void *bytes, size_t size);
uint64_t tp_hash_mix(uint64_t a, uint64_t b);

#endif
