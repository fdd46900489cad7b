/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the comparability of runs. */
#include "gate/comparable.h"
#include "sheet.h"

#include <check.h>

struct pair {
	struct tp_arena arena;
	const struct tp_run_values *base;
	const struct tp_run_values *now;
	struct tp_run_diff diff;
};

static void check_pair(struct pair *pair, const struct sheet *now, bool is_ignored)
{
	*pair = (struct pair){0};
	pair->base = sheet_run(&(struct sheet){.step_ns = 1e7}, "a", &pair->arena);
	pair->now = sheet_run(now, "b", &pair->arena);
	struct tp_diff_request request = {.base = &pair->base,
					  .n_base = 1,
					  .now = &pair->now,
					  .n_now = 1};
	request.is_ignored[TP_LIKE_MACHINE] = is_ignored;
	tp_comparable_check(&pair->diff, &request, &pair->arena);
}

START_TEST(a_run_is_comparable_with_itself)
{
	struct pair pair;
	check_pair(&pair, &(struct sheet){.step_ns = 2e7}, false);
	ck_assert(pair.diff.is_comparable);
	ck_assert_uint_eq(pair.diff.n_unlike, 0);
	tp_arena_release(&pair.arena);
}
END_TEST

START_TEST(the_directory_of_a_program_does_not_matter)
{
	struct pair pair;
	check_pair(&pair, &(struct sheet){.step_ns = 1e7, .command = "/new/tree/train"}, false);
	ck_assert(pair.diff.is_comparable);
	tp_arena_release(&pair.arena);
}
END_TEST

START_TEST(another_machine_is_incomparable_unless_ignored)
{
	struct pair pair;
	const struct sheet now = {.step_ns = 1e7, .cpu = "Slow CPU"};
	check_pair(&pair, &now, false);
	ck_assert(!pair.diff.is_comparable);
	ck_assert_uint_eq(pair.diff.n_unlike, 1);
	ck_assert_str_eq(pair.diff.unlike[0].now, "Slow CPU");
	tp_arena_release(&pair.arena);
	check_pair(&pair, &now, true);
	ck_assert(pair.diff.is_comparable);
	ck_assert(pair.diff.unlike[0].is_ignored);
	tp_arena_release(&pair.arena);
}
END_TEST

START_TEST(another_command_is_another_workload)
{
	struct pair pair;
	check_pair(&pair, &(struct sheet){.step_ns = 1e7, .command = "./other"}, true);
	ck_assert(!pair.diff.is_comparable);
	ck_assert_int_eq(pair.diff.unlike[0].aspect, TP_LIKE_WORKLOAD);
	tp_arena_release(&pair.arena);
}
END_TEST

Suite *suite_gate_comparable(void);

Suite *suite_gate_comparable(void)
{
	Suite *s = suite_create("gate_comparable");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, a_run_is_comparable_with_itself);
	tcase_add_test(tc, the_directory_of_a_program_does_not_matter);
	tcase_add_test(tc, another_machine_is_incomparable_unless_ignored);
	tcase_add_test(tc, another_command_is_another_workload);
	suite_add_tcase(s, tc);
	return s;
}
