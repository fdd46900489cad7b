/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which threads count as loader workers. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

/* In seconds 2 to 8: on a CPU for a share of each tenth of a second, otherwise waiting. */
static void work(struct hand *hand, uint32_t task, double share, uint32_t stack)
{
	for (double at = 2; at < 8; at += 0.1) {
		hand_run(hand, task, at, at + 0.1 * share, TP_RUN_BLOCKED);
		hand_sample(hand,
			    &(struct tp_sample){.task = task,
						.state = TP_STATE_ON_CPU,
						.stack = stack,
						.syscall = -1},
			    at + 0.05 * share);
	}
}

static void judge(struct hand *hand)
{
	hand_finish(hand);
	for (size_t i = 0; i < hand->trace.n_tasks; i++) {
		hand->analysis.threads[i].role = i ? TP_THREAD_LOADER : TP_THREAD_MAIN;
		hand->analysis.roles[i] = TP_ROLE_LOADER;
	}
	hand->analysis.roles[0] = TP_ROLE_TRAINER;
	hand->profile.total_ns = 6 * SECOND;
	hand_pass(hand, tp_pass_loader);
}

START_TEST(helper_threads_of_a_worker_process_are_no_workers)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/usr/bin/python3");
	hand_task(&hand, 1, 200, 200, "/usr/bin/python3");
	hand_task(&hand, 2, 200, 201, "/usr/bin/python3"); /* sends batches */
	hand_task(&hand, 3, 300, 300, "/usr/bin/python3");
	hand_task(&hand, 4, 300, 301, "/usr/bin/python3");
	uint32_t stack = hand_stack(&hand, "/usr/bin/python3", "run", "libjpeg.so", "decode", 0);
	for (uint32_t task = 1; task <= 4; task++)
		work(&hand, task, task % 2 ? 0.8 : 0.1, stack);
	judge(&hand);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_LOADER_WORKERS), 2, 0.05);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_PROCESSES), 2);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_LOADER_BUSY), 0.8, 0.02);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_LOADER_IMBALANCE), 0, 0.02);
	hand_release(&hand);
}
END_TEST

START_TEST(threads_that_decode_for_a_worker_process_are_workers)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_task(&hand, 1, 200, 200, "/home/me/load"); /* waits for its threads */
	hand_task(&hand, 2, 200, 201, "/home/me/load");
	hand_task(&hand, 3, 200, 202, "/home/me/load");
	uint32_t stack = hand_stack(&hand, "/home/me/load", "run", "libjpeg.so", "decode", 0);
	work(&hand, 1, 0.02, stack);
	work(&hand, 2, 0.9, stack);
	work(&hand, 3, 0.45, stack);
	judge(&hand);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_LOADER_WORKERS), 2, 0.05);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_PROCESSES), 1);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_LOADER_IMBALANCE), 0.9 / 0.675 - 1, 0.02);
	hand_release(&hand);
}
END_TEST

START_TEST(workers_that_share_unevenly_are_all_workers)
{
	struct hand hand;
	hand_init(&hand);
	for (uint32_t task = 0; task <= 3; task++)
		hand_task(&hand, task, task < 3 ? 100 : 200, 100 + (int)task, "/home/me/train");
	hand_task(&hand, 4, 100, 104, "/home/me/train");
	uint32_t stack = hand_stack(&hand, "/home/me/train", "run", "libjpeg.so", "decode", 0);
	work(&hand, 1, 0.9, stack); /* threads of the trainer */
	work(&hand, 2, 0.1, stack);
	work(&hand, 4, 0.02, stack); /* distributes the work */
	judge(&hand);
	/* and an idle worker process */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_LOADER_WORKERS), 3, 0.05);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_LOADER_PROCESSES), 1);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_loader(void);
Suite *suite_analyze_pass_loader(void)
{
	Suite *suite = suite_create("analyze/pass_loader");
	TCase *tc = tcase_create("workers");
	tcase_add_test(tc, helper_threads_of_a_worker_process_are_no_workers);
	tcase_add_test(tc, threads_that_decode_for_a_worker_process_are_workers);
	tcase_add_test(tc, workers_that_share_unevenly_are_all_workers);
	suite_add_tcase(suite, tc);
	return suite;
}
