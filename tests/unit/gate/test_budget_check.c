/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of checking runs against a budget. */
#include "sheet.h"

#include "trainprof/base/memory.h"
#include "trainprof/gate/budget.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <stdio.h>

/* Checks runs of these steps in ms, ended by 0, against one assertion. */
static enum tp_gate_answer hold_against(struct sheet base_sheet, struct tp_assertion a,
					const double *base_ms, const double *now_ms,
					struct sheet sheet)
{
	struct tp_arena arena = {0};
	const struct tp_run_values *base[4];
	const struct tp_run_values *now[4];
	struct tp_budget_runs runs = {.now = now, .base = base};
	struct tp_budget_result result;
	a.name = "x";
	a.is_error = true;
	const struct tp_budget budget = {.path = "b", .assertions = &a, .n_assertions = 1};
	for (; base_ms && base_ms[runs.n_base] > 0; runs.n_base++) {
		base_sheet.step_ns = 1e6 * base_ms[runs.n_base];
		base[runs.n_base] = sheet_run(&base_sheet, "base", &arena);
	}
	for (; now_ms[runs.n_now] > 0; runs.n_now++) {
		sheet.step_ns = 1e6 * now_ms[runs.n_now];
		now[runs.n_now] = sheet_run(&sheet, "now", &arena);
	}
	ck_assert_int_eq(tp_budget_check(&result, &budget, &runs, &arena, NULL), TP_OK);
	enum tp_gate_answer answer = result.items[0].answer;
	ck_assert_uint_eq(result.n_failed, answer == TP_GATE_FAIL);
	ck_assert_uint_eq(result.n_undecided, answer == TP_GATE_UNDECIDED);
	tp_arena_release(&arena);
	return answer;
}

static const struct sheet plain = {0};

static enum tp_gate_answer hold(struct tp_assertion a, const double *base_ms, const double *now_ms,
				struct sheet sheet)
{
	return hold_against(plain, a, base_ms, now_ms, sheet);
}

START_TEST(a_limit_fails_only_beyond_chance)
{
	const struct tp_assertion most = {.fact = TP_FACT_STEP_TIME, .has_max = true, .max = 10e6};
	ck_assert_int_eq(hold(most, NULL, (double[]){9.9, 0}, plain), TP_GATE_PASS);
	ck_assert_int_eq(hold(most, NULL, (double[]){10.1, 0}, plain), TP_GATE_UNDECIDED);
	ck_assert_int_eq(hold(most, NULL, (double[]){11, 0}, plain), TP_GATE_FAIL);
	ck_assert_int_eq(hold(most, NULL, (double[]){10.1, 10.11, 10.09, 0}, plain), TP_GATE_FAIL);
}
END_TEST

START_TEST(the_spread_of_the_baseline_decides_what_is_worse)
{
	const struct tp_assertion worse = {.fact = TP_FACT_STEP_TIME,
					   .has_worse = true,
					   .max_worse_ratio = 0.03};
	const double base[] = {10, 10.02, 9.98, 0};
	ck_assert_int_eq(hold(worse, base, (double[]){10.01, 0}, plain), TP_GATE_PASS);
	ck_assert_int_eq(hold(worse, base, (double[]){10.6, 0}, plain), TP_GATE_FAIL);
	ck_assert_int_eq(hold(worse, (double[]){10, 0}, (double[]){10, 0}, plain),
			 TP_GATE_UNDECIDED);
}
END_TEST

/* A program that saves checkpoints twice as often has the same usual steps. */
START_TEST(usual_steps_alone_do_not_pass_if_special_steps_take_more)
{
	const struct tp_assertion worse = {.fact = TP_FACT_STEP_TIME,
					   .has_worse = true,
					   .max_worse_ratio = 0.03};
	const struct sheet more = {.metrics = ", \"run.outside_ratio\": {\"value\": 0.86}"};
	const double base[] = {10, 10.02, 9.98, 0};
	ck_assert_int_eq(hold_against((struct sheet){.metrics = ", \"run.outside_ratio\": "
								"{\"value\": 0.5}"},
				      worse, base, (double[]){10.01, 0}, more),
			 TP_GATE_UNDECIDED);
	ck_assert_int_eq(hold_against(more, worse, base, (double[]){10.01, 0}, more), TP_GATE_PASS);
}
END_TEST

START_TEST(lower_throughput_is_worse)
{
	const struct tp_assertion worse = {.name = "x",
					   .is_error = true,
					   .fact = TP_FACT_STEP_SAMPLES_PER_S,
					   .has_worse = true,
					   .max_worse_ratio = 0.05};
	const struct tp_budget budget = {.path = "b", .assertions = &worse, .n_assertions = 1};
	static const struct {
		int rate;
		enum tp_gate_answer answer;
	} rows[] = {{1000, TP_GATE_UNDECIDED}, {1100, TP_GATE_PASS}, {800, TP_GATE_FAIL}};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct tp_arena arena = {0};
		struct tp_budget_result result;
		char rate[80];
		const char *base = ", \"throughput.samples_per_s\": {\"value\": 1000}";
		snprintf(rate, sizeof(rate), ", \"throughput.samples_per_s\": {\"value\": %d}",
			 rows[i].rate);
		const struct tp_run_values *before =
			sheet_run(&(struct sheet){.step_ns = 1e7, .metrics = base}, "base", &arena);
		const struct tp_run_values *now =
			sheet_run(&(struct sheet){.step_ns = 1e7, .metrics = rate}, "now", &arena);
		const struct tp_budget_runs runs = {.now = &now,
						    .n_now = 1,
						    .base = &before,
						    .n_base = 1};
		ck_assert_int_eq(tp_budget_check(&result, &budget, &runs, &arena, NULL), TP_OK);
		ck_assert_int_eq(result.items[0].answer, rows[i].answer);
		tp_arena_release(&arena);
	}
}
END_TEST

