/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of Parquet tables: their structure. proof-tables checks them with other readers. */
#include "report/export/parquet.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct row {
	int64_t number, optional;
	const char *text;
	double real;
	bool flag;
};

static const struct tp_parquet_column columns[] = {
	{"number", TP_PARQUET_INT, offsetof(struct row, number), false},
	{"optional", TP_PARQUET_INT, offsetof(struct row, optional), true},
	{"text", TP_PARQUET_TEXT, offsetof(struct row, text), true},
	{"real", TP_PARQUET_DOUBLE, offsetof(struct row, real), false},
	{"flag", TP_PARQUET_FLAG, offsetof(struct row, flag), false},
};

static unsigned char *make(size_t n_rows, size_t *size)
{
	char *bytes;
	FILE *out = open_memstream(&bytes, size);
	struct tp_parquet *table = tp_parquet_open(out, columns, TP_ARRAY_LEN(columns));
	for (size_t i = 0; i < n_rows; i++) {
		const struct row row = {.number = (int64_t)i,
					.optional = i % 2 ? TP_PARQUET_NULL : -1,
					.text = i % 3 ? "abc" : NULL,
					.real = 0.5,
					.flag = i % 2};
		tp_parquet_add(table, &row);
	}
	ck_assert_int_eq(tp_parquet_close(table, NULL), TP_OK);
	fclose(out);
	return (unsigned char *)bytes;
}

static size_t footer_size(const unsigned char *bytes, size_t size)
{
	const unsigned char *at = bytes + size - 8;
	return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

START_TEST(a_table_has_its_marks_and_its_footer)
{
	static const size_t n_rows[] = {0, 1, 7, 8, 9, 70000};
	size_t size;
	unsigned char *bytes = make(n_rows[_i], &size);
	ck_assert_mem_eq(bytes, "PAR1", 4);
	ck_assert_mem_eq(bytes + size - 4, "PAR1", 4);
	size_t footer = footer_size(bytes, size);
	ck_assert_uint_lt(footer + 12, size + 1);
	/* version 1, then a list of the root and five columns. */
	ck_assert_mem_eq(bytes + size - 8 - footer, "\x15\x02\x19\x6c", 4);
	ck_assert_uint_eq(bytes[size - 9], 0);
	free(bytes);
}
END_TEST

START_TEST(a_row_takes_its_values_and_nothing_more)
{
	size_t none;
	size_t three;
	unsigned char *empty = make(0, &none);
	unsigned char *some = make(3, &three);
	/* Data: 3 numbers, 2 optional ones, 2 texts, 3 doubles, 1 byte of flags; two levels of 6
	 * bytes, and five page headers. */
	size_t data = three - footer_size(some, three) - 12;
	size_t expected = 3 * 8 + 2 * 8 + 2 * (4 + 3) + 3 * 8 + 1 + 2 * 6;
	ck_assert_uint_gt(data, expected);
	ck_assert_uint_lt(data, expected + 5 * 24);
	ck_assert_uint_eq(none - footer_size(empty, none), 12);
	free(empty);
	free(some);
}
END_TEST

Suite *suite_report_parquet(void);
Suite *suite_report_parquet(void)
{
	Suite *suite = suite_create("report_parquet");
	TCase *tc = tcase_create("parquet");
	tcase_add_loop_test(tc, a_table_has_its_marks_and_its_footer, 0, 6);
	tcase_add_test(tc, a_row_takes_its_values_and_nothing_more);
	suite_add_tcase(suite, tc);
	return suite;
}
