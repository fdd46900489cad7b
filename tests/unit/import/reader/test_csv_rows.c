/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rows of comma-separated values. */
#include "giver.h"
#include "import/reader/csv_rows.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <check.h>
#include <string.h>

/* Writes all rows as "a|b;c|d;", "!" for malformed ones. */
static void read_all(struct tp_buf *out, const char *text, size_t len)
{
	struct giver giver = {text, len};
	struct tp_stream *stream = tp_stream_from_source(give, &giver);
	struct tp_csv csv;
	enum tp_csv_item item;
	tp_csv_init(&csv, stream);
	while ((item = tp_csv_next(&csv)) != TP_CSV_END) {
		for (size_t i = 0; item == TP_CSV_ROW && i < csv.n_fields; i++) {
			ck_assert_int_eq(csv.fields[i].type, TP_JSON_SLICE_TEXT);
			tp_buf_puts(out, i ? "|" : "");
			tp_buf_add(out, csv.fields[i].text, csv.fields[i].len);
		}
		tp_buf_puts(out, item == TP_CSV_ROW ? ";" : "!");
	}
	tp_csv_release(&csv);
	tp_stream_close(stream);
}

static const struct {
	const char *text;
	const char *rows;
} cases[] = {
	{"", ""},
	{"a,b\nc,d\n", "a|b;c|d;"},
	{"a,b\r\nc,d\r\n", "a|b;c|d;"},
	{"a,b\nc,d", "a|b;c|d;"},
	{"a\n\n\r\nb\n", "a;b;"},
	{",\n", "|;"},
	{"\"a,b\",c\n", "a,b|c;"},
	{"\"say \"\"x\"\"\",c\n", "say \"x\"|c;"},
	{"\"\"\n", ";"},
	{"\"a\n", "!"},
	{"\"a\"b,c\n", "!"},
	{"a\"b,c\n", "a\"b|c;"},
	{"a,\"\n", "!"},
};

START_TEST(lines_become_rows)
{
	struct tp_buf rows = {0};
	read_all(&rows, cases[_i].text, strlen(cases[_i].text));
	ck_assert_str_eq(tp_buf_text(&rows), cases[_i].rows);
	tp_buf_release(&rows);
}
END_TEST

/* Lengths of a first line around that of the window; longer ones are not rows. */
static const size_t lengths[] = {TP_CSV_LINE_MAX - 2, TP_CSV_LINE_MAX - 1, TP_CSV_LINE_MAX,
				 TP_CSV_LINE_MAX + 1, 3 * TP_CSV_LINE_MAX + 5};

START_TEST(a_line_that_is_too_long_is_passed_over)
{
	struct tp_buf text = {0};
	struct tp_buf rows = {0};
	size_t n = lengths[_i];
	tp_buf_pad(&text, 'x', n);
	tp_buf_puts(&text, "\na,b\n");
	read_all(&rows, text.data, text.len);
	if (n < TP_CSV_LINE_MAX)
		ck_assert_uint_eq(rows.len, n + strlen(";a|b;"));
	else
		ck_assert_str_eq(tp_buf_text(&rows), "!a|b;");
	tp_buf_clear(&rows);
	/* The same without the following rows. */
	read_all(&rows, text.data, n);
	ck_assert(n <= TP_CSV_LINE_MAX || strcmp(tp_buf_text(&rows), "!") == 0);
	tp_buf_release(&text);
	tp_buf_release(&rows);
}
END_TEST

START_TEST(fields_have_a_number_that_is_too_large)
{
	struct tp_buf text = {0};
	struct tp_buf rows = {0};
	tp_buf_pad(&text, ',', TP_CSV_FIELDS_MAX - 1);
	tp_buf_puts(&text, "\n");
	tp_buf_pad(&text, ',', TP_CSV_FIELDS_MAX);
	read_all(&rows, text.data, text.len);
	ck_assert_uint_eq(rows.len, TP_CSV_FIELDS_MAX + 1);
	ck_assert_int_eq(rows.data[rows.len - 1], '!');
	tp_buf_release(&text);
	tp_buf_release(&rows);
}
END_TEST

Suite *suite_import_csv_rows(void);
Suite *suite_import_csv_rows(void)
{
	Suite *suite = suite_create("import/csvrows");
	TCase *tc = tcase_create("rows");
	tcase_add_loop_test(tc, lines_become_rows, 0, TP_ARRAY_LEN(cases));
	tcase_add_loop_test(tc, a_line_that_is_too_long_is_passed_over, 0, TP_ARRAY_LEN(lengths));
	tcase_add_test(tc, fields_have_a_number_that_is_too_large);
	suite_add_tcase(suite, tc);
	return suite;
}
