/* SPDX-License-Identifier: Apache-2.0 */
/* Reads machine code: is there a call before this address, is this the return from a signal? */
#ifndef TRAINPROF_SRC_STACK_CFI_CALL_SITE_H
#define TRAINPROF_SRC_STACK_CFI_CALL_SITE_H

#include "cfi.h"
#include "stack/elf/elf_image.h"

/* What kind of call instruction ends at `vaddr`. */
struct tp_call_site {
	bool is_call;
	bool is_direct;
	uint64_t target; /* of a direct call */
};

struct tp_call_site tp_call_site_before(struct tp_elf_image *image, uint64_t vaddr);
/* Does `vaddr` hold a jump through a table (procedure linkage)? */
bool tp_call_site_is_plt(struct tp_elf_image *image, uint64_t vaddr);
/* Does the function [start, end) call `target` directly? */
bool tp_call_site_calls(struct tp_elf_image *image, uint64_t start, uint64_t end, uint64_t target);
/* Does the function [start, end) leave by a jump that may lead to `target`: there, through a table,
 * or to an address that is computed? */
bool tp_call_site_jumps_to(struct tp_elf_image *image, uint64_t start, uint64_t end,
			   uint64_t target);
/* Rules for code that is known by its bytes: returns from signals without unwind table, and the
 * program's entry point. Leaves `rule` alone otherwise. */
void tp_call_site_known_rule(struct tp_elf_image *image, uint64_t vaddr,
			     struct tp_unwind_rule *rule);

#endif
