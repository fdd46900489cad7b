/* SPDX-License-Identifier: Apache-2.0 */
/* Location expressions of unwind tables, folded to "register + offset" or "word at that". */
#ifndef TRAINPROF_SRC_STACK_CFI_CFI_EXPR_H
#define TRAINPROF_SRC_STACK_CFI_CFI_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which DWARF numbers the registers have that we follow. */
struct tp_register_numbers {
	uint64_t sp;
	uint64_t bp;
	uint64_t ip; /* as expressions name it; no such number: UINT64_MAX */
	uint64_t ra;
};

enum tp_cfi_base { TP_CFI_CONSTANT, TP_CFI_SP, TP_CFI_BP, TP_CFI_UNKNOWN };

/* base + offset, or the word at base + inner_offset, plus offset. */
struct tp_cfi_value {
	enum tp_cfi_base base;
	bool is_deref;
	int64_t inner_offset;
	int64_t offset;
};

/* False when the expression uses more than we can fold. vaddr stands for the ip register. */
bool tp_cfi_expression(const uint8_t *bytes, size_t size, const struct tp_register_numbers *numbers,
		       uint64_t vaddr, struct tp_cfi_value *out);

#endif
