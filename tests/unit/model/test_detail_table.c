/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of interned details. */
#include "trainprof/model/detail_table.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <string.h>

static struct tp_detail_table table;

static void setup(void)
{
	tp_detail_table_init(&table);
}

static void teardown(void)
{
	tp_detail_table_release(&table);
}

START_TEST(each_member_makes_another_detail)
{
	static const struct tp_detail details[] = {
		{.bytes = 1}, {.blocks = 1}, {.threads = 1}, {.op = 1},
		{.type = 1},  {.group = 1},  {.n_ranks = 1}, {.sequence = 1},
	};
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < TP_ARRAY_LEN(details); i++)
			ck_assert_uint_eq(tp_detail_table_intern(&table, &details[i]), i + 1);
	ck_assert_uint_eq(table.n, TP_ARRAY_LEN(details) + 1);
	for (uint32_t i = 0; i < TP_ARRAY_LEN(details); i++)
		ck_assert_mem_eq(tp_detail_table_get(&table, i + 1), &details[i],
				 sizeof(details[i]));
}
END_TEST

START_TEST(unknown_details_are_entry_zero)
{
	static const struct tp_detail nothing;
	ck_assert_uint_eq(tp_detail_table_intern(&table, &nothing), 0);
	ck_assert_uint_eq(table.n, 1);
	ck_assert_uint_eq(tp_detail_table_get(&table, 0)->bytes, 0);
	ck_assert_ptr_eq(tp_detail_table_get(&table, 7), tp_detail_table_get(&table, 0));
}
END_TEST

START_TEST(many_keep_their_ids)
{
	enum { N = 100000 };
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < N; i++)
			ck_assert_uint_eq(
				tp_detail_table_intern(&table,
						       &(struct tp_detail){.bytes = i % 1000 + 1,
									   .sequence = i / 1000}),
				i + 1);
	ck_assert_uint_eq(table.n, N + 1);
}
END_TEST

Suite *suite_model_detail_table(void);
Suite *suite_model_detail_table(void)
{
	Suite *suite = suite_create("model/detailtab");
	TCase *tc = tcase_create("detailtab");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_member_makes_another_detail);
	tcase_add_test(tc, unknown_details_are_entry_zero);
	tcase_add_test(tc, many_keep_their_ids);
	suite_add_tcase(suite, tc);
	return suite;
}
