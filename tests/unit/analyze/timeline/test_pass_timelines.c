/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the time that samples represent; test_pass_main_thread.c has scenes of timelines. */
#include "analyze/hand.h"
#include "analyze/sim.h"

#include <math.h>

/* Takes a sample after each period of CPU time, and now and then starts over with a new random
 * period, as the kernel collector does. Without it the simulation takes one sample per time
 * slot. */
struct clockwork {
	uint64_t cpu_ns;
	uint64_t next_ns;
	uint64_t period_ns;
	unsigned n;
};

static void tick(struct clockwork *clockwork, struct sim *sim)
{
	static const double factors[] = {1.62, 1.38, 0.78, 0.72};
	if (clockwork->n++ % 3 == 0) {
		clockwork->next_ns += (uint64_t)(1e7 * sim_uniform(sim));
		clockwork->period_ns = (uint64_t)(1e7 * factors[(unsigned)(sim_uniform(sim) * 4)]);
	}
	clockwork->next_ns += clockwork->period_ns;
}

static void work(struct sim *sim, struct clockwork *clockwork, const char *path, uint64_t length_ns)
{
	uint64_t begun_ns = sim->now_ns;
	uint32_t stack = sim_stack(sim, path);
	sim_work(sim, path, length_ns);
	for (; clockwork->next_ns < clockwork->cpu_ns + length_ns; tick(clockwork, sim))
		sim_put_sample(sim, begun_ns + clockwork->next_ns - clockwork->cpu_ns,
			       TP_STATE_ON_CPU, TP_CAUSE_NONE, stack);
	clockwork->cpu_ns += length_ns;
}

/* Runs of a few sampling periods, each after a wait: one activity in the middle, another at both
 * ends. */
static const unsigned turns_ms[] = {12, 16, 20, 30, 50};

START_TEST(samples_count_alike_wherever_in_a_stay_they_are)
{
	struct sim sim;
	struct clockwork clockwork = {.next_ns = 1, .period_ns = 10000000};
	uint64_t part_ns = turns_ms[_i] * UINT64_C(1000000) / 4;
	sim_init(&sim, 100, 50, 5);
	sim.next_sample_ns = UINT64_MAX;
	for (int i = 0; i < 4000; i++) {
		work(&sim, &clockwork, "main:1 next_batch:2", part_ns);
		work(&sim, &clockwork, "main:2 forward:2", 2 * part_ns);
		work(&sim, &clockwork, "main:3 next_batch:2", part_ns);
		sim_block(&sim, "main:4 usleep:1", TP_CAUSE_SLEEP, 3000000);
	}
	sim_finish(&sim);
	double compute_ns = 0;
	double all_ns = 0;
	const struct tp_timeline *timeline = &sim.analysis.timelines[0];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		if (piece->state != TP_STATE_ON_CPU)
			continue;
		double ns = (double)(piece->end_ns - piece->start_ns);
		all_ns += ns;
		compute_ns += tp_label_part(piece->label) == TP_PART_COMPUTE ? ns : 0;
	}
	ck_assert_double_eq_tol(all_ns, 4000.0 * 4 * (double)part_ns, 1e3);
	/* 0.54 to 0.56 if the samples of a run shared its time. */
	ck_assert_double_eq_tol(compute_ns / all_ns, 0.5, 0.02);
	sim_release(&sim);
}
END_TEST

/* Until its first run, a thread to which trainprof was attached is blocked for the cause in /proc;
 * a thread that was born meanwhile waits for a CPU. */
START_TEST(a_thread_that_never_ran_is_blocked)
{
	static const struct {
		enum tp_run_mode mode;
		bool is_seen;
		enum tp_state state;
		enum tp_cause cause;
	} starts[] = {{TP_MODE_ATTACH, true, TP_STATE_BLOCKED, TP_CAUSE_FUTEX},
		      {TP_MODE_ATTACH, false, TP_STATE_BLOCKED, TP_CAUSE_UNKNOWN},
		      {TP_MODE_RUN, true, TP_STATE_BLOCKED, TP_CAUSE_FUTEX},
		      {TP_MODE_RUN, false, TP_STATE_RUNNABLE, TP_CAUSE_NONE}};
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct hand hand;
		const struct tp_sample look = {.state = TP_STATE_BLOCKED,
					       .cause = TP_CAUSE_FUTEX,
					       .flags = TP_SAMPLE_POLLED,
					       .syscall = -1};
		hand_init(&hand);
		hand.run.mode = starts[i].mode;
		hand_task(&hand, 0, 100, 100, "/bin/train");
		if (starts[i].is_seen)
			hand_sample(&hand, &look, 1);
		hand_run(&hand, 0, 9, 10, TP_RUN_EXITED);
		hand_finish(&hand);
		const struct tp_segment *first = &hand.analysis.timelines[0].segments[0];
		ck_assert_uint_eq(first->end_ns, 9 * SECOND);
		ck_assert_int_eq(first->state, starts[i].state);
		ck_assert_int_eq(first->cause, starts[i].cause);
		hand_release(&hand);
	}
}
END_TEST

Suite *suite_analyze_pass_timelines(void);
Suite *suite_analyze_pass_timelines(void)
{
	Suite *suite = suite_create("analyze/pass_threads");
	TCase *tc = tcase_create("timeline");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_thread_that_never_ran_is_blocked);
	tcase_add_loop_test(tc, samples_count_alike_wherever_in_a_stay_they_are, 0, 5);
	suite_add_tcase(suite, tc);
	return suite;
}
