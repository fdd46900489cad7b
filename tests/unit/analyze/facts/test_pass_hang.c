/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of programs that hang. */
#include "analyze/hand.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

/* A thread that waits between two times and is sampled once per second. */
static void put_wait(struct hand *hand, uint32_t task, double from_s, double to_s,
		     enum tp_cause cause)
{
	struct tp_sample sample = {.task = task,
				   .state = TP_STATE_BLOCKED,
				   .cause = cause,
				   .flags = TP_SAMPLE_POLLED,
				   .syscall = -1};
	sample.stack =
		hand_stack(hand, "/bin/train", "wait_for_it", "libc.so.6", "pthread_join", 0);
	for (double s = from_s + 0.5; s < to_s; s++)
		hand_sample(hand, &sample, s);
}

/* Judges all ten seconds. */
static void judge(struct hand *hand)
{
	hand_finish(hand);
	hand->profile.window_start_ns = 0;
	hand->profile.window_end_ns = 10 * SECOND;
	hand_pass(hand, tp_pass_hang);
}

static void open_trainer(struct hand *hand)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/bin/train");
}

START_TEST(a_wait_up_to_the_end_is_a_hang)
{
	struct hand hand;
	open_trainer(&hand);
	hand_run(&hand, 0, 0, 2, TP_RUN_BLOCKED);
	put_wait(&hand, 0, 2, 10, TP_CAUSE_FUTEX);
	judge(&hand);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_HANG), 8e9, 1e6);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_HANG_RATIO), 0.8, 1e-3);
	ck_assert_str_eq(hand.profile.hang_text, "The main thread waits for a lock or a condition "
						 "(futex) in pthread_join().");
	hand_release(&hand);
}
END_TEST

START_TEST(a_short_wait_or_a_sleep_is_none)
{
	static const struct {
		double from_s;
		enum tp_cause cause;
	} waits[] = {{9, TP_CAUSE_FUTEX}, {2, TP_CAUSE_SLEEP}, {2, TP_CAUSE_TERMINAL}};
	for (size_t i = 0; i < TP_ARRAY_LEN(waits); i++) {
		struct hand hand;
		open_trainer(&hand);
		hand_run(&hand, 0, 0, waits[i].from_s, TP_RUN_BLOCKED);
		put_wait(&hand, 0, waits[i].from_s, 10, waits[i].cause);
		judge(&hand);
		ck_assert_double_eq(hand_fact(&hand, TP_FACT_RUN_HANG), 0);
		ck_assert_ptr_null(hand.profile.hang_text);
		hand_release(&hand);
	}
}
END_TEST

START_TEST(waking_up_only_to_wait_again_is_still_a_hang)
{
	struct hand hand;
	open_trainer(&hand);
	hand_run(&hand, 0, 0, 1, TP_RUN_BLOCKED);
	hand_run(&hand, 0, 4, 4.001, TP_RUN_BLOCKED);
	hand_run(&hand, 0, 7, 7.001, TP_RUN_BLOCKED);
	put_wait(&hand, 0, 1, 10, TP_CAUSE_FUTEX);
	judge(&hand);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_RUN_HANG), 9e9, 1e6);
	hand_release(&hand);
}
END_TEST

START_TEST(waiting_for_working_threads_is_no_hang)
{
	struct hand hand;
	open_trainer(&hand);
	hand_task(&hand, 1, 100, 101, NULL);
	hand_run(&hand, 0, 0, 1, TP_RUN_BLOCKED);
	put_wait(&hand, 0, 1, 10, TP_CAUSE_FUTEX);
	hand_run(&hand, 1, 1, 10, TP_RUN_EXITED);
	judge(&hand);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_RUN_HANG), 0);
	hand_release(&hand);
}
END_TEST

START_TEST(with_a_gpu_a_hang_is_unknown)
{
	struct hand hand;
	open_trainer(&hand);
	hand_run(&hand, 0, 0, 2, TP_RUN_BLOCKED);
	put_wait(&hand, 0, 2, 10, TP_CAUSE_FUTEX);
	hand_finish(&hand);
	hand.profile.n_devices = 1;
	hand_pass(&hand, tp_pass_hang);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_RUN_HANG),
			 "a GPU may be at work while all threads wait");
	hand.profile.n_devices = 0;
	hand_release(&hand);
}
END_TEST

START_TEST(without_a_trainer_it_is_unknown)
{
	struct hand hand;
	hand_init(&hand);
	hand_finish(&hand);
	hand.analysis.main_task = TP_NO_TASK;
	hand_pass(&hand, tp_pass_hang);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_RUN_HANG_RATIO), "there is no trainer");
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_hang(void);
Suite *suite_analyze_pass_hang(void)
{
	Suite *suite = suite_create("analyze_pass_hang");
	TCase *tests = tcase_create("waits");
	tcase_add_test(tests, a_wait_up_to_the_end_is_a_hang);
	tcase_add_test(tests, a_short_wait_or_a_sleep_is_none);
	tcase_add_test(tests, waking_up_only_to_wait_again_is_still_a_hang);
	tcase_add_test(tests, waiting_for_working_threads_is_no_hang);
	tcase_add_test(tests, with_a_gpu_a_hang_is_unknown);
	tcase_add_test(tests, without_a_trainer_it_is_unknown);
	suite_add_tcase(suite, tests);
	return suite;
}
