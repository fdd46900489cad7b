/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the hash map. */
#include "trainprof/base/map.h"

#include <check.h>

START_TEST(map_keeps_what_was_set_after_removals)
{
	struct tp_map map = {0};
	for (uint64_t i = 0; i < 5000; i++)
		tp_map_set(&map, i * 977, i);
	for (uint64_t i = 0; i < 5000; i += 2)
		ck_assert(tp_map_remove(&map, i * 977));
	ck_assert_uint_eq(map.n, 2500);
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t value = 0;
		ck_assert_int_eq(tp_map_get(&map, i * 977, &value), i % 2);
		if (i % 2)
			ck_assert_uint_eq(value, i);
	}
	tp_map_release(&map);
}
END_TEST

START_TEST(map_stays_small_under_churn)
{
	struct tp_map map = {0};
	for (uint64_t i = 0; i < 100000; i++) {
		tp_map_set(&map, i, i);
		if (i >= 10)
			ck_assert(tp_map_remove(&map, i - 10));
	}
	ck_assert_uint_eq(map.n, 10);
	ck_assert_uint_le(map.n_slots, 128);
	tp_map_release(&map);
}
END_TEST

START_TEST(map_walk_visits_every_key_once)
{
	struct tp_map map = {0};
	for (uint64_t i = 0; i < 100; i++)
		tp_map_set(&map, i, 1);
	uint64_t sum = 0;
	size_t cursor = 0;
	uint64_t key;
	uint64_t value;
	while (tp_map_next(&map, &cursor, &key, &value))
		sum += key;
	ck_assert_uint_eq(sum, 4950);
	tp_map_release(&map);
}
END_TEST

Suite *suite_base_map(void);
Suite *suite_base_map(void)
{
	Suite *suite = suite_create("base/map");
	TCase *tc = tcase_create("map");
	tcase_add_test(tc, map_keeps_what_was_set_after_removals);
	tcase_add_test(tc, map_stays_small_under_churn);
	tcase_add_test(tc, map_walk_visits_every_key_once);
	suite_add_tcase(suite, tc);
	return suite;
}
