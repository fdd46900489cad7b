/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the reasons why two runs cannot be compared. */
#include "advise/shelf.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static struct tp_quantity first[TP_N_FACTS];
static struct tp_quantity second[TP_N_FACTS];

static void setup(void)
{
	struct tp_error err = {0};
	shelf_open(&shelf);
	shelf_put_rule(&shelf, "a", "step.count > 1", "");
	shelf_put(&shelf, "thresholds.json",
		  "{\"not_compared\": [\n"
		  " {\"when\": \"step.dataloader_ratio > 20%\", \"because\": \"both wait\"},\n"
		  " {\"when\": \"cpu.steal_ratio > 5%\", \"because\": \"both are robbed\"}]}");
	facts_init(first);
	facts_init(second);
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
}

static void teardown(void)
{
	tp_rulebook_free(book);
	shelf_close(&shelf);
}

static size_t spoilers(const char **because)
{
	return tp_rulebook_not_comparable(book, first, second, because, 2);
}

START_TEST(only_what_both_have_spoils_a_comparison)
{
	static const struct {
		double first;
		double second;
		size_t n;
	} rows[] = {{0.3, 0.25, 1}, {0.3, 0.2, 0}, {0.1, 0.9, 0}, {0.1, 0.1, 0}};
	const char *because[2];
	facts_set(first, TP_FACT_STEP_DATALOADER, rows[_i].first);
	facts_set(second, TP_FACT_STEP_DATALOADER, rows[_i].second);
	ck_assert_uint_eq(spoilers(because), rows[_i].n);
	if (rows[_i].n)
		ck_assert_str_eq(because[0], "both wait");
}
END_TEST

START_TEST(facts_unknown_in_one_run_do_not_count)
{
	const char *because[2];
	facts_set(first, TP_FACT_STEP_DATALOADER, 0.5);
	ck_assert_uint_eq(spoilers(because), 0);
}
END_TEST

START_TEST(there_may_be_several_and_no_more_than_asked_for)
{
	const char *because[2];
	facts_set(first, TP_FACT_STEP_DATALOADER, 0.5);
	facts_set(second, TP_FACT_STEP_DATALOADER, 0.5);
	facts_set(first, TP_FACT_CPU_STEAL, 0.5);
	facts_set(second, TP_FACT_CPU_STEAL, 0.5);
	ck_assert_uint_eq(spoilers(because), 2);
	ck_assert_str_eq(because[1], "both are robbed");
	ck_assert_uint_eq(tp_rulebook_not_comparable(book, first, second, because, 1), 1);
}
END_TEST

Suite *suite_advise_not_comparable(void);
Suite *suite_advise_not_comparable(void)
{
	Suite *suite = suite_create("advise_comparison");
	TCase *tcase = tcase_create("comparison");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, only_what_both_have_spoils_a_comparison, 0, 4);
	tcase_add_test(tcase, facts_unknown_in_one_run_do_not_count);
	tcase_add_test(tcase, there_may_be_several_and_no_more_than_asked_for);
	suite_add_tcase(suite, tcase);
	return suite;
}
