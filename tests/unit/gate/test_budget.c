/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading budgets. tests/cli/check_budget.sh checks the texts of the errors. */
#include "trainprof/gate/budget.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <string.h>

static enum tp_status read(struct tp_budget *out, struct tp_arena *arena, const char *text)
{
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_json_parse(&doc, text, strlen(text), "b.json", &err), TP_OK);
	enum tp_status status = tp_budget_read(out, doc, arena, &err);
	tp_json_free(doc);
	return status;
}

START_TEST(numbers_have_the_unit_of_the_fact_and_texts_their_own)
{
	struct tp_arena arena = {0};
	struct tp_budget budget;
	ck_assert_int_eq(
		read(&budget, &arena,
		     "{\"schema\": \"trainprof-budget/1.0\", \"assert\": {"
		     "\"step.time_ns\": {\"level\": \"error\", \"max\": \"12 ms\", \"min\": 5},"
		     "\"step.host_ratio\": {\"level\": \"warn\", \"max\": \"40 %\"}}}"),
		TP_OK);
	ck_assert_uint_eq(budget.n_assertions, 2);
	ck_assert_double_eq(budget.assertions[0].max, 12e6);
	ck_assert_double_eq(budget.assertions[0].min, 5);
	ck_assert(budget.assertions[0].is_error && !budget.assertions[1].is_error);
	ck_assert_double_eq_tol(budget.assertions[1].max, 0.4, 1e-12);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(an_assertion_without_a_level_is_an_error_when_it_fails)
{
	struct tp_arena arena = {0};
	struct tp_budget budget;
	ck_assert_int_eq(read(&budget, &arena,
			      "{\"schema\": \"trainprof-budget/1.0\", \"assert\": "
			      "{\"step.time_ns\": {\"max\": \"12 ms\"}}}"),
			 TP_OK);
	ck_assert(budget.assertions[0].is_error);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(an_assertion_replaces_that_of_the_preset)
{
	struct tp_arena arena = {0};
	struct tp_budget budget;
	ck_assert_int_eq(read(&budget, &arena,
			      "{\"schema\": \"trainprof-budget/1.0\", \"extends\": \"strict\","
			      "\"assert\": {\"step.time_ns\": \"off\"}}"),
			 TP_OK);
	ck_assert_uint_eq(budget.n_assertions, 2);
	ck_assert(budget.assertions[0].is_off);
	ck_assert_uint_eq(budget.assertions[1].fact, TP_FACT_MEM_RSS);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(a_budget_without_assertions_is_refused)
{
	struct tp_arena arena = {0};
	struct tp_budget budget;
	ck_assert_int_eq(read(&budget, &arena,
			      "{\"schema\": \"trainprof-budget/1.0\", \"assert\": {}}"),
			 TP_PARSE);
	ck_assert_int_eq(read(&budget, &arena,
			      "{\"schema\": \"trainprof-budget/1.0\", \"assert\": "
			      "{\"step.time_ns\": \"off\"}}"),
			 TP_PARSE);
	tp_arena_release(&arena);
}
END_TEST

#define ASSERTS(name, limits)                                                                      \
	"{\"schema\": \"trainprof-budget/1.0\", \"assert\": {\"" name                              \
	"\": {\"level\": \"error\", " limits "}}}"

START_TEST(shares_are_written_as_numbers_or_with_a_percent_sign)
{
	struct tp_arena arena = {0};
	struct tp_budget budget;
	static const char *const texts[] = {
		ASSERTS("step.time_ns", "\"max_worse_ratio\": 0.05"),
		ASSERTS("step.time_ns", "\"max_worse_ratio\": \"5%\""),
		ASSERTS("step.time_ns", "\"max_worse_ratio\": \"5 %\""),
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_int_eq(read(&budget, &arena, texts[i]), TP_OK);
		ck_assert_double_eq_tol(budget.assertions[0].max_worse_ratio, 0.05, 1e-9);
	}
	ck_assert_int_eq(read(&budget, &arena, ASSERTS("step.idle_ratio", "\"max\": \"250%\"")),
			 TP_OK);
	ck_assert_double_eq_tol(budget.assertions[0].max, 2.5, 1e-9);
	/* No shares: they may be that large. */
	static const char *const ratios[] = {
		ASSERTS("cpu.runnable_per_cpu_ratio", "\"max\": 4"),
		ASSERTS("loader.imbalance_ratio", "\"max\": 4"),
		ASSERTS("step.variation_ratio", "\"max\": 4"),
	};
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		ck_assert_int_eq(read(&budget, &arena, ratios[i]), TP_OK);
		ck_assert_double_eq_tol(budget.assertions[0].max, 4, 1e-9);
	}
	tp_arena_release(&arena);
}
END_TEST

/* Each would be a limit that always holds, or none. */
START_TEST(limits_that_mean_something_else_are_refused)
{
	struct tp_arena arena = {0};
	struct tp_budget budget;
	static const char *const texts[] = {
		ASSERTS("step.time_ns", "\"max_worse_ratio\": 5"),
		ASSERTS("step.idle_ratio", "\"max\": 50"),
		ASSERTS("step.time_ns", "\"max\": 5, \"equal_baseline\": \"true\""),
		ASSERTS("step.time_ns", "\"max_worse_ratio\": \"5 ms\""),
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_int_eq(read(&budget, &arena, texts[i]), TP_PARSE);
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_gate_budget(void);

Suite *suite_gate_budget(void)
{
	Suite *s = suite_create("gate_budget");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, numbers_have_the_unit_of_the_fact_and_texts_their_own);
	tcase_add_test(tc, an_assertion_without_a_level_is_an_error_when_it_fails);
	tcase_add_test(tc, an_assertion_replaces_that_of_the_preset);
	tcase_add_test(tc, a_budget_without_assertions_is_refused);
	tcase_add_test(tc, shares_are_written_as_numbers_or_with_a_percent_sign);
	tcase_add_test(tc, limits_that_mean_something_else_are_refused);
	suite_add_tcase(s, tc);
	return s;
}