START_TEST(unknown_failed_and_different_runs_never_pass)
{
	const struct tp_assertion ipc = {.fact = TP_FACT_LOADER_WORKERS, .has_min = true, .min = 1};
	const struct tp_assertion most = {.fact = TP_FACT_STEP_TIME, .has_max = true, .max = 99e6};
	const struct tp_assertion worse = {.fact = TP_FACT_STEP_TIME,
					   .has_worse = true,
					   .max_worse_ratio = 0.03};
	const double five[] = {5, 0};
	ck_assert_int_eq(hold(ipc, NULL, five, plain), TP_GATE_UNDECIDED);
	ck_assert_int_eq(hold(most, NULL, five, (struct sheet){.exit_code = 1}), TP_GATE_UNDECIDED);
	ck_assert_int_eq(hold(worse, (double[]){10, 0}, five, (struct sheet){.cpu = "Other"}),
			 TP_GATE_UNDECIDED);
}
END_TEST

START_TEST(unjudged_findings_may_leave_a_count_undecided)
{
	const struct tp_assertion none = {.fact = TP_MAX_FACTS,
					  .pattern = "a/*",
					  .has_count = true,
					  .max_count = 0};
	const double five[] = {5, 0};
	const char *fired = "{\"rule\": \"a/b\", \"state\": \"fired\", \"level\": \"high\"}";
	const char *quiet = "{\"rule\": \"a/b\", \"state\": \"quiet\"}";
	const char *unjudged = "{\"rule\": \"a/b\", \"state\": \"not_judged\"}";
	ck_assert_int_eq(hold(none, NULL, five, (struct sheet){.findings = fired}), TP_GATE_FAIL);
	ck_assert_int_eq(hold(none, NULL, five, (struct sheet){.findings = quiet}), TP_GATE_PASS);
	ck_assert_int_eq(hold(none, NULL, five, (struct sheet){.findings = unjudged}),
			 TP_GATE_UNDECIDED);
}
END_TEST

START_TEST(of_too_many_findings_the_new_one_is_named)
{
#define FIRED(rule)                                                                                \
	"{\"rule\": \"" rule "\", \"state\": \"fired\", \"level\": \"high\", \"because\": \"" rule \
	"!\"}"
	struct tp_arena arena = {0};
	const struct sheet before = {.step_ns = 1e6, .findings = FIRED("a/known")};
	const struct sheet after = {.step_ns = 1e6,
				    .findings = FIRED("a/known") "," FIRED("a/new") "," FIRED(
					    "a/newer")};
	const struct sheet quiet = {.step_ns = 1e6};
	const struct tp_run_values *base[] = {sheet_run(&quiet, "quiet", &arena),
					      sheet_run(&before, "base", &arena)};
	const struct tp_run_values *now = sheet_run(&after, "now", &arena);
	const struct tp_assertion one = {.name = "x",
					 .fact = TP_MAX_FACTS,
					 .pattern = "a/*",
					 .has_count = true,
					 .max_count = 1};
	const struct tp_budget budget = {.path = "b", .assertions = &one, .n_assertions = 1};
	struct tp_budget_runs runs = {.now = &now, .n_now = 1, .base = base, .n_base = 2};
	struct tp_budget_result result;
	ck_assert_int_eq(tp_budget_check(&result, &budget, &runs, &arena, NULL), TP_OK);
	ck_assert_str_eq(result.items[0].because, "a/new!");
	runs.n_base = 0;
	ck_assert_int_eq(tp_budget_check(&result, &budget, &runs, &arena, NULL), TP_OK);
	ck_assert_str_eq(result.items[0].because, "a/known!");
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_gate_budget_check(void);

Suite *suite_gate_budget_check(void)
{
	Suite *s = suite_create("gate_budget_check");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, a_limit_fails_only_beyond_chance);
	tcase_add_test(tc, the_spread_of_the_baseline_decides_what_is_worse);
	tcase_add_test(tc, usual_steps_alone_do_not_pass_if_special_steps_take_more);
	tcase_add_test(tc, lower_throughput_is_worse);
	tcase_add_test(tc, unknown_failed_and_different_runs_never_pass);
	tcase_add_test(tc, unjudged_findings_may_leave_a_count_undecided);
	tcase_add_test(tc, of_too_many_findings_the_new_one_is_named);
	suite_add_tcase(s, tc);
	return s;
}
