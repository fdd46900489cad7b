/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of naming the likely causes of a slowdown. */
#include "gate/cause.h"
#include "sheet.h"

#include <check.h>
#include <string.h>

/* The sentences of a comparison, joined by " | ". */
static void check_causes(const struct sheet *before, const struct sheet *after,
			 const char *expected)
{
	struct tp_arena arena = {0};
	const struct tp_run_values *base = sheet_run(before, "base", &arena);
	const struct tp_run_values *now = sheet_run(after, "now", &arena);
	const struct tp_diff_request request = {.base = &base,
						.n_base = 1,
						.now = &now,
						.n_now = 1};
	struct tp_run_diff diff;
	const char *causes[TP_BUDGET_CAUSES_MAX];
	struct tp_buf text = {0};
	tp_run_diff_make(&diff, &request, &arena);
	size_t n = tp_cause_list(causes, &diff, &arena);
	for (size_t i = 0; i < n; i++)
		tp_buf_printf(&text, "%s%s", i ? " | " : "", causes[i]);
	ck_assert_str_eq(tp_buf_text(&text), expected);
	tp_buf_release(&text);
	tp_arena_release(&arena);
}

#define LINE(line, of, ms)                                                                         \
	"{\"file\": \"/t.py\", \"line\": " #line ", \"function\": \"f\", \"of\": \"" of            \
	"\", \"part\": \"dataloader\", \"time_ns\": " #ms "00000000}"

START_TEST(causes_name_the_part_and_the_innermost_line_that_grew)
{
	const struct sheet base = {.step_ns = 10e6,
				   .dataloader = 0.2,
				   .lines = LINE(3, "loop", 2) ", " LINE(7, "own", 1)};
	const struct sheet now = {.step_ns = 20e6,
				  .dataloader = 0.6,
				  .lines = LINE(3, "loop", 12) ", " LINE(7, "own", 9)};
	check_causes(&base, &now,
		     "Dataloader: +10 ms per step | most at t.py:7 (f): +8 ms per step");
}
END_TEST

START_TEST(causes_name_the_loop_line_without_inner_lines)
{
	const struct sheet base = {.step_ns = 10e6, .dataloader = 0.2, .lines = LINE(3, "loop", 2)};
	const struct sheet now = {.step_ns = 20e6, .dataloader = 0.6, .lines = LINE(3, "loop", 12)};
	check_causes(&base, &now,
		     "Dataloader: +10 ms per step | most at t.py:3 (f): +10 ms per step");
}
END_TEST

/* The step is no longer, but a part of it is. */
START_TEST(an_inner_line_that_grew_little_beside_the_loop_line_is_not_named)
{
	const struct sheet base = {.step_ns = 10e6,
				   .dataloader = 0.2,
				   .lines = LINE(3, "loop", 2) ", " LINE(7, "own", 1)};
	const struct sheet now = {.step_ns = 10e6,
				  .dataloader = 0.8,
				  .lines = LINE(3, "loop", 8) ", " LINE(7, "own", 2)};
	check_causes(&base, &now,
		     "Dataloader: +6 ms per step | most at t.py:3 (f): +6 ms per step");
}
END_TEST

#define LOADER_LINE(line, name, ms)                                                                \
	"{\"of\": \"loading\", \"name\": \"" name "\", \"time_ns\": " #ms                          \
	"00000000, \"file\": \"/t.py\", \"line\": " #line ", \"function\": \"decode\"}"

/* Two kinds of work in line 9 count together. */
START_TEST(causes_of_a_longer_wait_for_batches_name_the_line_that_makes_them)
{
	const struct sheet base = {.step_ns = 10e6,
				   .dataloader = 0.2,
				   .lines = LINE(3, "own", 2),
				   .functions = LOADER_LINE(8, "NumPy", 6)};
	const struct sheet waits = {.step_ns = 20e6,
				    .dataloader = 0.6,
				    .lines = LINE(3, "own", 12),
				    .functions = LOADER_LINE(8, "NumPy", 7) ", " LOADER_LINE(
					    9, "lists", 4) ", " LOADER_LINE(9, "copies", 5)};
	check_causes(&base, &waits,
		     "Dataloader: +10 ms per step | most at t.py:3 (f): +10 ms per step | "
		     "in loaders most at t.py:9 (decode): +9 ms of CPU time per step");
	/* The same work where training waits no longer says nothing. */
	struct sheet computes = waits;
	computes.dataloader = 0.1;
	computes.lines = "{\"file\": \"/t.py\", \"line\": 4, \"function\": \"f\", \"of\": \"own\","
			 "\"part\": \"compute\", \"time_ns\": 1000000000}";
	check_causes(&base, &computes,
		     "Compute: +10 ms per step | most at t.py:4 (f): +10 ms per step");
}
END_TEST

START_TEST(causes_name_changed_settings_and_advice)
{
	const struct sheet base = {
		.step_ns = 10e6,
		.metrics = ", \"loader.workers\": {\"value\": 2}",
		.findings = "{\"rule\": \"a/b\", \"state\": \"quiet\", \"title\": \"T\"}"};
	const struct sheet now = {
		.step_ns = 10e6,
		.metrics = ", \"loader.workers\": {\"value\": 1}",
		.findings = "{\"rule\": \"a/b\", \"state\": \"fired\", \"level\": \"high\","
			    "\"title\": \"T\", \"because\": \"It is slow.\"}"};
	check_causes(&base, &now, "loader.workers: 2 -> 1 | new: a/b: It is slow.");
	check_causes(&base, &base, "");
}
END_TEST

START_TEST(without_a_baseline_the_cause_is_the_first_advice)
{
	struct tp_arena arena = {0};
	const char *causes[TP_BUDGET_CAUSES_MAX];
	const struct sheet sheet = {
		.step_ns = 10e6,
		.findings = "{\"rule\": \"n/n\", \"state\": \"fired\", \"level\": \"note\","
			    "\"because\": \"A note.\"},"
			    "{\"rule\": \"a/b\", \"state\": \"fired\", \"level\": \"low\","
			    "\"because\": \"It is slow.\"}"};
	const struct sheet none = {.step_ns = 10e6};
	ck_assert_uint_eq(tp_cause_of_run(causes, sheet_run(&sheet, "r", &arena), &arena), 1);
	ck_assert_str_eq(causes[0], "a/b: It is slow.");
	ck_assert_uint_eq(tp_cause_of_run(causes, sheet_run(&none, "r", &arena), &arena), 0);
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_gate_cause(void);

Suite *suite_gate_cause(void)
{
	Suite *s = suite_create("gate_cause");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, causes_name_the_part_and_the_innermost_line_that_grew);
	tcase_add_test(tc, causes_name_the_loop_line_without_inner_lines);
	tcase_add_test(tc, an_inner_line_that_grew_little_beside_the_loop_line_is_not_named);
	tcase_add_test(tc, causes_of_a_longer_wait_for_batches_name_the_line_that_makes_them);
	tcase_add_test(tc, causes_name_changed_settings_and_advice);
	tcase_add_test(tc, without_a_baseline_the_cause_is_the_first_advice);
	suite_add_tcase(s, tc);
	return s;
}
