/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of for loops in bytecode, as compiled by each version. */
#include "stack/python/py_bytecode.h"

#include <check.h>

enum { MAX_LOOPS = 8 };

struct example {
	unsigned minor;
	uint8_t bytes[32];
	size_t size;
	uint32_t start, end;
};

/* for i in x: pass. The backward jump of 3.11 and the END_FOR of later versions confirm it. */
static const struct example examples[] = {
	{8, {101, 0, 68, 0, 93, 4, 90, 1, 113, 4, 100, 0, 83, 0}, 14, 4, 10},
	{9, {101, 0, 68, 0, 93, 4, 90, 1, 113, 4, 100, 0, 83, 0}, 14, 4, 10},
	{10, {101, 0, 68, 0, 93, 2, 90, 1, 113, 2, 100, 0, 83, 0}, 14, 4, 10},
	{11, {101, 0, 68, 0, 93, 2, 90, 1, 140, 3, 100, 0, 83, 0}, 14, 4, 10},
	/* for i in x: if i: break */
	{11, {101, 0, 68, 0, 93, 4, 90, 1, 101, 1, 175, 4, 1, 0, 100, 0, 83, 0}, 18, 4, 14},
	{12, {101, 0, 68, 0, 93, 2, 0, 0, 90, 1, 140, 4, 4, 0, 121, 0}, 16, 4, 12},
	{12, {101, 0, 68, 0, 64, 2, 0, 0, 90, 1, 140, 4, 4, 0, 121, 0}, 16, 4, 12},
	{13, {92, 0, 19, 0, 72, 3, 0, 0, 114, 1, 77, 5, 0, 0, 11, 0, 32, 0}, 18, 4, 14},
};

/* def f(x): for i in x: pass, with the instructions that 3.11 to 3.13 generate if i is used at
 * once. */
static const struct example local_targets[] = {
	{8, {124, 0, 68, 0, 93, 4, 125, 1, 113, 4, 100, 0, 83, 0}, 14, 4, 10},
	{11, {124, 0, 68, 0, 93, 2, 161, 1, 140, 3, 100, 0, 83, 0}, 14, 4, 10},
	{12, {124, 0, 68, 0, 93, 2, 0, 0, 154, 1, 140, 4, 4, 0, 121, 0}, 16, 4, 12},
	{13, {85, 0, 19, 0, 72, 3, 0, 0, 111, 17, 77, 5, 0, 0, 11, 0, 32, 0}, 18, 4, 14},
};

START_TEST(the_variable_of_a_loop_is_known)
{
	const struct example *e = &examples[_i];
	struct tp_py_for_loop loops[MAX_LOOPS];
	tp_py_bytecode_find_loops(e->minor, e->bytes, e->size, loops, MAX_LOOPS);
	ck_assert_int_eq(loops[0].target_kind, TP_PY_TARGET_NAME);
	ck_assert_uint_eq(loops[0].target, 1);
	e = &local_targets[_i % (int)(sizeof(local_targets) / sizeof(local_targets[0]))];
	ck_assert_uint_eq(tp_py_bytecode_find_loops(e->minor, e->bytes, e->size, loops, MAX_LOOPS),
			  1);
	ck_assert_int_eq(loops[0].target_kind, TP_PY_TARGET_LOCAL);
	ck_assert_uint_eq(loops[0].target, 1);
}
END_TEST

START_TEST(a_loop_is_from_its_instruction_to_where_that_jumps)
{
	const struct example *e = &examples[_i];
	struct tp_py_for_loop loops[MAX_LOOPS];
	ck_assert_uint_eq(tp_py_bytecode_find_loops(e->minor, e->bytes, e->size, loops, MAX_LOOPS),
			  1);
	ck_assert_uint_eq(loops[0].start, e->start);
	ck_assert_uint_eq(loops[0].end, e->end);
}
END_TEST

/* A body of more than 256 instructions: the jumps have extended arguments. */
START_TEST(a_long_loop_is_found)
{
	enum { NOPS = 300, START = 6, BODY = 2 * (NOPS + 3), END = START + 2 + BODY };
	uint8_t bytes[END + 4] = {0};
	struct tp_py_for_loop loops[MAX_LOOPS];
	bytes[0] = 101;
	bytes[2] = 68;
	bytes[4] = 144;
	bytes[5] = (BODY / 2) >> 8;
	bytes[START] = 93;
	bytes[START + 1] = (uint8_t)(BODY / 2);
	bytes[START + 2] = 90;
	for (int i = 0; i < NOPS; i++)
		bytes[START + 4 + 2 * i] = 9;
	int back = (END - 4) / 2; /* to the prefix for the extended argument before the loop */
	bytes[END - 4] = 144;
	bytes[END - 3] = (uint8_t)(back >> 8);
	bytes[END - 2] = 140;
	bytes[END - 1] = (uint8_t)back;
	bytes[END] = 100;
	ck_assert_uint_eq(tp_py_bytecode_find_loops(11, bytes, sizeof(bytes), loops, MAX_LOOPS), 1);
	ck_assert_uint_eq(loops[0].start, START);
	ck_assert_uint_eq(loops[0].end, END);
}
END_TEST

START_TEST(a_jump_beyond_the_code_is_no_loop)
{
	const struct example *e = &examples[_i];
	struct tp_py_for_loop loops[MAX_LOOPS];
	uint8_t bytes[32];
	memcpy(bytes, e->bytes, sizeof(bytes));
	bytes[e->start + 1] = 255;
	ck_assert_uint_eq(tp_py_bytecode_find_loops(e->minor, bytes, e->size, loops, MAX_LOOPS), 0);
}
END_TEST

START_TEST(cache_entries_are_not_taken_for_loops)
{
	static const uint8_t bytes[] = {101, 0, 93, 2, 90, 1, 100, 0, 100, 0, 83, 0};
	struct tp_py_for_loop loops[MAX_LOOPS];
	ck_assert_uint_eq(tp_py_bytecode_find_loops(11, bytes, sizeof(bytes), loops, MAX_LOOPS), 0);
	ck_assert_uint_eq(tp_py_bytecode_find_loops(12, bytes, sizeof(bytes), loops, MAX_LOOPS), 0);
}
END_TEST

Suite *suite_stack_py_bytecode(void);
Suite *suite_stack_py_bytecode(void)
{
	Suite *suite = suite_create("stack/pybytecode");
	TCase *tc = tcase_create("pybytecode");
	int n = (int)(sizeof(examples) / sizeof(examples[0]));
	tcase_add_loop_test(tc, a_loop_is_from_its_instruction_to_where_that_jumps, 0, n);
	tcase_add_loop_test(tc, the_variable_of_a_loop_is_known, 0, n);
	tcase_add_loop_test(tc, a_jump_beyond_the_code_is_no_loop, 0, n);
	tcase_add_test(tc, a_long_loop_is_found);
	tcase_add_test(tc, cache_entries_are_not_taken_for_loops);
	suite_add_tcase(suite, tc);
	return suite;
}
