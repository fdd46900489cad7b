/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of place ids. */
#include "agent/ring/place_table.h"
#include "agent/ringreading.h"

START_TEST(each_place_has_one_number_until_the_table_is_full)
{
	static struct tp_place_table table;
	struct tp_ring_writer ring;
	char *directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, 16), 0);
	table.ring = &ring;
	uint32_t n = 0;
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < TP_GPU_RING_PLACES; i++) {
			uint16_t number = tp_place_table_number(&table, i % 8, i % 16, i);
			ck_assert_uint_eq(number, i + 1);
			ck_assert_uint_eq(ring.places[number - 1].stream, i);
			n++;
		}
	ck_assert_uint_eq(ring.header->n_places, TP_GPU_RING_PLACES);
	ck_assert_uint_eq(ring.header->n_unplaced, 0);
	ck_assert_uint_eq(tp_place_table_number(&table, 9, 9, 9), 0);
	ck_assert_uint_eq(tp_place_table_number(&table, 1, 1, 1), 2);
	ck_assert_uint_eq(ring.header->n_unplaced, 1);
	tp_ring_writer_close(&ring);
	ring_remove_directory(directory);
}
END_TEST

Suite *suite_agent_place_table(void);
Suite *suite_agent_place_table(void)
{
	Suite *suite = suite_create("agent_placetable");
	TCase *tests = tcase_create("placetable");
	tcase_add_test(tests, each_place_has_one_number_until_the_table_is_full);
	suite_add_tcase(suite, tests);
	return suite;
}
