/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the values of conditions. */
#include "advise/condition/expr.h"
#include "advise/shelf.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct tp_arena arena;
static struct tp_quantity facts[TP_N_FACTS];

static void setup(void)
{
	tp_arena_init(&arena);
	facts_init(facts);
}

static void teardown(void)
{
	tp_arena_release(&arena);
}

static const struct tp_expr *parsed(const char *text, enum tp_expr_type want)
{
	static const struct tp_thresholds none;
	struct tp_expr_scope place = {.file = "x", .line = 1, .thresholds = &none, .arena = &arena};
	const struct tp_expr *expr = NULL;
	struct tp_error err = {0};
	ck_assert_msg(!tp_expr_parse(&expr, text, want, &place, &err), "%s", err.text);
	return expr;
}

static struct tp_truth truth(const char *text)
{
	return tp_expr_truth(parsed(text, TP_EXPR_CONDITION), facts);
}

static struct tp_number number(const char *text)
{
	return tp_expr_number(parsed(text, TP_EXPR_NUMBER), facts);
}

/* The second implementation: Kleene's values as -1, 0, 1 with min, max and minus. */
static int as_sign(enum tp_truth_value value)
{
	return value == TP_YES ? 1 : value == TP_NO ? -1 : 0;
}

START_TEST(logic_is_kleenes)
{
	static const char *const atoms[] = {"step.count > 99", "io.data_files > 1",
					    "step.count < 99"};
	static const int values[] = {-1, 0, 1};
	facts_set(facts, TP_FACT_STEP_COUNT, 5);
	for (int a = 0; a < 3; a++) {
		ck_assert_int_eq(as_sign(truth(atoms[a]).value), values[a]);
		char text[128];
		snprintf(text, sizeof(text), "not %s", atoms[a]);
		ck_assert_int_eq(as_sign(truth(text).value), -values[a]);
		for (int b = 0; b < 3; b++) {
			int least = values[a] < values[b] ? values[a] : values[b];
			int most = values[a] > values[b] ? values[a] : values[b];
			snprintf(text, sizeof(text), "%s and %s", atoms[a], atoms[b]);
			ck_assert_int_eq(as_sign(truth(text).value), least);
			snprintf(text, sizeof(text), "%s or %s", atoms[a], atoms[b]);
			ck_assert_int_eq(as_sign(truth(text).value), most);
		}
	}
}
END_TEST

START_TEST(arithmetic_follows_precedence)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {{"1 + 2 * 3", 7},
		    {"(1 + 2) * 3", 9},
		    {"10 - 4 - 3", 3},
		    {"16 / 4 / 2", 2},
		    {"-2 + 5", 3},
		    {"min(3, 1, 2)", 1},
		    {"max(3, 1, 2)", 3},
		    {"ceil(2.1)", 3},
		    {"first(step.count, 9)", 5},
		    {"first(loader.workers, step.count, 9)", 5},
		    {"1 + first(loader.workers, 9)", 10},
		    {"floor(2.9)", 2},
		    {"ceil(-(2.1))", -2},
		    {"100% - 5%", 0.95},
		    {"2 * 50%", 1},
		    {"5ms / 10ms", 0.5},
		    {"1GiB / 1s * 2s", 2147483648.0},
		    {"step.count * 2", 10},
		    {"524 / 56", 524.0 / 56}};
	facts_set(facts, TP_FACT_STEP_COUNT, 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_number got = number(rows[i].text);
		ck_assert_msg(got.is_known, "%s", rows[i].text);
		ck_assert_double_eq_tol(got.value, rows[i].value, 1e-9 * fabs(rows[i].value));
		/* An expression of exact numbers has an exact value. */
		ck_assert(got.low == got.value && got.value == got.high);
	}
}
END_TEST

