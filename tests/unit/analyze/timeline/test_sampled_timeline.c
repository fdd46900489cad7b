/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of timelines built from samples only. */
#include "analyze/timeline/sampled_timeline.h"

#include "analyze/hand.h"

#include <stdlib.h>

enum { N_STEPS = 250 };

#define STEP_S    0.04
#define COMPUTE_S 0.005

/* Ten seconds of steps of 40 ms: 5 ms of math, then reads, each with a wait, half of it on a CPU.
 * The timer hits math only, every 10 ms of it; nine in ten of the polls during reading find it
 * running. */
struct scene {
	struct hand hand;
	struct tp_segments pieces;
	bool is_bare; /* polls have no stacks */
	uint32_t math;
	uint32_t reads;
};

static void add_sample(struct scene *scene, double at_s, enum tp_state state, uint32_t flags,
		       uint32_t stack)
{
	struct tp_sample sample = {.state = state,
				   .flags = flags,
				   .stack = stack,
				   .syscall = -1,
				   .cause = state == TP_STATE_BLOCKED ? TP_CAUSE_FILE
								      : TP_CAUSE_NONE};
	hand_sample(&scene->hand, &sample, at_s);
}

static void put_step(struct scene *scene, int step)
{
	double begin_s = step * STEP_S;
	/* Samples anywhere in the computing part of every second step, and polls anywhere in both
	 * halves. */
	double part = (step * 37 % 100) / 100.0;
	if (step % 2)
		add_sample(scene, begin_s + COMPUTE_S * part, TP_STATE_ON_CPU, 0, scene->math);
	for (int half = 0; half < 2; half++) {
		double at_s = (half + part) * STEP_S / 2;
		bool is_waiting = at_s >= COMPUTE_S && (2 * step + half) % 10 == 0;
		add_sample(scene, begin_s + at_s + 1e-6,
			   is_waiting ? TP_STATE_BLOCKED : TP_STATE_ON_CPU, TP_SAMPLE_POLLED,
			   is_waiting && !scene->is_bare ? scene->reads : 0);
	}
}

static void begin(struct scene *scene)
{
	*scene = (struct scene){0};
	struct hand *hand = &scene->hand;
	hand_init(hand);
	hand->run.sample_rate_hz = hand->run.asked_rate_hz = 100;
	hand_task(hand, 0, 100, 100, "/bin/train");
	scene->math = hand_stack(hand, "train", "main", "train", "forward", 0);
	scene->reads = hand_stack(hand, "train", "main", "libc.so.6", "read", 0);
}

static void add_accounting(struct scene *scene, double delay_s)
{
	double reading = 1 - COMPUTE_S / STEP_S;
	hand_counter(&scene->hand, TP_METRIC_TASK_RUN, 0, 1e9 * (1 - reading / 2));
	hand_counter(&scene->hand, TP_METRIC_TASK_DELAY, 0, 1e9 * delay_s);
}

/* The thread waits for a CPU for `delay_s` of each second. */
static void lay(struct scene *scene, bool has_books, double kept_hz, double delay_s)
{
	begin(scene);
	struct hand *hand = &scene->hand;
	hand->run.asked_rate_hz = 100 * 100 / kept_hz;
	for (int step = 0; step < N_STEPS; step++)
		put_step(scene, step);
	if (has_books)
		add_accounting(scene, delay_s);
	tp_trace_build(&hand->trace, &hand->builder, &hand->run);
	size_t end = tp_sampled_timeline_add(&scene->pieces, &hand->trace, 0, 0, 0, 10 * SECOND);
	ck_assert_uint_eq(end, hand->trace.n_samples);
}

static void release(struct scene *scene)
{
	free(scene->pieces.items);
	tp_trace_release(&scene->hand.trace);
	tp_trace_builder_release(&scene->hand.builder);
}

static double seconds(const struct scene *scene, enum tp_state state, uint32_t stack)
{
	double sum_s = 0;
	for (size_t i = 0; i < scene->pieces.n; i++) {
		const struct tp_segment *piece = &scene->pieces.items[i];
		bool is_of = stack == UINT32_MAX ||
			     (piece->sample != TP_NO_SAMPLE &&
			      scene->hand.trace.samples[piece->sample].stack == stack);
		if (piece->state == state && is_of)
			sum_s += 1e-9 * (double)(piece->end_ns - piece->start_ns);
	}
	return sum_s;
}

static void claim_whole(const struct scene *scene)
{
	uint64_t at_ns = 0;
	for (size_t i = 0; i < scene->pieces.n; i++) {
		const struct tp_segment *piece = &scene->pieces.items[i];
		ck_assert_uint_eq(piece->start_ns, at_ns);
		ck_assert_uint_gt(piece->end_ns, at_ns);
		ck_assert(piece->is_sampled);
		at_ns = piece->end_ns;
	}
	ck_assert_uint_eq(at_ns, 10 * SECOND);
}

