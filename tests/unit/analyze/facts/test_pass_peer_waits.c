/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the time in exchanges with other ranks, and of what a rank does besides. */
#include "analyze/hand.h"

static struct tp_segment pieces[8];
static struct tp_step steps[1];

/* Judges a main thread with one label per second. */
static void judge(struct hand *hand, const enum tp_label *labels, size_t n)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/bin/train");
	hand_finish(hand);
	for (size_t i = 0; i < n; i++)
		pieces[i] = (struct tp_segment){.start_ns = i * SECOND,
						.end_ns = (i + 1) * SECOND,
						.sample = TP_NO_SAMPLE,
						.label = labels[i]};
	steps[0] = (struct tp_step){.end_ns = n * SECOND, .kind = TP_STEP_STEADY};
	hand->analysis.timelines[0] = (struct tp_timeline){.segments = pieces, .n = n};
	hand->profile.steps = steps;
	hand->profile.n_steps = 1;
	hand->profile.is_of_steps = true;
	hand_pass(hand, tp_pass_peer_waits);
}

START_TEST(a_wait_for_a_cpu_within_an_exchange_belongs_to_it)
{
	static const enum tp_label labels[] = {TP_LABEL_COMPUTE_MATH, TP_LABEL_COMMUNICATION_WAIT,
					       TP_LABEL_IDLE_RUNNABLE, TP_LABEL_IDLE_RUNNABLE,
					       TP_LABEL_COMMUNICATION_TRANSFER};
	struct hand hand;
	judge(&hand, labels, 5);
	ck_assert_uint_eq(steps[0].peer_ns, 4 * SECOND);
	ck_assert_uint_eq(hand.profile.beside_peers_ns[TP_LABEL_IDLE_RUNNABLE], 0);
	ck_assert_uint_eq(hand.profile.beside_peers_ns[TP_LABEL_COMMUNICATION_WAIT], 3 * SECOND);
	ck_assert_uint_eq(hand.profile.peer_tail_ns, 4 * SECOND);
	hand_release(&hand);
}
END_TEST

START_TEST(at_its_border_half_of_it_does_and_in_the_work_nothing)
{
	static const enum tp_label labels[] = {TP_LABEL_COMPUTE_MATH,       TP_LABEL_IDLE_RUNNABLE,
					       TP_LABEL_COMPUTE_MATH,       TP_LABEL_IDLE_RUNNABLE,
					       TP_LABEL_COMMUNICATION_WAIT, TP_LABEL_COMPUTE_MATH};
	struct hand hand;
	judge(&hand, labels, 6);
	ck_assert_uint_eq(steps[0].peer_ns, SECOND + SECOND / 2);
	ck_assert_uint_eq(hand.profile.beside_peers_ns[TP_LABEL_IDLE_RUNNABLE],
			  SECOND + SECOND / 2);
	ck_assert_uint_eq(hand.profile.peer_tail_ns, 0);
	hand_release(&hand);
}
END_TEST

START_TEST(time_outside_exchanges_sums_to_the_step)
{
	static const enum tp_label labels[] = {TP_LABEL_IDLE_RUNNABLE, TP_LABEL_COMMUNICATION_WAIT,
					       TP_LABEL_HOST_OTHER, TP_LABEL_DATALOADER_PREP};
	struct hand hand;
	uint64_t sum = 0;
	judge(&hand, labels, 4);
	for (int i = 0; i < TP_N_LABELS; i++)
		sum += hand.profile.beside_peers_ns[i];
	ck_assert_uint_eq(sum, 4 * SECOND);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_peer_waits(void);

Suite *suite_analyze_pass_peer_waits(void)
{
	Suite *suite = suite_create("analyze_pass_peer_waits");
	TCase *tc = tcase_create("exchanges");
	tcase_add_test(tc, a_wait_for_a_cpu_within_an_exchange_belongs_to_it);
	tcase_add_test(tc, at_its_border_half_of_it_does_and_in_the_work_nothing);
	tcase_add_test(tc, time_outside_exchanges_sums_to_the_step);
	suite_add_tcase(suite, tc);
	return suite;
}
