/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of programs next to the target, by name. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

static void put_reading(struct hand *hand, const char *name, double at_s, double cpu_s)
{
	const struct tp_mark mark = {.task = TP_NO_TASK,
				     .kind = TP_MARK_OTHER,
				     .name = tp_sink_string(&hand->builder.sink, name),
				     .time_ns = (uint64_t)(at_s * 1e9),
				     .value = (uint64_t)(cpu_s * 1e9)};
	tp_sink_mark(&hand->builder.sink, &mark);
}

/* Judges ten seconds from `start_s` on. */
static void judge(struct hand *hand, double start_s, bool has_figure)
{
	hand_finish(hand);
	hand->profile.window_start_ns = (uint64_t)(start_s * 1e9);
	hand->profile.window_end_ns = (uint64_t)((start_s + 10) * 1e9);
	if (has_figure)
		tp_profile_set(&hand->profile, TP_FACT_CPU_OTHERS, 1.4, TP_ORIGIN_MEASURED, 1);
	hand_pass(hand, tp_pass_other_programs);
}

START_TEST(each_program_has_its_cpus_in_the_window)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	put_reading(&hand, "902 cc1", 4, 0);
	put_reading(&hand, "902 cc1", 14, 4);
	put_reading(&hand, "811 my prog", 0, 100);
	put_reading(&hand, "811 my prog", 20, 120);
	put_reading(&hand, "7 idle", 0, 1);
	put_reading(&hand, "7 idle", 20, 1.05);
	judge(&hand, 4, true);
	ck_assert_uint_eq(hand.profile.n_others, 2);
	ck_assert_int_eq(hand.profile.others[0].pid, 811);
	ck_assert_str_eq(hand.profile.others[0].comm, "my prog");
	ck_assert_double_eq_tol(hand.profile.others[0].cpus, 1, 1e-9);
	ck_assert_str_eq(hand.profile.others[1].comm, "cc1");
	ck_assert_double_eq_tol(hand.profile.others[1].cpus, 0.4, 1e-9);
	hand_release(&hand);
}
END_TEST

START_TEST(processes_of_the_program_are_no_other_programs)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	put_reading(&hand, "100 train", 0, 0);
	put_reading(&hand, "100 train", 10, 4);
	put_reading(&hand, "811 python3", 0, 0);
	put_reading(&hand, "811 python3", 10, 3);
	judge(&hand, 0, true);
	ck_assert_uint_eq(hand.profile.n_others, 1);
	ck_assert_int_eq(hand.profile.others[0].pid, 811);
	hand_release(&hand);
}
END_TEST

START_TEST(without_the_total_no_program_is_named)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	put_reading(&hand, "811 python3", 0, 100);
	put_reading(&hand, "811 python3", 20, 120);
	judge(&hand, 0, false);
	ck_assert_uint_eq(hand.profile.n_others, 0);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_other_programs(void);
Suite *suite_analyze_pass_other_programs(void)
{
	Suite *suite = suite_create("analyze_pass_other_programs");
	TCase *tc = tcase_create("other_programs");
	tcase_add_test(tc, each_program_has_its_cpus_in_the_window);
	tcase_add_test(tc, processes_of_the_program_are_no_other_programs);
	tcase_add_test(tc, without_the_total_no_program_is_named);
	suite_add_tcase(suite, tc);
	return suite;
}
