/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of name ids. */
#include "agent/ring/name_table.h"
#include "agent/ringreading.h"

static struct tp_ring_writer ring;
static struct tp_name_table table;
static char *directory;

static void begin(void)
{
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, 16), 0);
	table.ring = &ring;
}

static void finish(void)
{
	tp_ring_writer_close(&ring);
	ring_remove_directory(directory);
}

START_TEST(one_text_has_one_id_wherever_it_lies)
{
	char here[] = "_Z4gemmPf";
	char there[] = "_Z4gemmPf";
	begin();
	uint32_t id = tp_name_table_id(&table, here);
	ck_assert_uint_gt(id, 0);
	ck_assert_uint_eq(tp_name_table_id(&table, here), id);
	ck_assert_uint_eq(tp_name_table_id(&table, there), id);
	ck_assert_str_eq(tp_ring_writer_name(&ring, id), "_Z4gemmPf");
	ck_assert_uint_eq(tp_name_table_id(&table, NULL), 0);
	ck_assert_uint_gt(tp_name_table_id(&table, ""), 0);
	finish();
}
END_TEST

/* A module is unloaded, and another module's names are at the same addresses. */
START_TEST(another_text_in_the_same_place_has_another_id)
{
	char place[] = "_Z4gemmPf";
	begin();
	uint32_t gemm = tp_name_table_id(&table, place);
	strcpy(place, "_Z4reluPf");
	ck_assert_uint_eq(tp_name_table_id(&table, place), gemm); /* not compared again */
	tp_name_table_mark_stale(&table);
	uint32_t relu = tp_name_table_id(&table, place);
	ck_assert_uint_ne(relu, gemm);
	ck_assert_str_eq(tp_ring_writer_name(&ring, relu), "_Z4reluPf");
	strcpy(place, "_Z4gem");
	tp_name_table_mark_stale(&table);
	ck_assert_str_eq(tp_ring_writer_name(&ring, tp_name_table_id(&table, place)), "_Z4gem");
	strcpy(place, "_Z4gemmPf");
	tp_name_table_mark_stale(&table);
	ck_assert_uint_eq(tp_name_table_id(&table, place), gemm);
	finish();
}
END_TEST

START_TEST(names_longer_than_the_most_are_one_up_to_there)
{
	static char text[2 * TP_GPU_NAME_MAX];
	begin();
	memset(text, 'k', sizeof(text) - 1);
	uint32_t id = tp_name_table_id(&table, text);
	ck_assert_uint_eq(tp_name_table_id(&table, text), id);
	text[TP_GPU_NAME_MAX + 5] = 'x';
	tp_name_table_mark_stale(&table);
	ck_assert_uint_eq(tp_name_table_id(&table, text), id);
	text[TP_GPU_NAME_MAX - 1] = 'x';
	tp_name_table_mark_stale(&table);
	ck_assert_uint_ne(tp_name_table_id(&table, text), id);
	finish();
}
END_TEST

START_TEST(a_full_table_still_knows_what_it_has)
{
	char text[32];
	uint32_t first = 0;
	begin();
	for (int i = 0; i < 2 * TP_NAME_TABLE_TEXTS; i++) {
		snprintf(text, sizeof(text), "k%d", i);
		tp_name_table_mark_stale(&table);
		uint32_t id = tp_name_table_id(&table, text);
		first = i ? first : id;
		if (id)
			ck_assert_str_eq(tp_ring_writer_name(&ring, id), text);
	}
	ck_assert_uint_eq(ring.header->n_unnamed, 2 * TP_NAME_TABLE_TEXTS - table.n);
	ck_assert_uint_ge(table.n, TP_NAME_TABLE_TEXTS / 4 * 3);
	ck_assert_uint_eq(tp_name_table_id(&table, "k0"), first);
	/* A name that finds no room is not searched for again and again. */
	uint64_t n_unnamed = ring.header->n_unnamed;
	for (int i = 0; i < 5; i++)
		ck_assert_uint_eq(tp_name_table_id(&table, "new"), 0);
	ck_assert_uint_eq(ring.header->n_unnamed, n_unnamed + 1);
	finish();
}
END_TEST

Suite *suite_agent_name_table(void);
Suite *suite_agent_name_table(void)
{
	Suite *suite = suite_create("agent_nametable");
	TCase *tests = tcase_create("nametable");
	tcase_add_test(tests, one_text_has_one_id_wherever_it_lies);
	tcase_add_test(tests, another_text_in_the_same_place_has_another_id);
	tcase_add_test(tests, names_longer_than_the_most_are_one_up_to_there);
	tcase_add_test(tests, a_full_table_still_knows_what_it_has);
	suite_add_tcase(suite, tests);
	return suite;
}