START_TEST(cpu_time_without_samples_is_that_of_short_stays)
{
	struct scene scene;
	lay(&scene, true, 100, 0.02);
	claim_whole(&scene);
	ck_assert_double_eq_tol(seconds(&scene, TP_STATE_ON_CPU, scene.math), 1.25, 0.01);
	ck_assert_double_eq_tol(seconds(&scene, TP_STATE_ON_CPU, UINT32_MAX), 5.625, 0.01);
	ck_assert_double_eq_tol(seconds(&scene, TP_STATE_ON_CPU, scene.reads), 4.375, 0.02);
	ck_assert_double_eq_tol(seconds(&scene, TP_STATE_RUNNABLE, UINT32_MAX), 0.2, 0.01);
	ck_assert_double_eq_tol(seconds(&scene, TP_STATE_BLOCKED, scene.reads), 4.175, 0.02);
	release(&scene);
}
END_TEST

START_TEST(more_than_looks_found_is_taken_from_waits)
{
	struct scene scene;
	lay(&scene, true, 100, 0.4375);
	claim_whole(&scene);
	ck_assert_double_eq_tol(seconds(&scene, TP_STATE_ON_CPU, scene.math), 1.25, 0.01);
	ck_assert_double_eq_tol(seconds(&scene, TP_STATE_RUNNABLE, UINT32_MAX), 4.375, 0.02);
	ck_assert_double_lt(seconds(&scene, TP_STATE_BLOCKED, UINT32_MAX), 0.02);
	release(&scene);
}
END_TEST

/* Nine in ten of the polls during reading are on a CPU, and so are those during math. */
static void claim_instants(const struct scene *scene)
{
	double waits_s = seconds(scene, TP_STATE_BLOCKED, UINT32_MAX);
	claim_whole(scene);
	ck_assert_double_gt(waits_s, 0.5);
	ck_assert_double_lt(waits_s, 1.2);
	ck_assert_double_eq_tol(seconds(scene, TP_STATE_ON_CPU, scene->math), 10 - waits_s, 1e-6);
}

START_TEST(without_books_each_look_is_believed)
{
	struct scene scene;
	lay(&scene, false, 100, 0);
	claim_instants(&scene);
	release(&scene);
}
END_TEST

/* In that case the time that a sample represents is not known. */
START_TEST(at_a_lowered_rate_each_poll_counts)
{
	struct scene scene;
	lay(&scene, true, 90, 0);
	claim_instants(&scene);
	release(&scene);
}
END_TEST

/* Computes in one run, reads in runs of 50 us, of which the timer hits few. */
static void add_runs(struct scene *scene, int step)
{
	double at_s = step * STEP_S;
	hand_run(&scene->hand, 0, at_s, at_s + COMPUTE_S, TP_RUN_BLOCKED);
	for (int i = 0; i < 350; i++) {
		at_s = step * STEP_S + COMPUTE_S + i * 1e-4;
		if (i == 100 && step % 4 == 0)
			add_sample(scene, at_s + 7e-5, TP_STATE_ON_CPU, 0, scene->reads);
		hand_run(&scene->hand, 0, at_s + 5e-5, at_s + 1e-4, TP_RUN_BLOCKED);
	}
}

/* Switches were recorded for the first half: runs that the timer missed later resemble the short
 * ones that it hit then. Polls show that the thread reads, but not where. */
START_TEST(short_stays_are_at_the_place_of_short_stays)
{
	struct scene scene;
	double reads_s = 0;
	begin(&scene);
	scene.is_bare = true;
	for (int step = 0; step < N_STEPS; step++) {
		put_step(&scene, step);
		if (step < N_STEPS / 2)
			add_runs(&scene, step);
	}
	hand_run(&scene.hand, 0, 5, 5.00001, TP_RUN_OPEN);
	add_accounting(&scene, 0);
	hand_finish(&scene.hand);
	const struct tp_timeline *timeline = &scene.hand.analysis.timelines[0];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		if (piece->start_ns < 5 * SECOND || piece->sample == TP_NO_SAMPLE)
			continue;
		bool is_reads = scene.hand.trace.samples[piece->sample].stack == scene.reads;
		reads_s += is_reads ? 1e-9 * (double)(piece->end_ns - piece->start_ns) : 0;
		ck_assert(is_reads || piece->state == TP_STATE_ON_CPU);
	}
	ck_assert_double_eq_tol(reads_s, 5 - 0.625, 0.02);
	hand_release(&scene.hand);
}
END_TEST

Suite *suite_analyze_sampled_timeline(void);
Suite *suite_analyze_sampled_timeline(void)
{
	Suite *suite = suite_create("analyze/sampledtime");
	TCase *tcase = tcase_create("all");
	tcase_add_test(tcase, cpu_time_without_samples_is_that_of_short_stays);
	tcase_add_test(tcase, more_than_looks_found_is_taken_from_waits);
	tcase_add_test(tcase, short_stays_are_at_the_place_of_short_stays);
	tcase_add_test(tcase, without_books_each_look_is_believed);
	tcase_add_test(tcase, at_a_lowered_rate_each_poll_counts);
	suite_add_tcase(suite, tcase);
	return suite;
}
