/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what weakens a comparison. tests/cli/diff_messages.sh checks the texts of failed runs.
 */
#include "gate/diff_warnings.h"
#include "sheet.h"

#include <check.h>

static struct tp_run_diff warn_of(struct sheet before, struct sheet after, struct tp_arena *arena)
{
	struct tp_run_diff diff = {0};
	before.step_ns = after.step_ns = 1e6;
	const struct tp_run_values *base = sheet_run(&before, "base", arena);
	const struct tp_run_values *now = sheet_run(&after, "now", arena);
	const struct tp_diff_request request = {.base = &base,
						.n_base = 1,
						.now = &now,
						.n_now = 1};
	tp_diff_warn_of_runs(&diff, &request, arena);
	return diff;
}

START_TEST(time_outside_of_usual_steps_that_differs_is_warned_of)
{
	struct tp_arena arena = {0};
	const struct sheet few = {.metrics = ", \"run.outside_ratio\": {\"value\": 0.05}"};
	const struct sheet many = {.metrics = ", \"run.outside_ratio\": {\"value\": 0.86}"};
	struct tp_run_diff diff = warn_of(few, many, &arena);
	ck_assert_uint_eq(diff.n_warnings, 1);
	ck_assert_str_eq(diff.warnings[0],
			 "checkpoints, evaluations and slow steps are not in the step; they take "
			 "5 % of the loop in the base and 86 % in the new run");
	ck_assert_uint_eq(warn_of(many, many, &arena).n_warnings, 0);
	ck_assert_uint_eq(warn_of((struct sheet){0}, many, &arena).n_warnings, 0);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(a_run_that_failed_is_warned_of)
{
	struct tp_arena arena = {0};
	struct tp_run_diff diff =
		warn_of((struct sheet){0}, (struct sheet){.exit_code = 3}, &arena);
	ck_assert_uint_eq(diff.n_warnings, 1);
	ck_assert_str_eq(diff.warnings[0], "now: the program failed with exit status 3");
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_gate_diff_warnings(void);

Suite *suite_gate_diff_warnings(void)
{
	Suite *s = suite_create("gate_diff_warnings");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, time_outside_of_usual_steps_that_differs_is_warned_of);
	tcase_add_test(tc, a_run_that_failed_is_warned_of);
	suite_add_tcase(s, tc);
	return s;
}
