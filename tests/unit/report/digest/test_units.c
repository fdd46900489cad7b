/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers have the form that people write, and one share is rounded alike everywhere. */
#include "trainprof/report/units.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(times_have_three_digits)
{
	static const struct {
		double ns;
		const char *text;
	} rows[] = {
		{0, "0 ns"},         {640, "640 ns"},      {999.4, "999 ns"},
		{999.5, "1.00 µs"},  {1e3, "1.00 µs"},     {21.04e6, "21.0 ms"},
		{50.4e6, "50.4 ms"}, {999.6e6, "1.00 s"},  {61.2e9, "61.2 s"},
		{131e6, "131 ms"},   {9.994e6, "9.99 ms"}, {9.996e6, "10.0 ms"},
		{99.96e6, "100 ms"}, {1e13, "10000 s"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(tp_unit_time(rows[i].ns).text, rows[i].text);
}
END_TEST

START_TEST(long_times_are_minutes_and_hours)
{
	ck_assert_str_eq(tp_unit_elapsed(UINT64_C(61200000000)).text, "61.2 s");
	ck_assert_str_eq(tp_unit_elapsed(UINT64_C(599400000000)).text, "599 s");
	ck_assert_str_eq(tp_unit_elapsed(UINT64_C(599500000000)).text, "10 min 00 s");
	ck_assert_str_eq(tp_unit_elapsed(UINT64_C(3723000000000)).text, "1 h 02 min");
	ck_assert_str_eq(tp_unit_clock(UINT64_C(41000000000)).text, "0:41");
	ck_assert_str_eq(tp_unit_clock(UINT64_C(3723000000000)).text, "1:02:03");
}
END_TEST

START_TEST(columns_are_counted_not_bytes)
{
	ck_assert_str_eq(tp_unit_right(tp_unit_time(999.5), 9).text, "  1.00 µs");
	ck_assert_str_eq(tp_unit_right(tp_unit_time(21.04e6), 9).text, "  21.0 ms");
	ck_assert_str_eq(tp_unit_right(tp_unit_time(21.04e6), 3).text, "21.0 ms");
}
END_TEST

START_TEST(bytes_counts_and_numbers)
{
	ck_assert_str_eq(tp_unit_bytes(0).text, "0 B");
	ck_assert_str_eq(tp_unit_bytes(1288490189).text, "1.2 GiB");
	ck_assert_str_eq(tp_unit_bytes(214.0 * 1048576).text, "214 MiB");
	ck_assert_str_eq(tp_unit_count(0).text, "0");
	ck_assert_str_eq(tp_unit_count(999).text, "999");
	ck_assert_str_eq(tp_unit_count(1201).text, "1,201");
	ck_assert_str_eq(tp_unit_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	ck_assert_str_eq(tp_unit_counted(0, "record").text, "0 records");
	ck_assert_str_eq(tp_unit_counted(1, "record").text, "1 record");
	ck_assert_str_eq(tp_unit_counted(1201, "record").text, "1,201 records");
	ck_assert_str_eq(tp_unit_number(0.3929).text, "0.393");
	ck_assert_str_eq(tp_unit_number(0.9).text, "0.9");
	ck_assert_str_eq(tp_unit_number(0).text, "0");
	ck_assert_str_eq(tp_unit_number(50.2).text, "50.2");
	ck_assert_str_eq(tp_unit_number(8).text, "8");
	ck_assert_str_eq(tp_unit_number(12345.6).text, "12,346");
	ck_assert_str_eq(tp_unit_percent(0.39).text, "39 %");
	ck_assert_str_eq(tp_unit_percent(0.008).text, "0.8 %");
	ck_assert_str_eq(tp_unit_percent(0.0001).text, "<0.1 %");
	ck_assert_str_eq(tp_unit_percent(0).text, "0 %");
	ck_assert_str_eq(tp_unit_factor(1.52).text, "1.52×");
	ck_assert_str_eq(tp_unit_value(1288490189, "bytes_per_s").text, "1.2 GiB/s");
	ck_assert_str_eq(tp_unit_value(1, "bool").text, "yes");
}
END_TEST

/* As the same share is printed in sentences, also where the parts then add up to 101. */
START_TEST(a_share_is_rounded_to_the_nearest)
{
	static const struct {
		uint64_t part;
		uint64_t total;
		unsigned percent;
	} cases[] = {
		{1, 3, 33}, {834, 1000, 83}, {966, 1000, 97}, {345, 1000, 35},
		{1, 8, 13}, {7, 8, 88},      {4, 1000, 0},    {5, 1000, 1},
		{0, 7, 0},  {7, 7, 100},     {0, 0, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned percent = tp_unit_whole_percent(cases[i].part, cases[i].total);
		double ratio = (double)cases[i].part / (double)cases[i].total;
		ck_assert_uint_eq(percent, cases[i].percent);
		if (ratio >= 0.0995)
			ck_assert_uint_eq(percent, strtoul(tp_unit_percent(ratio).text, NULL, 10));
	}
}
END_TEST

/* One kernel at time 0 in a trace whose times are counted from 1970. */
START_TEST(half_a_century_has_shares)
{
	const uint64_t half = UINT64_C(1700000000000000000);
	ck_assert_uint_eq(tp_unit_whole_percent(half, 2 * half + 7), 50);
	ck_assert_uint_eq(tp_unit_whole_percent(7, 2 * half + 7), 0);
}
END_TEST

START_TEST(one_scale_serves_a_table)
{
	struct tp_unit_scale ms = tp_unit_scale_for(50.4e6);
	ck_assert_str_eq(tp_unit_scaled(ms, 50.4e6).text, "50.4 ms");
	ck_assert_str_eq(tp_unit_scaled(ms, 0.5e6).text, "0.5 ms");
	struct tp_unit_scale small = tp_unit_scale_for(2.1e6);
	ck_assert_str_eq(tp_unit_scaled(small, 0.05e6).text, "0.05 ms");
}
END_TEST

Suite *suite_report_units(void);
Suite *suite_report_units(void)
{
	Suite *suite = suite_create("report_units");
	TCase *tc = tcase_create("units");
	tcase_add_test(tc, times_have_three_digits);
	tcase_add_test(tc, long_times_are_minutes_and_hours);
	tcase_add_test(tc, columns_are_counted_not_bytes);
	tcase_add_test(tc, bytes_counts_and_numbers);
	tcase_add_test(tc, half_a_century_has_shares);
	tcase_add_test(tc, a_share_is_rounded_to_the_nearest);
	tcase_add_test(tc, one_scale_serves_a_table);
	suite_add_tcase(suite, tc);
	return suite;
}
