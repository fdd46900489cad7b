/* SPDX-License-Identifier: Apache-2.0 */
/* Caches the unwind rules of a module by address: the first lookup of an address costs
 * microseconds, each later one nanoseconds. */
#ifndef TRAINPROF_SRC_STACK_CFI_UNWIND_RULE_CACHE_H
#define TRAINPROF_SRC_STACK_CFI_UNWIND_RULE_CACHE_H

#include "cfi.h"

struct tp_unwind_rule_cache {
	struct tp_unwind_rule *slots;
	size_t n_slots; /* 0 or a power of two */
	size_t n_used;
	uint64_t n_misses; /* lookups that had to read the file */
	struct tp_fde_table fdes;
	bool has_fdes;
};

void tp_unwind_rule_cache_release(struct tp_unwind_rule_cache *rules);

/* Returns the rule for the code at `vaddr`: never NULL, valid until the next call. */
struct tp_unwind_rule *tp_unwind_rule_cache_get(struct tp_unwind_rule_cache *rules,
						struct tp_elf_image *image, uint64_t vaddr);
/* Finds the bounds of the function around `vaddr` in the unwind table. */
bool tp_unwind_rule_cache_bounds(struct tp_unwind_rule_cache *rules, struct tp_elf_image *image,
				 uint64_t vaddr, uint64_t *start, uint64_t *end);

#endif
