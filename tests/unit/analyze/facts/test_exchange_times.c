/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exchanges that begin between two samples. */
#include "analyze/facts/exchange_times.h"

#include "trainprof/model/trace.h"

#include <check.h>
#include <math.h>

enum { N_STEPS = 200, PER_STEP = 3 };

static const double STEP_NS = 30e6;

/* Steps of 30 ms: work, then an exchange in which the thread spins; samples 10 ms apart. */
struct scene {
	struct tp_sample samples[N_STEPS * PER_STEP];
	struct tp_segment segments[N_STEPS * PER_STEP];
	uint8_t halves[N_STEPS * PER_STEP];
	struct tp_step steps[N_STEPS];
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_timeline timeline;
};

static struct scene scene;

/* A segment reaches from the middle between its sample and the one before to that between it and
 * the next. */
static void add_sample(size_t index, double time_ns, bool is_exchange)
{
	scene.samples[index].time_ns = (uint64_t)time_ns;
	scene.halves[index] = is_exchange ? 2 : 0;
	scene.segments[index] = (struct tp_segment){.end_ns = N_STEPS * (uint64_t)STEP_NS,
						    .sample = (uint32_t)index};
	if (index == 0)
		return;
	uint64_t border_ns = (scene.samples[index - 1].time_ns + scene.samples[index].time_ns) / 2;
	scene.segments[index - 1].end_ns = border_ns;
	scene.segments[index].start_ns = border_ns;
}

/* `work_ns`: of even and of odd steps. The first sample of a step comes after 1 to 9 ms, mostly
 * early. */
static void build(const double work_ns[2], enum tp_steps_found_by found_by)
{
	uint64_t state = 1;
	for (size_t k = 0; k < N_STEPS; k++) {
		double start_ns = (double)k * STEP_NS;
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		double random = (double)(state >> 33) / 2147483648.0;
		for (size_t i = 0; i < PER_STEP; i++) {
			double at_ns = 1e6 + 8e6 * random * random + 10e6 * (double)i;
			add_sample(PER_STEP * k + i, start_ns + at_ns, at_ns >= work_ns[k % 2]);
		}
		scene.steps[k] = (struct tp_step){.start_ns = (uint64_t)start_ns,
						  .end_ns = (uint64_t)(start_ns + STEP_NS)};
	}
	scene.trace = (struct tp_trace){.samples = scene.samples};
	scene.profile = (struct tp_profile){.trace = &scene.trace,
					    .is_of_steps = true,
					    .steps_found_by = found_by,
					    .steps = scene.steps,
					    .n_steps = N_STEPS};
	scene.timeline = (struct tp_timeline){scene.segments, N_STEPS * PER_STEP};
}

static double mean_work_ns(size_t first)
{
	double sum = 0;
	for (size_t k = first; k < N_STEPS; k += 2)
		sum += STEP_NS - (double)scene.steps[k].peer_ns;
	return 2 * sum / N_STEPS;
}

START_TEST(an_exchange_is_found_between_samples)
{
	const double work_ns[2] = {4e6 + 2e6 * _i, 4e6 + 2e6 * _i};
	build(work_ns, TP_STEPS_WATCH);
	tp_exchange_times_estimate(&scene.profile, &scene.timeline, scene.halves);
	ck_assert_double_eq_tol(mean_work_ns(0), work_ns[0], 0.7e6);
	ck_assert_double_eq_tol(mean_work_ns(1), work_ns[1], 0.7e6);
}
END_TEST

START_TEST(steps_that_differ_stay_different)
{
	const double work_ns[2] = {6e6, 26e6};
	build(work_ns, TP_STEPS_MARKER);
	tp_exchange_times_estimate(&scene.profile, &scene.timeline, scene.halves);
	ck_assert_double_eq_tol((mean_work_ns(0) + mean_work_ns(1)) / 2, 16e6, 0.6e6);
	ck_assert_double_lt(mean_work_ns(0), 12e6);
	ck_assert_double_gt(mean_work_ns(1), 20e6);
}
END_TEST

START_TEST(a_wait_off_the_cpu_keeps_its_time)
{
	const double work_ns[2] = {30e6, 30e6};
	build(work_ns, TP_STEPS_WATCH);
	for (size_t k = 0; k < N_STEPS; k++) {
		struct tp_segment *last = &scene.segments[PER_STEP * k + 2];
		last->state = TP_STATE_BLOCKED;
		last->start_ns = scene.segments[PER_STEP * k + 1].end_ns =
			scene.steps[k].start_ns + 20000000;
		last->end_ns = scene.steps[k].end_ns;
		if (k + 1 < N_STEPS)
			scene.segments[PER_STEP * k + 3].start_ns = last->end_ns;
		scene.halves[PER_STEP * k + 2] = 2;
	}
	tp_exchange_times_estimate(&scene.profile, &scene.timeline, scene.halves);
	for (size_t k = 0; k < N_STEPS; k++)
		ck_assert_uint_eq(scene.steps[k].peer_ns, 10000000);
}
END_TEST

START_TEST(without_exact_borders_nothing_changes)
{
	const double work_ns[2] = {12e6, 12e6};
	build(work_ns, TP_STEPS_COUNTER);
	scene.steps[3].peer_ns = 5;
	tp_exchange_times_estimate(&scene.profile, &scene.timeline, scene.halves);
	ck_assert_uint_eq(scene.steps[3].peer_ns, 5);
}
END_TEST

Suite *suite_analyze_exchange_times(void);

Suite *suite_analyze_exchange_times(void)
{
	Suite *suite = suite_create("analyze_exchange_times");
	TCase *tc = tcase_create("exchanges");
	tcase_add_loop_test(tc, an_exchange_is_found_between_samples, 0, 11);
	tcase_add_test(tc, steps_that_differ_stay_different);
	tcase_add_test(tc, a_wait_off_the_cpu_keeps_its_time);
	tcase_add_test(tc, without_exact_borders_nothing_changes);
	suite_add_tcase(suite, tc);
	return suite;
}
