/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the stages of trainprof's own CPU time. */
#include "collect/machine/stage_clock.h"

#include "trainprof/base/clock.h"

#include <check.h>
#include <stddef.h>

static struct tp_stage_clock stages;

static void begin(void)
{
	stages = (struct tp_stage_clock){0};
}

START_TEST(each_stage_has_its_own_time)
{
	begin();
	tp_stage_enter_at(&stages, TP_STAGE_RINGS, 1000);
	ck_assert_int_eq(tp_stage_enter_at(&stages, TP_STAGE_PYTHON, 1300), TP_STAGE_RINGS);
	tp_stage_enter_at(&stages, TP_STAGE_RINGS, 1800);
	tp_stage_enter_at(&stages, TP_STAGE_NONE, 1900);
	tp_stage_update(&stages, 5000);
	ck_assert_double_eq(stages.cpu_ns[TP_STAGE_RINGS], 400);
	ck_assert_double_eq(stages.cpu_ns[TP_STAGE_PYTHON], 500);
	ck_assert_double_eq(stages.cpu_ns[TP_STAGE_UNWIND], 0);
}
END_TEST

START_TEST(the_wait_between_turns_is_of_no_stage)
{
	begin();
	tp_stage_enter_at(&stages, TP_STAGE_STORE, 100);
	tp_stage_enter_at(&stages, TP_STAGE_NONE, 200);
	tp_stage_update(&stages, 150);
	tp_stage_enter_at(&stages, TP_STAGE_STORE, 90000);
	tp_stage_enter_at(&stages, TP_STAGE_NONE, 90050);
	tp_stage_update(&stages, 300);
	ck_assert_double_eq(stages.cpu_ns[TP_STAGE_STORE], 150);
	ck_assert_double_eq(stages.cpu_ns[TP_STAGE_NONE], 0);
}
END_TEST

/* Another program got the CPU in the middle. */
START_TEST(stages_never_sum_up_to_more_than_the_kernel_says)
{
	begin();
	tp_stage_update(&stages, 1000);
	tp_stage_enter_at(&stages, TP_STAGE_PROC, 0);
	tp_stage_enter_at(&stages, TP_STAGE_OFFCPU, 300);
	tp_stage_enter_at(&stages, TP_STAGE_NONE, 1200);
	tp_stage_update(&stages, 1400);
	ck_assert_double_eq_tol(stages.cpu_ns[TP_STAGE_PROC], 100, 1e-9);
	ck_assert_double_eq_tol(stages.cpu_ns[TP_STAGE_OFFCPU], 300, 1e-9);
}
END_TEST

/* A system call per round would take more than the loop itself. */
START_TEST(cpu_time_is_read_after_four_rounds_or_a_long_one)
{
	begin();
	for (uint64_t i = 1; i <= 4; i++) {
		tp_stage_enter_at(&stages, TP_STAGE_RINGS, i * 1000);
		tp_stage_enter_at(&stages, TP_STAGE_NONE, i * 1000 + 100);
		ck_assert_int_eq(tp_stage_end_round(&stages), i == 4);
	}
	tp_stage_update(&stages, 200);
	ck_assert_double_eq_tol(stages.cpu_ns[TP_STAGE_RINGS], 200, 1e-9);
	tp_stage_enter_at(&stages, TP_STAGE_RINGS, 0);
	tp_stage_enter_at(&stages, TP_STAGE_NONE, TP_NS_PER_MS);
	ck_assert(tp_stage_end_round(&stages));
}
END_TEST

/* In an earlier round another program had the CPU while a stage ran. */
START_TEST(the_time_of_earlier_rounds_does_not_count_as_used_before)
{
	begin();
	uint64_t began_ns = tp_clock_now_ns();
	uint64_t cpu_ns = tp_clock_thread_cpu_ns();
	tp_stage_update(&stages, cpu_ns);
	tp_stage_enter_at(&stages, TP_STAGE_RINGS, 0);
	tp_stage_enter_at(&stages, TP_STAGE_NONE, TP_NS_PER_S);
	tp_stage_end_round(&stages);
	while (tp_clock_thread_cpu_ns() - cpu_ns < 2 * TP_NS_PER_MS)
		;
	ck_assert_uint_ge(tp_stage_used_ns(&stages, began_ns), 2 * TP_NS_PER_MS);
}
END_TEST

START_TEST(without_a_clock_nothing_is_kept)
{
	ck_assert_int_eq(tp_stage_enter(NULL, TP_STAGE_PYTHON), TP_STAGE_NONE);
	ck_assert_uint_ge(tp_stage_used_ns(NULL, tp_clock_now_ns() - TP_NS_PER_S), TP_NS_PER_S);
}
END_TEST

/* A second has passed since, but this thread has used none of it. */
START_TEST(of_a_long_time_only_the_own_part_is_used)
{
	begin();
	tp_stage_update(&stages, tp_clock_thread_cpu_ns());
	ck_assert_uint_lt(tp_stage_used_ns(&stages, tp_clock_now_ns() - TP_NS_PER_S),
			  TP_NS_PER_S / 2);
}
END_TEST

Suite *suite_collect_stage_clock(void);
Suite *suite_collect_stage_clock(void)
{
	Suite *suite = suite_create("collect/stage_clock");
	TCase *tc = tcase_create("stage_clock");
	tcase_add_test(tc, each_stage_has_its_own_time);
	tcase_add_test(tc, the_wait_between_turns_is_of_no_stage);
	tcase_add_test(tc, stages_never_sum_up_to_more_than_the_kernel_says);
	tcase_add_test(tc, cpu_time_is_read_after_four_rounds_or_a_long_one);
	tcase_add_test(tc, the_time_of_earlier_rounds_does_not_count_as_used_before);
	tcase_add_test(tc, without_a_clock_nothing_is_kept);
	tcase_add_test(tc, of_a_long_time_only_the_own_part_is_used);
	suite_add_tcase(suite, tc);
	return suite;
}
