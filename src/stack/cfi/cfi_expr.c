/* SPDX-License-Identifier: Apache-2.0 */
/* Folds location expressions. Only the instruction pointer is known when a rule is built, and that
 * is enough: procedure linkage tables compute with it (rsp + 8 + ((rip & 15) >= 11) * 8), and
 * realigned frames and signal frames need one register, one offset and one memory read. */
#include "cfi_expr.h"

#include "stack/elf/byte_cursor.h"

#include <dwarf.h>

enum { STACK_SIZE = 16 };

struct folding {
	struct tp_cfi_value stack[STACK_SIZE];
	size_t depth;
	bool is_bad;
	const struct tp_register_numbers *numbers;
	uint64_t vaddr;
};

static void push(struct folding *f, struct tp_cfi_value value)
{
	if (f->depth == STACK_SIZE)
		f->is_bad = true;
	else
		f->stack[f->depth++] = value;
}

static void push_constant(struct folding *f, int64_t value)
{
	push(f, (struct tp_cfi_value){.base = TP_CFI_CONSTANT, .offset = value});
}

static struct tp_cfi_value pop(struct folding *f)
{
	if (f->depth == 0) {
		f->is_bad = true;
		return (struct tp_cfi_value){.base = TP_CFI_UNKNOWN};
	}
	return f->stack[--f->depth];
}

static void push_register(struct folding *f, uint64_t number, int64_t offset)
{
	const struct tp_register_numbers *n = f->numbers;
	if (number == n->ip)
		push_constant(f, (int64_t)(f->vaddr + (uint64_t)offset));
	else if (number == n->sp)
		push(f, (struct tp_cfi_value){.base = TP_CFI_SP, .offset = offset});
	else if (number == n->bp)
		push(f, (struct tp_cfi_value){.base = TP_CFI_BP, .offset = offset});
	else
		f->is_bad = true;
}

static void dereference(struct folding *f)
{
	struct tp_cfi_value value = pop(f);
	if (value.is_deref || (value.base != TP_CFI_SP && value.base != TP_CFI_BP))
		f->is_bad = true;
	push(f, (struct tp_cfi_value){value.base, true, value.offset, 0});
}

static int64_t compute(uint8_t op, int64_t a, int64_t b, bool *is_bad)
{
	uint64_t left = (uint64_t)a;
	uint64_t right = (uint64_t)b;
	switch (op) {
	case DW_OP_and:
		return (int64_t)(left & right);
	case DW_OP_or:
		return (int64_t)(left | right);
	case DW_OP_shl:
		return right < 64 ? (int64_t)(left << right) : 0;
	case DW_OP_shr:
		return right < 64 ? (int64_t)(left >> right) : 0;
	case DW_OP_mul:
		return (int64_t)(left * right);
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	case DW_OP_ge:
		return a >= b;
	case DW_OP_gt:
		return a > b;
	case DW_OP_le:
		return a <= b;
	case DW_OP_lt:
		return a < b;
	default:
		*is_bad = true;
		return 0;
	}
}

static void binary(struct folding *f, uint8_t op)
{
	struct tp_cfi_value right = pop(f);
	struct tp_cfi_value left = pop(f);
	if (op == DW_OP_plus && left.base == TP_CFI_CONSTANT) {
		struct tp_cfi_value swap = left;
		left = right;
		right = swap;
	}
	if (right.base != TP_CFI_CONSTANT) {
		f->is_bad = true;
		return;
	}
	if (op == DW_OP_plus)
		left.offset = (int64_t)((uint64_t)left.offset + (uint64_t)right.offset);
	else if (op == DW_OP_minus)
		left.offset = (int64_t)((uint64_t)left.offset - (uint64_t)right.offset);
	else if (left.base == TP_CFI_CONSTANT)
		left.offset = compute(op, left.offset, right.offset, &f->is_bad);
	else
		f->is_bad = true;
	push(f, left);
}

/* Returns false if `op` is no constant. */
static bool fold_constant(struct folding *f, struct tp_byte_cursor *c, uint8_t op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push_constant(f, op - DW_OP_lit0);
		return true;
	}
	switch (op) {
	case DW_OP_const1u:
		push_constant(f, (int64_t)tp_byte_cursor_uint(c, 1));
		return true;
	case DW_OP_const1s:
		push_constant(f, tp_byte_cursor_int(c, 1));
		return true;
	case DW_OP_const2u:
		push_constant(f, (int64_t)tp_byte_cursor_uint(c, 2));
		return true;
	case DW_OP_const2s:
		push_constant(f, tp_byte_cursor_int(c, 2));
		return true;
	case DW_OP_const4u:
		push_constant(f, (int64_t)tp_byte_cursor_uint(c, 4));
		return true;
	case DW_OP_const4s:
		push_constant(f, tp_byte_cursor_int(c, 4));
		return true;
	case DW_OP_constu:
		push_constant(f, (int64_t)tp_byte_cursor_uleb(c));
		return true;
	case DW_OP_consts:
		push_constant(f, tp_byte_cursor_sleb(c));
		return true;
	default:
		return false;
	}
}

static void fold(struct folding *f, struct tp_byte_cursor *c)
{
	uint8_t op = (uint8_t)tp_byte_cursor_uint(c, 1);
	if (fold_constant(f, c, op) || op == DW_OP_nop)
		return;
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(f, op - DW_OP_breg0, tp_byte_cursor_sleb(c));
	} else if (op == DW_OP_bregx) {
		uint64_t number = tp_byte_cursor_uleb(c);
		push_register(f, number, tp_byte_cursor_sleb(c));
	} else if (op == DW_OP_deref) {
		dereference(f);
	} else if (op == DW_OP_plus_uconst) {
		push_constant(f, (int64_t)tp_byte_cursor_uleb(c));
		binary(f, DW_OP_plus);
	} else {
		binary(f, op);
	}
}

bool tp_cfi_expression(const uint8_t *bytes, size_t size, const struct tp_register_numbers *numbers,
		       uint64_t vaddr, struct tp_cfi_value *out)
{
	struct folding f = {.numbers = numbers, .vaddr = vaddr};
	struct tp_byte_cursor c = tp_byte_cursor_over(bytes, size);
	while (tp_byte_cursor_left(&c) > 0 && !f.is_bad && !c.is_bad)
		fold(&f, &c);
	*out = pop(&f);
	return !f.is_bad && !c.is_bad && (out->base == TP_CFI_SP || out->base == TP_CFI_BP);
}
