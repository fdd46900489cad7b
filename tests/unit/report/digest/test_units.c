/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers have the form that people write, and whole percents sum to 100. */
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

START_TEST(shares_of_any_parts_are_near_100)
{
	srand(7);
	for (int round = 0; round < 20000; round++) {
		uint64_t parts[6];
		unsigned percents[6];
		uint64_t total = 0;
		for (int i = 0; i < 6; i++) {
			parts[i] = (uint64_t)rand() >> (rand() % 31);
			if (round % 3 == 0)
				parts[i] *= 1000003;
			total += parts[i];
		}
		tp_unit_share_100(parts, 6, percents);
		unsigned sum = 0;
		for (int i = 0; i < 6; i++) {
			sum += percents[i];
			/* The difference from the exact value is at most one percent. */
			double exact = total ? 100.0 * (double)parts[i] / (double)total : 0;
			ck_assert(percents[i] <= exact + 1 && percents[i] + 1 >= exact);
			if (!parts[i])
				ck_assert_uint_eq(percents[i], 0);
		}
		/* Six roundings lose less than three percents, so at most two. */
		ck_assert_uint_le(sum, 100);
		ck_assert_uint_ge(sum, total ? 98 : 0);
	}
}
END_TEST

/* As the same share is printed elsewhere. */
START_TEST(a_share_is_rounded_to_the_nearest)
{
	static const uint64_t parts[][3] = {{1, 1, 1}, {834, 131, 35}, {7, 1, 0}, {2, 1, 0}};
	static const unsigned expected[][3] = {{33, 33, 33}, {83, 13, 4}, {88, 12, 0}, {67, 33, 0}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		unsigned percents[3];
		tp_unit_share_100(parts[i], 3, percents);
		for (size_t k = 0; k < 3; k++)
			ck_assert_uint_eq(percents[k], expected[i][k]);
	}
}
END_TEST

START_TEST(shares_do_not_exceed_100)
{
	const uint64_t parts[] = {336, 336, 328}; /* 34, 34 and 33 */
	unsigned percents[3];
	tp_unit_share_100(parts, 3, percents);
	ck_assert_uint_eq(percents[0] + percents[1] + percents[2], 100);
	ck_assert_uint_eq(percents[2], 33);
}
END_TEST

/* One kernel at time 0 in a trace whose times are counted from 1970. */
START_TEST(half_a_century_has_shares)
{
	const uint64_t parts[] = {UINT64_C(1700000000000000000), UINT64_C(1700000000000000000), 7};
	unsigned percents[3];
	tp_unit_share_100(parts, 3, percents);
	ck_assert_uint_eq(percents[0], 50);
	ck_assert_uint_eq(percents[1], 50);
	ck_assert_uint_eq(percents[2], 0);
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
	tcase_add_test(tc, shares_of_any_parts_are_near_100);
	tcase_add_test(tc, half_a_century_has_shares);
	tcase_add_test(tc, a_share_is_rounded_to_the_nearest);
	tcase_add_test(tc, shares_do_not_exceed_100);
	tcase_add_test(tc, one_scale_serves_a_table);
	suite_add_tcase(suite, tc);
	return suite;
}
