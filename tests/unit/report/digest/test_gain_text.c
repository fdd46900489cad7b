/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of printed gains: a bound says "up to", and only an estimate has an interval. */
#include "report/digest/gain_text.h"

#include <check.h>

static const struct {
	double low;
	double value;
	double high;
	const char *text;
	const char *range;
	const char *kind;
} gains[] = {
	{1.11, 1.17, 1.24, "1.17× (1.11–1.24)", "1.11–1.24×", "estimate"},
	{1.0, 2.22, 4.94, "up to 4.94×", "up to 4.94×", "bound"},
	{1.004, 1.2, 1.4, "up to 1.40×", "up to 1.40×", "bound"},
	{1.02, 1.7, 2.9, "1.70× (1.02–2.90)", "1.02–2.90×", "estimate"},
	{1.0, 10, 100, "not known", "not known", "bound"},
	{1.94, 1.94, 100, "at least 1.94×", "at least 1.94×", "floor"},
	{1.13, 1.21, 100, "at least 1.13×", "at least 1.13×, likely 1.21×", "floor"},
};

START_TEST(a_bound_is_not_printed_like_an_estimate)
{
	struct tp_buf text = {0};
	tp_report_add_gain(&text, gains[_i].low, gains[_i].value, gains[_i].high);
	ck_assert_str_eq(tp_buf_text(&text), gains[_i].text);
	tp_buf_clear(&text);
	tp_report_add_gain_range(&text, gains[_i].low, gains[_i].value, gains[_i].high);
	ck_assert_str_eq(tp_buf_text(&text), gains[_i].range);
	ck_assert_str_eq(tp_report_gain_kind(gains[_i].low, gains[_i].high), gains[_i].kind);
	tp_buf_release(&text);
}
END_TEST

Suite *suite_report_gain_text(void);
Suite *suite_report_gain_text(void)
{
	Suite *suite = suite_create("report_gain_text");
	TCase *tc = tcase_create("all");
	tcase_add_loop_test(tc, a_bound_is_not_printed_like_an_estimate, 0,
			    sizeof(gains) / sizeof(gains[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
