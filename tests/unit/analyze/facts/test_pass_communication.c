/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of communication with peers and waiting for them. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

START_TEST(spinning_is_distinguished_from_blocking_and_copying)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_task(&hand, 1, 101, 101, "/home/me/train");
	/* By second: a progress loop, sched_yield, memcpy, blocked. */
	uint32_t stacks[] = {
		hand_stack(&hand, "/lib/libmpi.so.40", "MPI_Allreduce", "/lib/mca_btl_vader.so",
			   "poll_handle", 0),
		hand_stack(&hand, "/lib/libmpi.so.40", "MPI_Allreduce", "/lib/libc.so.6",
			   "sched_yield", 0),
		hand_stack(&hand, "/lib/libmpi.so.40", "MPI_Allreduce", "/lib/libc.so.6",
			   "__memcpy_avx", 0),
	};
	for (int s = 0; s < 10; s++) {
		if (s % 4 == 3)
			continue;
		struct tp_sample sample = {.state = TP_STATE_ON_CPU, .stack = stacks[s % 4]};
		hand_run(&hand, 0, s, s + 1, TP_RUN_BLOCKED);
		hand_sample(&hand, &sample, s + 0.5);
	}
	hand_finish(&hand);
	hand.analysis.roles[0] = TP_ROLE_TRAINER;
	hand.analysis.roles[1] = TP_ROLE_TRAINER;
	for (size_t i = 0; i < hand.analysis.timelines[0].n; i++)
		hand.analysis.timelines[0].segments[i].label = TP_LABEL_COMMUNICATION_WAIT;
	hand_pass(&hand, tp_pass_communication);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_COMM_PEERS), 2);
	/* Seconds 2 to 8: copy, blocked, loop, yield, copy, blocked. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMM_BUSY_WAIT), 2.0 / 6, 1e-6);
	hand_release(&hand);
}
END_TEST

START_TEST(no_communication_is_no_ratio)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_finish(&hand);
	hand.analysis.roles[0] = TP_ROLE_TRAINER;
	for (size_t i = 0; i < hand.analysis.timelines[0].n; i++)
		hand.analysis.timelines[0].segments[i].label = TP_LABEL_IDLE_UNKNOWN;
	hand_pass(&hand, tp_pass_communication);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_COMM_PEERS), 1);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_COMM_BUSY_WAIT), "no communication was seen");
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_communication(void);
Suite *suite_analyze_pass_communication(void)
{
	Suite *suite = suite_create("analyze/pass_communication");
	TCase *tc = tcase_create("communication");
	tcase_add_test(tc, spinning_is_distinguished_from_blocking_and_copying);
	tcase_add_test(tc, no_communication_is_no_ratio);
	suite_add_tcase(suite, tc);
	return suite;
}
