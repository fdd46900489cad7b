/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of names of run-time compiled code. */
#include "stack/symbols/jit_symbols.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "7f0000001000 40 py::forward:/a b/train.py\n"
			   "0x7f0000002000 0x10 with prefix\n"
			   "7f0000001000 20 moved here later\n"
			   "7f0000003000 1000 outer\n"
			   "7f0000003100 10 inner\n"
			   "zz 10 no address\n"
			   "7f0000004000\n"
			   "7f0000004000 0 empty\n"
			   "7f0000004000 10 \n"
			   "ffffffffffffffff 10 wraps\n"
			   "11112222333344445 10 too long\n"
			   "\n"
			   "7f0000005000 10 unfinished";

static const struct {
	uint64_t address;
	const char *name; /* NULL = no name */
	uint64_t start;
} questions[] = {
	{0x7f0000000fff, NULL, 0},
	{0x7f0000001000, "moved here later", 0x7f0000001000},
	{0x7f000000101f, "moved here later", 0x7f0000001000},
	{0x7f0000001020, NULL, 0},
	{0x7f000000200f, "with prefix", 0x7f0000002000},
	{0x7f0000002010, NULL, 0},
	{0x7f0000003000, "outer", 0x7f0000003000},
	{0x7f0000003105, "inner", 0x7f0000003100},
	{0x7f0000003110, "outer", 0x7f0000003000},
	{0x7f0000004000, NULL, 0},
	{0x7f0000005000, NULL, 0},
	{UINT64_MAX, NULL, 0},
	{0, NULL, 0},
};

START_TEST(address_is_named_by_the_latest_line_that_covers_it)
{
	struct tp_jit_symbols *names = tp_jit_symbols_parse(text, sizeof(text) - 1);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const char *name = NULL;
		uint64_t start = 0;
		uint64_t end = 0;
		bool is_found =
			tp_jit_symbols_find(names, questions[i].address, &name, &start, &end);
		ck_assert_int_eq(is_found, questions[i].name != NULL);
		if (!is_found)
			continue;
		ck_assert_str_eq(name, questions[i].name);
		ck_assert_uint_eq(start, questions[i].start);
		ck_assert_uint_gt(end, questions[i].address);
	}
	tp_jit_symbols_free(names);
}
END_TEST

START_TEST(garbage_gives_no_names)
{
	char garbage[4096];
	uint32_t state = 1;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(garbage); i++) {
			state = state * 1103515245 + 12345;
			garbage[i] = "0123456789abcdef x\n\0\xff"[(state >> 16) % 21];
		}
		struct tp_jit_symbols *names = tp_jit_symbols_parse(garbage, sizeof(garbage));
		const char *name;
		uint64_t start;
		uint64_t end;
		if (tp_jit_symbols_find(names, state, &name, &start, &end))
			ck_assert(start <= state && state < end);
		tp_jit_symbols_free(names);
	}
}
END_TEST

START_TEST(long_names_are_cut)
{
	static char line[10000] = "1000 10 ";
	memset(line + 8, 'x', sizeof(line) - 9);
	line[sizeof(line) - 1] = '\n';
	struct tp_jit_symbols *names = tp_jit_symbols_parse(line, sizeof(line));
	const char *name;
	uint64_t start;
	uint64_t end;
	ck_assert(tp_jit_symbols_find(names, 0x1000, &name, &start, &end));
	ck_assert_uint_eq(strlen(name), 4096);
	tp_jit_symbols_free(names);
}
END_TEST

Suite *suite_stack_jit_symbols(void);
Suite *suite_stack_jit_symbols(void)
{
	Suite *suite = suite_create("stack/jitnames");
	TCase *tc = tcase_create("jitnames");
	tcase_add_test(tc, address_is_named_by_the_latest_line_that_covers_it);
	tcase_add_test(tc, garbage_gives_no_names);
	tcase_add_test(tc, long_names_are_cut);
	suite_add_tcase(suite, tc);
	return suite;
}
