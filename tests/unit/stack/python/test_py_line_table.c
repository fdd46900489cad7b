/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of line tables, compared with the output of seven interpreters for their own tables. */
#include "stack/python/py_line_table.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 65536 };

static size_t unhex(const char *hex, uint8_t *out)
{
	size_t n = 0;
	for (; hex[0] && hex[0] != '-' && hex[1]; hex += 2) {
		char byte[3] = {hex[0], hex[1], '\0'};
		out[n++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return n;
}

/* "0:5,4:6": starts of rows, and their lines. */
static void compare_rows(const struct tp_py_line_table *table, const char *rows, const char *what)
{
	size_t n = 0;
	for (const char *at = rows; *at; n++) {
		char *end;
		unsigned long start = strtoul(at, &end, 10);
		unsigned long line = strtoul(end + 1, &end, 10);
		ck_assert_msg(tp_py_line_table_find(table, (uint32_t)start) == line,
			      "3.%s: at %lu line %lu is %u", what, start, line,
			      (unsigned)tp_py_line_table_find(table, (uint32_t)start));
		ck_assert_msg(n < table->n_rows && table->rows[n].start == start,
			      "3.%s: row %zu begins at %lu", what, n, start);
		at = *end == ',' ? end + 1 : end;
		at += strspn(at, "\n");
	}
	/* co_lnotab also has rows for bytecode that was optimised away at the end. */
	ck_assert_msg(table->n_rows == n || (atoi(what) < 10 && table->n_rows > n),
		      "3.%s: %zu rows: %s", what, table->n_rows, rows);
}

START_TEST(lines_are_what_the_interpreter_says)
{
	static char text[LINE_BYTES];
	static uint8_t bytes[LINE_BYTES];
	size_t n = 0;
	unsigned seen = 0;
	FILE *file = fopen("tests/data/python/lines.txt", "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(text, sizeof(text), file)) {
		struct tp_py_line_table table;
		char *rest;
		char *minor = strtok_r(text, " ", &rest);
		char *first = strtok_r(NULL, " ", &rest);
		size_t size = unhex(strtok_r(NULL, " ", &rest), bytes);
		tp_py_line_table_load(&table, (unsigned)atoi(minor), bytes, size,
				      (uint32_t)atoi(first));
		compare_rows(&table, rest, minor);
		tp_py_line_table_release(&table);
		seen |= 1U << atoi(minor);
		n++;
	}
	fclose(file);
	ck_assert_uint_ge(n, 70);
	ck_assert_uint_eq(seen, 0x7f00); /* versions 8 to 14 */
}
END_TEST

START_TEST(before_the_first_row_is_no_line)
{
	struct tp_py_line_table table = {0};
	ck_assert_uint_eq(tp_py_line_table_find(&table, 0), 0);
	tp_py_line_table_load(&table, 11, (const uint8_t *)"", 0, 7);
	ck_assert_uint_eq(tp_py_line_table_find(&table, 12), 0);
	tp_py_line_table_release(&table);
}
END_TEST

/* Any bytes: limited rows, no impossible line. */
START_TEST(rubbish_is_taken)
{
	uint8_t bytes[512];
	srand(1);
	for (int round = 0; round < 2000; round++) {
		struct tp_py_line_table table;
		size_t size = (size_t)rand() % sizeof(bytes);
		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)(round % 2 ? rand() : 0xff);
		tp_py_line_table_load(&table, 8 + (unsigned)round % 7, bytes, size, 1);
		ck_assert_uint_le(table.n_rows, size + 1);
		for (size_t i = 0; i < table.n_rows; i++)
			ck_assert_uint_le(table.rows[i].line, INT32_MAX);
		tp_py_line_table_release(&table);
	}
}
END_TEST

Suite *suite_stack_py_line_table(void);
Suite *suite_stack_py_line_table(void)
{
	Suite *suite = suite_create("stack/pyline");
	TCase *tc = tcase_create("pyline");
	tcase_add_test(tc, lines_are_what_the_interpreter_says);
	tcase_add_test(tc, before_the_first_row_is_no_line);
	tcase_add_test(tc, rubbish_is_taken);
	suite_add_tcase(suite, tc);
	return suite;
}
