/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of threads that end the main thread's waits. */
#include "analyze/hand.h"

#include "analyze/roles/data_waker.h"

static uint32_t wait_stack(struct hand *hand, const char *waits_in)
{
	uint32_t frames[] = {hand_frame(hand, "/usr/lib/libc.so.6", "futex_wait"),
			     hand_frame(hand, "/home/me/train", waits_in),
			     hand_frame(hand, "/usr/lib/libc.so.6", "start_thread")};
	return tp_sink_stack(&hand->builder.sink, frames, 3, 0);
}

/* The main thread works 30 of 100 ms and waits for the rest, until the other thread, which sleeps,
 * has run for 2 ms. Each row has the cause of the wait, and after how many rounds the other thread
 * ends one. */
static const struct {
	const char *claim;
	const char *waits_in;
	int every;
	bool is_waker;
} sleepers[] = {
	{"ends the waits for data", "load_batch", 1, true},
	{"ends other waits", "epoch", 1, false},
	{"ends a third of the waits for data", "load_batch", 3, false},
};

START_TEST(who_ends_waits_for_data_and_sleeps_else_is_a_waker)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_task(&hand, 1, 100, 101, "/home/me/train");
	struct tp_sample wait = {.state = TP_STATE_BLOCKED,
				 .cause = TP_CAUSE_FUTEX,
				 .stack = wait_stack(&hand, sleepers[_i].waits_in),
				 .syscall = -1};
	for (int i = 0; i < 90; i++) {
		double at = 0.1 * i;
		hand_run(&hand, 0, at, at + 0.03, TP_RUN_BLOCKED);
		hand_sample(&hand, &wait, at + 0.06);
		double end = i % sleepers[_i].every ? at + 0.05 : at + 0.09995;
		hand_run(&hand, 1, end - 0.002, end, TP_RUN_BLOCKED);
	}
	hand_finish(&hand);
	ck_assert_msg(tp_data_waker_is(&hand.analysis, 1) == sleepers[_i].is_waker, "%s",
		      sleepers[_i].claim);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_data_waker(void);
Suite *suite_analyze_data_waker(void)
{
	Suite *suite = suite_create("analyze_data_waker");
	TCase *tc = tcase_create("data_waker");
	tcase_add_loop_test(tc, who_ends_waits_for_data_and_sleeps_else_is_a_waker, 0,
			    sizeof(sleepers) / sizeof(sleepers[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