START_TEST(unknown_stays_unknown_and_zero_does_not_divide)
{
	facts_set(facts, TP_FACT_STEP_COUNT, 0);
	ck_assert(!number("io.data_files + 1").is_known);
	ck_assert(!number("min(io.data_files, 1)").is_known);
	ck_assert(!number("1 / step.count").is_known);
	ck_assert_int_eq(truth("1 / step.count > 3").value, TP_UNKNOWN);
	ck_assert_int_eq(truth("known(io.data_files)").value, TP_NO);
	ck_assert_int_eq(truth("known(step.count)").value, TP_YES);
	ck_assert_int_eq(truth("not known(io.data_files) or io.data_files > 3").value, TP_YES);
	facts_set(facts, TP_FACT_STEP_COUNT, NAN);
	ck_assert(!number("step.count").is_known);
}
END_TEST

START_TEST(facts_compare_in_their_own_units)
{
	facts_set(facts, TP_FACT_STEP_TIME, 2e6);
	facts_set(facts, TP_FACT_MEM_MINFLT, 25000);
	facts_set(facts, TP_FACT_IO_READ, 100e6);
	facts_set(facts, TP_FACT_RUN_WINDOW, 30e9);
	ck_assert_int_eq(truth("step.time_ns == 2ms").value, TP_YES);
	ck_assert_int_eq(truth("memory.minor_faults_per_s == 25000/s").value, TP_YES);
	ck_assert_int_eq(truth("io.device_read_bytes_per_s >= 100MB/s").value, TP_YES);
	ck_assert_double_eq_tol(number("io.device_read_bytes_per_s * run.window_ns").value, 3e9, 1);
	ck_assert_double_eq_tol(number("memory.minor_faults_per_s * step.time_ns").value, 50, 1e-9);
}
END_TEST

START_TEST(sure_needs_the_whole_interval)
{
	facts_set_range(facts, TP_FACT_STEP_DATALOADER, 0.22, 0.18, 0.26);
	ck_assert_int_eq(truth("step.dataloader_ratio > 20%").value, TP_YES);
	ck_assert(!truth("step.dataloader_ratio > 20%").is_certain);
	ck_assert_int_eq(truth("sure(step.dataloader_ratio > 20%)").value, TP_NO);
	ck_assert_int_eq(truth("sure(step.dataloader_ratio > 15%)").value, TP_YES);
	ck_assert_int_eq(truth("sure(step.dataloader_ratio < 20%)").value, TP_NO);
	ck_assert_int_eq(truth("sure(step.dataloader_ratio < 30%)").value, TP_YES);
	/* One certain side decides for all of "or", and of "and" when it is false. */
	ck_assert(truth("step.dataloader_ratio > 20% or step.dataloader_ratio > 10%").is_certain);
	ck_assert(truth("step.dataloader_ratio > 20% and step.dataloader_ratio > 50%").is_certain);
	ck_assert(!truth("step.dataloader_ratio > 20% and step.dataloader_ratio > 10%").is_certain);
	ck_assert_int_eq(truth("sure(io.data_files > 1)").value, TP_UNKNOWN);
}
END_TEST

/* ---- intervals compared with points drawn from them ---- */

static uint64_t random_state = 88172645463325252u;

