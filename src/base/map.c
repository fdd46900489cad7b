/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map with open addressing and tombstones. */
#include "trainprof/base/map.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

enum slot_state { SLOT_EMPTY, SLOT_FULL, SLOT_REMOVED };

/* At most two thirds of the slots are used. */
enum { N_SLOTS_MIN = 16, USED_MAX = 2, USED_OF = 3 };

struct tp_map_slot {
	uint64_t key;
	uint64_t value;
};

/* A byte for each slot, after the slots: in the slot it would take eight. */
static unsigned char *states_of(const struct tp_map *map)
{
	return (unsigned char *)(map->slots + map->n_slots);
}

/* Finaliser of splitmix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators",
 * OOPSLA 2014, figure 16 (constants of the variant by Vigna). */
static uint64_t hash_word(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t tp_hash_mix(uint64_t a, uint64_t b)
{
	return hash_word(a ^ hash_word(b + UINT64_C(0x9e3779b97f4a7c15)));
}

uint64_t tp_hash_bytes(const void *bytes, size_t size)
{
	/* FNV-1a, 64 bits (Fowler, Noll, Vo), mixed so that low bits are usable as a slot. */
	const unsigned char *p = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash_word(hash);
}

void tp_map_release(struct tp_map *map)
{
	free(map->slots);
	*map = (struct tp_map){0};
}

/* Returns the number of the key's slot, or of the slot where it would go. */
static size_t slot_find(const struct tp_map *map, uint64_t key)
{
	const unsigned char *states = states_of(map);
	size_t free_slot = map->n_slots;
	size_t i = hash_word(key) & (map->n_slots - 1);
	for (;; i = (i + 1) & (map->n_slots - 1)) {
		if (states[i] == SLOT_EMPTY)
			return free_slot < map->n_slots ? free_slot : i;
		if (states[i] == SLOT_FULL && map->slots[i].key == key)
			return i;
		if (states[i] == SLOT_REMOVED && free_slot == map->n_slots)
			free_slot = i;
	}
}

static void map_rehash(struct tp_map *map)
{
	struct tp_map old = *map;
	map->n_slots = N_SLOTS_MIN;
	while (map->n_slots < old.n * 2)
		map->n_slots *= 2;
	if (map->n_slots < old.n_slots)
		map->n_slots = old.n_slots;
	map->slots = tp_alloc(map->n_slots * (sizeof(*map->slots) + 1));
	map->n_used = old.n;
	for (size_t i = 0; i < old.n_slots; i++) {
		if (states_of(&old)[i] != SLOT_FULL)
			continue;
		size_t slot = slot_find(map, old.slots[i].key);
		map->slots[slot] = old.slots[i];
		states_of(map)[slot] = SLOT_FULL;
	}
	free(old.slots);
}

void tp_map_set(struct tp_map *map, uint64_t key, uint64_t value)
{
	if ((map->n_used + 1) * USED_OF > map->n_slots * USED_MAX)
		map_rehash(map);
	size_t slot = slot_find(map, key);
	unsigned char *state = &states_of(map)[slot];
	if (*state != SLOT_FULL) {
		map->n++;
		map->n_used += *state == SLOT_EMPTY;
	}
	map->slots[slot] = (struct tp_map_slot){key, value};
	*state = SLOT_FULL;
}

bool tp_map_get(const struct tp_map *map, uint64_t key, uint64_t *value)
{
	if (!map->n_slots)
		return false;
	size_t slot = slot_find(map, key);
	if (states_of(map)[slot] != SLOT_FULL)
		return false;
	if (value)
		*value = map->slots[slot].value;
	return true;
}

bool tp_map_remove(struct tp_map *map, uint64_t key)
{
	if (!map->n_slots)
		return false;
	size_t slot = slot_find(map, key);
	if (states_of(map)[slot] != SLOT_FULL)
		return false;
	states_of(map)[slot] = SLOT_REMOVED;
	map->n--;
	return true;
}

bool tp_map_next(const struct tp_map *map, size_t *cursor, uint64_t *key, uint64_t *value)
{
	for (; *cursor < map->n_slots; (*cursor)++) {
		const struct tp_map_slot *slot = &map->slots[*cursor];
		if (states_of(map)[*cursor] != SLOT_FULL)
			continue;
		*key = slot->key;
		*value = slot->value;
		(*cursor)++;
		return true;
	}
	return false;
}
