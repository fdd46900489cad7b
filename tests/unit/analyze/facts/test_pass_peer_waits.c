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

static uint32_t python_frame(struct hand *hand, const char *file, const char *symbol, uint32_t line)
{
	struct tp_sink *sink = &hand->builder.sink;
	struct tp_frame frame = {.kind = TP_FRAME_PYTHON,
				 .symbol = tp_sink_string(sink, symbol),
				 .file = tp_sink_string(sink, file),
				 .line = line};
	frame.function_start = (uint64_t)line << 32;
	frame.address = frame.function_start;
	return tp_sink_frame(sink, &frame);
}

/* Python before 3.11 names a generator expression without the function around it. */
START_TEST(code_without_a_name_belongs_to_its_caller_in_the_same_file)
{
	static const char *const files[] = {"/home/me/train.py", "/home/me/other.py"};
	static const char *const expected[] = {"prepare", "<genexpr>"};
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/python3");
	uint32_t frames[] = {python_frame(&hand, "/home/me/train.py", "<genexpr>", 5),
			     python_frame(&hand, files[_i], "prepare", 4)};
	const struct tp_sample sample = {.stack = tp_sink_stack(&hand.builder.sink, frames, 2, 0),
					 .syscall = -1};
	hand_sample(&hand, &sample, 0.5);
	hand_finish(&hand);
	pieces[0] = (struct tp_segment){.end_ns = SECOND, .label = TP_LABEL_DATALOADER_PREP};
	steps[0] = (struct tp_step){.end_ns = SECOND, .kind = TP_STEP_STEADY};
	hand.analysis.timelines[0] = (struct tp_timeline){.segments = pieces, .n = 1};
	hand.profile.steps = steps;
	hand.profile.n_steps = 1;
	hand.profile.is_of_steps = true;
	hand_pass(&hand, tp_pass_peer_waits);
	ck_assert_uint_eq(hand.profile.n_places, 1);
	ck_assert_str_eq(tp_trace_string(&hand.trace, hand.profile.places[0].symbol), expected[_i]);
	hand_release(&hand);
}
END_TEST

enum { EXACT_STEPS = 40, PER_STEP = 3 };

static uint64_t sum_labels(const struct tp_profile *profile, bool of_peers)
{
	uint64_t sum = 0;
	for (int i = 0; i < TP_N_LABELS; i++)
		if ((tp_label_part((enum tp_label)i) == TP_PART_COMMUNICATION) == of_peers)
			sum += profile->beside_peers_ns[i];
	return sum;
}

/* In each step of a second: work until 0.5 s, 0.1 s without a CPU, an exchange. Samples show that
 * exchanges begin earlier, about halfway between 0.2 and 0.6 s. */
START_TEST(places_labels_and_waits_sum_to_steps_whose_exchanges_were_estimated)
{
	static struct tp_segment segments[EXACT_STEPS * PER_STEP];
	static struct tp_step exact[EXACT_STEPS];
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/python3");
	uint32_t work = python_frame(&hand, "/home/me/train.py", "work", 5);
	const struct tp_sample sample = {.stack = tp_sink_stack(&hand.builder.sink, &work, 1, 0),
					 .syscall = -1};
	for (size_t k = 0; k < EXACT_STEPS; k++) {
		double drift = (double)(k * 7 % EXACT_STEPS) / EXACT_STEPS;
		struct tp_segment *at = &segments[k * PER_STEP];
		uint64_t start_ns = k * SECOND;
		hand_sample(&hand, &sample, (double)k + 0.01 + 0.19 * drift);
		hand_sample(&hand, &sample, (double)k + 0.61 + 0.38 * drift);
		exact[k] = (struct tp_step){.start_ns = start_ns,
					    .end_ns = start_ns + SECOND,
					    .kind = TP_STEP_STEADY};
		for (size_t i = 0; i < PER_STEP; i++)
			at[i].sample = (uint32_t)(2 * k + (i == 2));
		at[0].label = TP_LABEL_COMPUTE_MATH;
		at[1].label = TP_LABEL_IDLE_RUNNABLE;
		at[2].label = TP_LABEL_COMMUNICATION_WAIT;
		at[1].state = TP_STATE_RUNNABLE;
		at[0].start_ns = start_ns;
		at[0].end_ns = at[1].start_ns = start_ns + SECOND / 2;
		at[1].end_ns = at[2].start_ns = start_ns + SECOND * 6 / 10;
		at[2].end_ns = start_ns + SECOND;
	}
	hand_finish(&hand);
	hand.analysis.timelines[0] =
		(struct tp_timeline){.segments = segments, .n = EXACT_STEPS * PER_STEP};
	hand.profile.steps = exact;
	hand.profile.n_steps = EXACT_STEPS;
	hand.profile.is_of_steps = true;
	hand.profile.steps_found_by = TP_STEPS_MARKER;
	hand_pass(&hand, tp_pass_peer_waits);
	const struct tp_profile *profile = &hand.profile;
	const struct tp_place_result *place = profile->places;
	double peer_ns = 0;
	for (size_t k = 0; k < EXACT_STEPS; k++)
		peer_ns += (double)exact[k].peer_ns;
	ck_assert_double_gt(peer_ns, 0.5 * EXACT_STEPS * SECOND); /* not 0.45 of each */
	ck_assert_double_eq_tol((double)sum_labels(profile, true), peer_ns, 100);
	ck_assert_double_eq_tol((double)sum_labels(profile, false) + peer_ns,
				(double)EXACT_STEPS * SECOND, 100);
	ck_assert_uint_eq(profile->n_places, 1);
	ck_assert_double_eq_tol((double)place->time_ns, (double)sum_labels(profile, false), 100);
	ck_assert_double_eq_tol((double)place->queue_ns,
				(double)profile->beside_peers_ns[TP_LABEL_IDLE_RUNNABLE], 100);
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
	tcase_add_loop_test(tc, code_without_a_name_belongs_to_its_caller_in_the_same_file, 0, 2);
	tcase_add_test(tc, places_labels_and_waits_sum_to_steps_whose_exchanges_were_estimated);
	suite_add_tcase(suite, tc);
	return suite;
}
