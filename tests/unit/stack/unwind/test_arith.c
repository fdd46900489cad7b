/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the arithmetic at an address of a running program: this one. */
#include "trainprof/stack/arith.h"
#include "trainprof/stack/modules.h"

#include "skip.h"

#include <check.h>
#include <unistd.h>

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	"test_arith_scalar: mulsd %xmm1, %xmm0\n"
	"test_arith_vector: addps %xmm1, %xmm0\n"
	"test_arith_none: mov %rsp, %rax\n"
	"ret\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	"test_arith_scalar: fmul d0, d0, d1\n"
	"test_arith_vector: fadd v0.4s, v0.4s, v1.4s\n"
	"test_arith_none: mov x0, sp\n"
	"ret\n"
	".popsection\n");
#endif

#if defined(__x86_64__) || defined(__aarch64__)
extern const char test_arith_scalar[];
extern const char test_arith_vector[];
extern const char test_arith_none[];

START_TEST(instructions_of_this_program_are_read)
{
	const struct {
		const char *place;
		enum tp_arith arith;
	} rows[] = {{test_arith_scalar, TP_ARITH_SCALAR},
		    {test_arith_vector, TP_ARITH_VECTOR},
		    {test_arith_none, TP_ARITH_NONE}};
	struct tp_modules *modules = tp_modules_new();
	struct tp_maps *maps = tp_maps_new(modules, getpid());
	ck_assert_int_eq(tp_maps_read(maps, NULL), TP_OK);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_stack_frame frame = {0};
		tp_maps_find(maps, (uint64_t)(uintptr_t)rows[i].place, 0, &frame);
		ck_assert_int_eq(tp_arith_at(&frame), rows[i].arith);
	}
	tp_maps_free(maps);
	tp_modules_free(modules);
}
END_TEST
#else
START_TEST(instructions_of_this_program_are_read)
{
	test_skip("neither x86-64 nor aarch64");
}
END_TEST
#endif

START_TEST(code_without_a_file_has_no_arithmetic)
{
	struct tp_modules *modules = tp_modules_new();
	struct tp_stack_frame nowhere = {.address = 64};
	struct tp_stack_frame kernel = {.module = tp_modules_kernel(modules), .address = 64};
	ck_assert_int_eq(tp_arith_at(&nowhere), TP_ARITH_NONE);
	ck_assert_int_eq(tp_arith_at(&kernel), TP_ARITH_NONE);
	tp_modules_free(modules);
}
END_TEST

Suite *suite_stack_arith(void);
Suite *suite_stack_arith(void)
{
	Suite *suite = suite_create("stack/arith");
	TCase *tcase = tcase_create("arith");
	tcase_add_test(tcase, instructions_of_this_program_are_read);
	tcase_add_test(tcase, code_without_a_file_has_no_arithmetic);
	suite_add_tcase(suite, tcase);
	return suite;
}
