/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings in an open-addressing hash table. */
#include "trainprof/base/strtab.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

void tp_strtab_init(struct tp_strtab *tab)
{
	*tab = (struct tp_strtab){0};
	tab->n_slots = FIRST_SLOTS;
	tab->slots = tp_alloc(FIRST_SLOTS * sizeof(*tab->slots));
	TP_ARRAY_PUSH(tab->texts, tab->n, tab->texts_capacity) = "";
}

void tp_strtab_release(struct tp_strtab *tab)
{
	tp_arena_release(&tab->arena);
	free(tab->texts);
	free(tab->slots);
	*tab = (struct tp_strtab){0};
}

static size_t slot_find(const struct tp_strtab *tab, const char *text, size_t len)
{
	size_t slot = tp_hash_bytes(text, len) & (tab->n_slots - 1);
	while (tab->slots[slot]) {
		const char *there = tab->texts[tab->slots[slot]];
		if (strlen(there) == len && memcmp(there, text, len) == 0)
			break;
		slot = (slot + 1) & (tab->n_slots - 1);
	}
	return slot;
}

static void slots_double(struct tp_strtab *tab)
{
	free(tab->slots);
	tab->n_slots *= 2;
	tab->slots = tp_alloc(tab->n_slots * sizeof(*tab->slots));
	for (uint32_t id = 1; id < tab->n; id++)
		tab->slots[slot_find(tab, tab->texts[id], strlen(tab->texts[id]))] = id;
}

uint32_t tp_strtab_intern(struct tp_strtab *tab, const char *text)
{
	return tp_strtab_intern_len(tab, text, strlen(text));
}

uint32_t tp_strtab_intern_len(struct tp_strtab *tab, const char *text, size_t len)
{
	len = strnlen(text, len);
	if (len == 0)
		return 0;
	size_t slot = slot_find(tab, text, len);
	if (tab->slots[slot])
		return tab->slots[slot];
	uint32_t id = (uint32_t)tab->n;
	const char *copy = tp_arena_strndup(&tab->arena, text, len);
	TP_ARRAY_PUSH(tab->texts, tab->n, tab->texts_capacity) = copy;
	tab->slots[slot] = id;
	if (tab->n * 2 > tab->n_slots)
		slots_double(tab);
	return id;
}

const char *tp_strtab_text(const struct tp_strtab *tab, uint32_t id)
{
	return id < tab->n ? tab->texts[id] : "";
}
