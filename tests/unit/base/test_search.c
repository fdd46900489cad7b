/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the binary search: every boundary of small arrays, equal items, number of reads. */
#include "trainprof/base/search.h"

#include <check.h>
#include <stdint.h>

START_TEST(every_boundary_is_found_in_every_range)
{
	for (size_t n = 0; n < 20; n++)
		for (size_t from = 0; from <= n; from++)
			for (size_t wanted = from; wanted <= n; wanted++) {
				size_t at;
				TP_FIND_FIRST(at, from, n, at >= wanted);
				ck_assert_uint_eq(at, wanted);
			}
}
END_TEST

START_TEST(the_first_of_equal_items_is_found)
{
	static const uint64_t items[] = {1, 3, 3, 3, 7};
	static const struct {
		uint64_t key;
		size_t not_below;
		size_t above;
	} rows[] = {{0, 0, 0}, {1, 0, 1}, {2, 1, 1}, {3, 1, 4}, {4, 4, 4}, {7, 4, 5}, {8, 5, 5}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t at;
		TP_FIND_FIRST(at, 0, 5, items[at] >= rows[i].key);
		ck_assert_uint_eq(at, rows[i].not_below);
		TP_FIND_FIRST(at, 0, 5, items[at] > rows[i].key);
		ck_assert_uint_eq(at, rows[i].above);
	}
}
END_TEST

START_TEST(an_empty_range_gives_its_end_and_reads_nothing)
{
	size_t n_read = 0;
	size_t at;
	TP_FIND_FIRST(at, 7, 7, ++n_read > 0);
	ck_assert_uint_eq(at, 7);
	ck_assert_uint_eq(n_read, 0);
}
END_TEST

START_TEST(a_million_items_take_twenty_reads)
{
	size_t n_read = 0;
	size_t at;
	TP_FIND_FIRST(at, 0, 1000000, (++n_read, at >= 777777));
	ck_assert_uint_eq(at, 777777);
	ck_assert_uint_le(n_read, 20);
}
END_TEST

Suite *suite_base_search(void);
Suite *suite_base_search(void)
{
	Suite *suite = suite_create("base/search");
	TCase *tc = tcase_create("search");
	tcase_add_test(tc, every_boundary_is_found_in_every_range);
	tcase_add_test(tc, the_first_of_equal_items_is_found);
	tcase_add_test(tc, an_empty_range_gives_its_end_and_reads_nothing);
	tcase_add_test(tc, a_million_items_take_twenty_reads);
	suite_add_tcase(suite, tc);
	return suite;
}
