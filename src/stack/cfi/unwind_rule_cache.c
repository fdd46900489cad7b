/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of unwind rules in front of the unwind tables. */
#include "unwind_rule_cache.h"

#include "call_site.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* At most 32 MiB per module; a full table is emptied. */
enum { RULES_FIRST_SLOTS = 256, RULES_MAX_SLOTS = 1 << 20 };

void tp_unwind_rule_cache_release(struct tp_unwind_rule_cache *rules)
{
	free(rules->slots);
	tp_fde_table_release(&rules->fdes);
	*rules = (struct tp_unwind_rule_cache){0};
}

static struct tp_fde_table *tables_of(struct tp_unwind_rule_cache *rules,
				      struct tp_elf_image *image)
{
	if (!rules->has_fdes) {
		tp_fde_table_init(&rules->fdes, image);
		rules->has_fdes = true;
	}
	return &rules->fdes;
}

/* Returns the slot of `key`, or the empty slot where it belongs. */
static struct tp_unwind_rule *slot_of(const struct tp_unwind_rule_cache *rules, uint32_t key)
{
	/* Fibonacci hashing: neighbouring addresses spread over the table. */
	size_t at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (rules->n_slots - 1);
	while (rules->slots[at].key != 0 && rules->slots[at].key != key)
		at = (at + 1) & (rules->n_slots - 1);
	return &rules->slots[at];
}

static struct tp_unwind_rule *slots_new(size_t n)
{
	size_t size = n * sizeof(struct tp_unwind_rule);
	struct tp_unwind_rule *slots = aligned_alloc(sizeof(*slots), size);
	if (!slots)
		tp_oom(size);
	memset(slots, 0, size);
	return slots;
}

static void grow(struct tp_unwind_rule_cache *rules)
{
	struct tp_unwind_rule_cache old = *rules;
	if (old.n_slots == RULES_MAX_SLOTS) {
		memset(rules->slots, 0, rules->n_slots * sizeof(*rules->slots));
		rules->n_used = 0;
		return;
	}
	rules->n_slots = old.n_slots ? old.n_slots * 2 : RULES_FIRST_SLOTS;
	rules->slots = slots_new(rules->n_slots);
	for (size_t i = 0; i < old.n_slots; i++) {
		if (old.slots[i].key != 0)
			*slot_of(rules, old.slots[i].key) = old.slots[i];
	}
	free(old.slots);
}

static struct tp_unwind_rule make_rule(struct tp_unwind_rule_cache *rules,
				       struct tp_elf_image *image, uint64_t vaddr)
{
	struct tp_unwind_rule rule = {.cfa = TP_RULE_CFA_NONE, .into_function = UINT32_MAX};
	struct tp_fde fde;
	rules->n_misses++;
	if (tp_fde_find(tables_of(rules, image), image, vaddr, &fde))
		tp_cfi_rule(&fde, image->machine, vaddr, &rule);
	/* The unwind table of arm64's vdso before Linux 5.8 skips the interrupted function. */
	if (rule.cfa == TP_RULE_CFA_NONE || rule.is_signal)
		tp_call_site_known_rule(image, vaddr, &rule);
	return rule;
}

struct tp_unwind_rule *tp_unwind_rule_cache_get(struct tp_unwind_rule_cache *rules,
						struct tp_elf_image *image, uint64_t vaddr)
{
	/* Addresses outside the image, or an image over 4 GiB, have no slot: they share one. */
	uint64_t offset = vaddr - image->low_vaddr;
	bool has_key = vaddr >= image->low_vaddr && offset < UINT32_MAX - 1;
	uint32_t key = has_key ? (uint32_t)offset + 1 : UINT32_MAX;
	if (rules->n_used * 2 >= rules->n_slots)
		grow(rules);
	struct tp_unwind_rule *slot = slot_of(rules, key);
	if (slot->key == key)
		return slot;
	if (has_key)
		*slot = make_rule(rules, image, vaddr);
	slot->key = key;
	rules->n_used++;
	return slot;
}

bool tp_unwind_rule_cache_bounds(struct tp_unwind_rule_cache *rules, struct tp_elf_image *image,
				 uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	struct tp_fde fde;
	if (!tp_fde_find(tables_of(rules, image), image, vaddr, &fde))
		return false;
	*start = fde.start;
	*end = fde.end;
	return true;
}
