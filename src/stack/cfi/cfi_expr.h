/* SPDX-License-Identifier: Apache-2.0 */
/* Folds location expressions of unwind tables to "register + offset" or "word at that address". */
#ifndef TRAINPROF_SRC_STACK_CFI_CFI_EXPR_H
#define TRAINPROF_SRC_STACK_CFI_CFI_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF numbers of the registers that we follow. */
struct tp_register_numbers {
	uint64_t sp;
	uint64_t bp;
	uint64_t ip; /* number used in expressions; UINT64_MAX = no such number */
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

/* Returns false if the expression is more complex than we can fold. `vaddr` is the value of the ip
 * register. */
bool tp_cfi_expression(const uint8_t *bytes, size_t size, const struct tp_register_numbers *numbers,
		       uint64_t vaddr, struct tp_cfi_value *out);

#endif