static double random_unit(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static void random_number_text(char *out, size_t size, int depth)
{
	static const char *const operators[] = {" + ", " - ", " * ", " / "};
	static const char *const atoms[] = {"step.compute_ratio", "step.host_ratio", "step.count",
					    "2.5", "loader.workers"};
	char left[400];
	char right[400];
	if (depth == 0 || random_unit() < 0.2) {
		snprintf(out, size, "%s", atoms[(int)(random_unit() * 5)]);
		return;
	}
	random_number_text(left, sizeof(left), depth - 1);
	random_number_text(right, sizeof(right), depth - 1);
	if (random_unit() < 0.3)
		snprintf(out, size, "%s(%s, %s)", random_unit() < 0.5 ? "min" : "max", left, right);
	else
		snprintf(out, size, "(%s%s%s)", left, operators[(int)(random_unit() * 4)], right);
}

START_TEST(no_point_of_the_facts_leaves_the_interval)
{
	static const enum tp_fact used[] = {TP_FACT_STEP_COMPUTE, TP_FACT_STEP_HOST,
					    TP_FACT_STEP_COUNT, TP_FACT_LOADER_WORKERS};
	int n_checked = 0;
	for (int round = 0; round < 400; round++) {
		char text[900];
		random_number_text(text, sizeof(text), 3);
		if (strlen(text) > TP_EXPR_MAX_LENGTH)
			continue;
		for (size_t i = 0; i < 4; i++) {
			double value = random_unit() * 4 - 1;
			facts_set_range(facts, used[i], value, value - random_unit(),
					value + random_unit());
		}
		const struct tp_expr *expr = parsed(text, TP_EXPR_NUMBER);
		struct tp_number whole = tp_expr_number(expr, facts);
		if (!whole.is_known)
			continue;
		for (int point = 0; point < 30; point++) {
			struct tp_quantity points[TP_N_FACTS];
			facts_init(points);
			for (size_t i = 0; i < 4; i++)
				facts_set(points, used[i],
					  facts[used[i]].low +
						  random_unit() * (facts[used[i]].high -
								   facts[used[i]].low));
			struct tp_number at = tp_expr_number(expr, points);
			if (!at.is_known)
				continue;
			double slack = 1e-9 * (1 + fabs(at.value));
			ck_assert_msg(at.value >= whole.low - slack &&
					      at.value <= whole.high + slack,
				      "%s: %g outside [%g, %g]", text, at.value, whole.low,
				      whole.high);
			n_checked++;
		}
	}
	ck_assert_int_gt(n_checked, 5000);
}
END_TEST

START_TEST(evidence_shows_each_comparison_once_in_the_facts_unit)
{
	struct tp_evidence evidence[8];
	facts_set(facts, TP_FACT_STEP_TIME, 3e6);
	facts_set(facts, TP_FACT_IO_READ, 5e6);
	facts_set(facts, TP_FACT_ENV_PYTHON, 1);
	const struct tp_expr *expr =
		parsed("step.time_ns > 2ms and 1MB/s >= io.device_read_bytes_per_s and "
		       "not io.data_files < 3 and env.is_python and step.time_ns > 2ms and "
		       "known(step.count)",
		       TP_EXPR_CONDITION);
	size_t n = tp_expr_evidence(expr, facts, false, evidence, 8);
	ck_assert_uint_eq(n, 4);
	ck_assert_int_eq(evidence[0].fact, TP_FACT_STEP_TIME);
	ck_assert_str_eq(evidence[0].op, ">");
	ck_assert_double_eq(evidence[0].threshold, 2e6);
	ck_assert_int_eq(evidence[0].holds, 1);
	ck_assert_str_eq(evidence[1].op, "<=");
	ck_assert_double_eq_tol(evidence[1].threshold, 1e6, 1e-3);
	ck_assert_int_eq(evidence[1].holds, 0);
	ck_assert_str_eq(evidence[2].op, ">=");
	ck_assert_int_eq(evidence[2].holds, -1);
	ck_assert_str_eq(evidence[3].op, "");
	ck_assert(!evidence[3].has_threshold);
	ck_assert_uint_eq(tp_expr_evidence(expr, facts, false, evidence, 2), 2);
	n = tp_expr_evidence(parsed("step.time_ns > 2ms", TP_EXPR_CONDITION), facts, true, evidence,
			     8);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(evidence[0].op, "<=");
	ck_assert_int_eq(evidence[0].holds, 0);
}
END_TEST

Suite *suite_advise_evaluate(void);
Suite *suite_advise_evaluate(void)
{
	Suite *suite = suite_create("advise_evaluate");
	TCase *tcase = tcase_create("evaluate");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, logic_is_kleenes);
	tcase_add_test(tcase, arithmetic_follows_precedence);
	tcase_add_test(tcase, unknown_stays_unknown_and_zero_does_not_divide);
	tcase_add_test(tcase, facts_compare_in_their_own_units);
	tcase_add_test(tcase, sure_needs_the_whole_interval);
	tcase_add_test(tcase, no_point_of_the_facts_leaves_the_interval);
	tcase_add_test(tcase, evidence_shows_each_comparison_once_in_the_facts_unit);
	suite_add_tcase(suite, tcase);
	return suite;
}
