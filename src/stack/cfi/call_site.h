/* SPDX-License-Identifier: Apache-2.0 */
/* Reads machine code: finds out if a call precedes an address and if code is the return from a
 * signal. */
#ifndef TRAINPROF_SRC_STACK_CFI_CALL_SITE_H
#define TRAINPROF_SRC_STACK_CFI_CALL_SITE_H

#include "cfi.h"
#include "stack/elf/elf_image.h"

/* Kind of the call instruction that ends at `vaddr`. */
struct tp_call_site {
	bool is_call;
	bool is_direct;
	uint64_t target; /* of a direct call */
};

struct tp_call_site tp_call_site_before(struct tp_elf_image *image, uint64_t vaddr);
/* Returns true if `vaddr` holds a jump through a table (procedure linkage table). */
bool tp_call_site_is_plt(struct tp_elf_image *image, uint64_t vaddr);
/* Returns true if the function [start, end) calls `target` directly. */
bool tp_call_site_calls(struct tp_elf_image *image, uint64_t start, uint64_t end, uint64_t target);
/* Returns true if the function [start, end) ends in a jump that may lead to `target`: directly,
 * through a table, or to a computed address. */
bool tp_call_site_jumps_to(struct tp_elf_image *image, uint64_t start, uint64_t end,
			   uint64_t target);
/* Sets the rule for code that is recognised by its bytes: returns from signals without unwind
 * table, and the program's entry point. Leaves `rule` unchanged otherwise. */
void tp_call_site_known_rule(struct tp_elf_image *image, uint64_t vaddr,
			     struct tp_unwind_rule *rule);

#endif
