/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of folded location expressions. */
#include "stack/cfi/cfi_expr.h"

#include <check.h>
#include <dwarf.h>

static const struct tp_register_numbers x86 = {.sp = 7, .bp = 6, .ip = 16, .ra = 16};

static const struct {
	uint8_t bytes[16];
	size_t size;
	uint64_t vaddr;
	bool is_folded;
	struct tp_cfi_value value;
} expressions[] = {
	/* A realigned frame: the word at rbp - 8. */
	{{DW_OP_breg6, 0x78, DW_OP_deref}, 3, 0, true, {TP_CFI_BP, true, -8, 0}},
	/* A signal frame: the word at rsp + 160. */
	{{DW_OP_breg7, 0xa0, 0x01, DW_OP_deref}, 4, 0, true, {TP_CFI_SP, true, 160, 0}},
	{{DW_OP_breg6, 0}, 2, 0, true, {TP_CFI_BP, false, 0, 0}},
	{{DW_OP_bregx, 7, 16}, 3, 0, true, {TP_CFI_SP, false, 0, 16}},
	{{DW_OP_lit8, DW_OP_breg7, 8, DW_OP_plus}, 4, 0, true, {TP_CFI_SP, false, 0, 16}},
	{{DW_OP_breg7, 8, DW_OP_const1u, 200, DW_OP_minus},
	 5,
	 0,
	 true,
	 {TP_CFI_SP, false, 0, -192}},
	{{DW_OP_breg7, 0, DW_OP_plus_uconst, 0x80, 1}, 5, 0, true, {TP_CFI_SP, false, 0, 128}},
	/* Procedure linkage: before and after the push at byte 6 of an entry. */
	{{DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
	  DW_OP_lit3, DW_OP_shl, DW_OP_plus},
	 11,
	 0x102a,
	 true,
	 {TP_CFI_SP, false, 0, 8}},
	{{DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
	  DW_OP_lit3, DW_OP_shl, DW_OP_plus},
	 11,
	 0x102b,
	 true,
	 {TP_CFI_SP, false, 0, 16}},
	/* Not supported: other registers, two reads, sums of registers, constants, invalid
	 * bytes. */
	{{DW_OP_breg3, 0}, 2, 0, false, {0}},
	{{DW_OP_breg6, 0, DW_OP_deref, DW_OP_deref}, 4, 0, false, {0}},
	{{DW_OP_breg6, 0, DW_OP_breg7, 0, DW_OP_plus}, 5, 0, false, {0}},
	{{DW_OP_breg6, 0, DW_OP_lit2, DW_OP_shl}, 4, 0, false, {0}},
	{{DW_OP_lit4}, 1, 0, false, {0}},
	{{DW_OP_deref}, 1, 0, false, {0}},
	{{DW_OP_plus}, 1, 0, false, {0}},
	{{DW_OP_breg7}, 1, 0, false, {0}},
	{{0}, 0, 0, false, {0}},
	{{DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1,
	  DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, DW_OP_lit1,
	  DW_OP_breg7, 0},
	 16,
	 0,
	 true,
	 {TP_CFI_SP, false, 0, 0}},
};

START_TEST(expressions_fold_to_one_register)
{
	struct tp_cfi_value value;
	bool is_folded = tp_cfi_expression(expressions[_i].bytes, expressions[_i].size, &x86,
					   expressions[_i].vaddr, &value);
	ck_assert_int_eq(is_folded, expressions[_i].is_folded);
	if (!is_folded)
		return;
	ck_assert_int_eq(value.base, expressions[_i].value.base);
	ck_assert_int_eq(value.is_deref, expressions[_i].value.is_deref);
	ck_assert_int_eq(value.inner_offset, expressions[_i].value.inner_offset);
	ck_assert_int_eq(value.offset, expressions[_i].value.offset);
}
END_TEST

Suite *suite_stack_cfi_expr(void);
Suite *suite_stack_cfi_expr(void)
{
	Suite *suite = suite_create("stack/cfiexpr");
	TCase *tc = tcase_create("cfiexpr");
	tcase_add_loop_test(tc, expressions_fold_to_one_register, 0,
			    (int)(sizeof(expressions) / sizeof(expressions[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
