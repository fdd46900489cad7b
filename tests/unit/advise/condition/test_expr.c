/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the syntax of conditions. */
#include "advise/condition/expr.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct tp_arena arena;
static struct tp_thresholds thresholds;

static void setup(void)
{
	static struct tp_threshold items[] = {{.name = "part.high",
					       .value = 0.2,
					       .dimension = {.is_ratio = true, .scale = 0.01}}};
	tp_arena_init(&arena);
	thresholds = (struct tp_thresholds){.items = items, .n_items = 1};
}

static void teardown(void)
{
	tp_arena_release(&arena);
}

static enum tp_status parse(const char *text, enum tp_expr_type want, struct tp_error *err)
{
	struct tp_expr_scope place = {.file = "x.json",
				      .line = 7,
				      .thresholds = &thresholds,
				      .arena = &arena};
	const struct tp_expr *expr = NULL;
	enum tp_status status = tp_expr_parse(&expr, text, want, &place, err);
	ck_assert_int_eq(!status, expr != NULL);
	return status;
}

START_TEST(these_are_conditions)
{
	static const char *const texts[] = {
		"step.count > 3",
		"step.count>3 and not step.time_ns < 2ms or env.is_python",
		"not not env.is_python",
		"(step.count > 3)",
		"step.dataloader_ratio > $part.high",
		"sure(step.dataloader_ratio > 5% and step.count >= 10)",
		"known(memory.rss_peak_bytes) and memory.rss_peak_bytes < 1GiB",
		"min(step.time_ns, step.median_ns, 3ms) * 2 == 4ms",
		"io.device_read_bytes_per_s * run.window_ns < memory.limit_bytes - 1GiB",
		"memory.minor_faults_per_s * step.time_ns > 100",
		"memory.rss_peak_bytes / step.time_ns > 10MiB/s",
		"-step.count < -3",
		"ceil(loader.workers / 50%) >= floor(cpu.idle_cpus)",
		"true",
		"false or true",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tp_error err = {0};
		ck_assert_msg(!parse(texts[i], TP_EXPR_CONDITION, &err), "%s: %s", texts[i],
			      err.text);
	}
}
END_TEST

START_TEST(errors_name_the_place_and_the_nearest_name)
{
	static const struct {
		const char *text;
		const char *said;
	} rows[] = {
		{"step.tme_ns > 3ms", "x.json:7: no fact 'step.tme_ns'; nearest: step.time_ns"},
		{"step.count > $part.hgih", "no threshold '$part.hgih'; nearest: $part.high"},
		{"step.time_ns > memory.rss_peak_bytes", "a time does not compare with bytes"},
		{"step.time_ns + memory.rss_peak_bytes > 3ms", "a time does not add up with bytes"},
		{"step.time_ns > 3", "a time does not compare with a number"},
		{"memory.minor_faults_per_s > 1000", "a rate does not compare with a number"},
		{"step.time_ns * step.time_ns > 3ms", "a time times a time has no meaning here"},
		{"step.count / 0 > 1", "this divides by zero"},
		{"step.count / (2 - 2) > 1", "this divides by zero"},
		{"step.count", "a condition is needed here, not a number"},
		{"env.is_python > 3", "a truth value does not compare with a number"},
		{"env.is_python and 3", "a condition is needed here, not a number"},
		{"not step.count", "a condition is needed here"},
		{"1 < step.count < 3", "comparisons do not chain; use 'and'"},
		{"step.count >", "expected, at column 13"},
		{"step.count = 3", "'=' is not an operator, at column 12"},
		{"step.count > 3 step.count", "follows the end of the condition"},
		{"(step.count > 3", "')' expected before the end"},
		{"maximum(1, 2) > 1", "no function 'maximum'"},
		{"min(1) > 1", "min, max and first take two numbers or more"},
		{"known(3)", "no fact ''"},
		{"ceil(step.time_ns) > 1", "only plain numbers are rounded, not a time"},
		{"sure(step.count) ", "a condition is needed here"},
		{"step.count > 5parsec", "no unit 'parsec'"},
		{"", "a number, a fact or '(' expected"},
		{"step.count > 3 \001", "a character that does not belong here"},
		{"nonsense", "no fact 'nonsense'"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_error err = {0};
		ck_assert_int_eq(parse(rows[i].text, TP_EXPR_CONDITION, &err), TP_PARSE);
		ck_assert_msg(strstr(err.text, rows[i].said) != NULL, "'%s' says '%s', not '%s'",
			      rows[i].text, err.text, rows[i].said);
	}
}
END_TEST

START_TEST(a_number_is_no_condition_and_the_other_way_round)
{
	struct tp_error err;
	ck_assert_int_eq(parse("step.count + 1", TP_EXPR_NUMBER, &err), TP_OK);
	ck_assert_int_eq(parse("step.count > 1", TP_EXPR_NUMBER, &err), TP_PARSE);
	ck_assert_int_eq(parse("step.count + 1", TP_EXPR_CONDITION, &err), TP_PARSE);
}
END_TEST

START_TEST(depth_length_and_size_are_bounded)
{
	struct tp_error err;
	char deep[TP_EXPR_MAX_LENGTH + 3];
	memset(deep, '(', sizeof(deep));
	deep[200] = '\0';
	ck_assert_int_eq(parse(deep, TP_EXPR_CONDITION, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "brackets are deeper"));
	for (size_t i = 0; i < 200; i += 4)
		memcpy(deep + i, "min(", 4);
	ck_assert_int_eq(parse(deep, TP_EXPR_NUMBER, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "brackets are deeper"));
	memset(deep, ' ', sizeof(deep));
	deep[TP_EXPR_MAX_LENGTH + 1] = '\0';
	ck_assert_int_eq(parse(deep, TP_EXPR_CONDITION, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "longer than"));
}
END_TEST

START_TEST(figures_named_in_a_rule_cannot_explode)
{
	struct tp_local locals[12];
	struct tp_error err = {0};
	enum tp_status status = TP_OK;
	struct tp_expr_scope place = {.file = "x.json",
				      .line = 1,
				      .thresholds = &thresholds,
				      .locals = locals,
				      .arena = &arena};
	char names[12][4];
	char text[64] = "step.count + step.count";
	for (size_t i = 0; i < 12 && !status; i++) {
		snprintf(names[i], sizeof(names[i]), "n%zu", i);
		locals[i].name = names[i];
		status = tp_expr_parse(&locals[i].expr, text, TP_EXPR_NUMBER, &place, &err);
		place.n_locals = i + 1;
		snprintf(text, sizeof(text), "$n%zu + $n%zu", i, i);
	}
	ck_assert_int_eq(status, TP_PARSE); /* 2^12 parts are more than allowed */
	ck_assert_ptr_nonnull(strstr(err.text, "parts"));
}
END_TEST

Suite *suite_advise_expr(void);
Suite *suite_advise_expr(void)
{
	Suite *suite = suite_create("advise_expr");
	TCase *tcase = tcase_create("expr");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, these_are_conditions);
	tcase_add_test(tcase, errors_name_the_place_and_the_nearest_name);
	tcase_add_test(tcase, a_number_is_no_condition_and_the_other_way_round);
	tcase_add_test(tcase, depth_length_and_size_are_bounded);
	tcase_add_test(tcase, figures_named_in_a_rule_cannot_explode);
	suite_add_tcase(suite, tcase);
	return suite;
}
