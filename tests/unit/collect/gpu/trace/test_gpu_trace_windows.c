/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of windows of GPU tracing: the measured cost stays within the budget, and it is
 * reported. */
#include "collect/gpusim.h"

#include <check.h>
#include <string.h>

static struct sim sim;

/* Programs that differ in everything that matters here. */
static const struct sim_program programs[] = {
	{SIM_STEPS, 20, 0.02, 1.8, 0, 0, 0},    {SIM_STEPS, 20, 0.02, 0.03, 0, 0, 0},
	{SIM_STEPS, 20, 0.10, 0.5, 30, 0, 0},   {SIM_STEPS, 5, 0.30, 1.0, 10, 0, 0},
	{SIM_STEPS, 350, 0.05, 1.0, 10, 0, 0},  {SIM_STEPS, 1500, 0.05, 0.3, 10, 0, 0},
	{SIM_STEPS, 20, 0.05, 0.5, 0, 0, 1000}, /* with a checkpoint every 3 s */
	{SIM_STEPS, 20, 0.02, 0, 0, 0, 0},      {SIM_COUNTER, 100, 0.05, 1.0, 10, 0, 0},
	{SIM_COUNTER, 20, 0.05, 0.1, 10, 0, 0}, {SIM_TRAFFIC, 50, 0.05, 1.0, 10, 0, 0},
	{SIM_TRAFFIC, 50, 0.05, 0.2, 10, 0, 0},
};
enum { N_PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static const double budgets[] = {0.01, 0.05, 0.002};

/* In half an hour, including the first windows, whose cost is not known in advance. */
START_TEST(what_windows_cost_stays_in_the_budget)
{
	double budget = budgets[_i / N_PROGRAMS];
	const struct sim_program *program = &programs[_i % N_PROGRAMS];
	sim_begin(&sim, program, budget, (uint64_t)_i + 1);
	sim_run(&sim, 1800);
	ck_assert_msg(sim_overhead(&sim) <= budget, "%g %% of %g %%, in %zu windows",
		      100 * sim_overhead(&sim), 100 * budget, sim.windows.n);
	ck_assert_uint_ge(sim.windows.n, budget < 0.005 ? 2 : 3);
	sim_end(&sim);
}
END_TEST

/* The budget is used: a program that costs little is traced up to the maximum share. */
START_TEST(what_costs_little_is_traced_much)
{
	sim_begin(&sim, &programs[1], 0.01, 5);
	sim_run(&sim, 1800);
	double traced = (double)sim.open_ns / 1800e9;
	ck_assert_msg(traced > 0.025 && traced <= 0.0505, "%g %% traced", 100 * traced);
	sim_end(&sim);
	sim_begin(&sim, &programs[0], 0.01, 5);
	sim_run(&sim, 1800);
	ck_assert_double_gt(sim_overhead(&sim), 0.001);
	sim_end(&sim);
}
END_TEST

START_TEST(what_they_cost_is_known)
{
	double lost_ns;
	double error_ns;
	sim_begin(&sim, &programs[_i], 0.01, (uint64_t)_i + 100);
	sim_run(&sim, 1200);
	ck_assert(tp_gpu_trace_windows_lost(&sim.windows, &lost_ns, &error_ns));
	double truth_ns = sim_lost_ns(&sim);
	ck_assert_msg(fabs(lost_ns - truth_ns) <= 3 * error_ns + 0.1 * truth_ns,
		      "lost %g s, said to be %g s, +- %g", truth_ns * 1e-9, lost_ns * 1e-9,
		      error_ns * 1e-9);
	double slowdown = tp_gpu_mean_value(&sim.windows.governor.slowdown);
	double error = tp_gpu_mean_error(&sim.windows.governor.slowdown);
	ck_assert_msg(fabs(slowdown - programs[_i].slowdown) <=
			      3 * error + 0.15 * programs[_i].slowdown + 0.02,
		      "slowed by %g, said to be %g, +- %g", programs[_i].slowdown, slowdown, error);
	sim_end(&sim);
}
END_TEST

/* Sixty random programs. */
START_TEST(no_program_is_slowed_by_more_than_it_may_be)
{
	static const double steps_ms[] = {5, 10, 20, 80, 300, 900};
	uint64_t seed = 4711;
	for (int i = 0; i < 60; i++) {
		struct sim dice = {.seed = seed + (uint64_t)i};
		double budget = sim_random(&dice) < 0.5 ? 0.01 : 0.03;
		const struct sim_program program = {
			.voice = (enum sim_voice)(sim_random(&dice) * 3),
			.step_ms = steps_ms[(int)(sim_random(&dice) * 6)],
			.noise = 0.2 * sim_random(&dice),
			.slowdown = 1.8 * sim_random(&dice),
			.open_ms = 60 * sim_random(&dice),
		};
		sim_begin(&sim, &program, budget, seed + (uint64_t)i);
		sim_run(&sim, 1800);
		ck_assert_msg(sim_overhead(&sim) <= budget,
			      "program %d: %g %% of %g %%; voice %d, steps of %g ms +- %g, "
			      "slowed by %g, %g ms to open; %zu windows",
			      i, 100 * sim_overhead(&sim), 100 * budget, (int)program.voice,
			      program.step_ms, program.noise, program.slowdown, program.open_ms,
			      sim.windows.n);
		sim_end(&sim);
	}
}
END_TEST

START_TEST(without_any_voice_the_worst_is_expected)
{
	double lost_ns;
	double error_ns;
	char text[120];
	struct sim_program program = programs[0];
	program.voice = SIM_SILENT;
	sim_begin(&sim, &program, 0.01, 3);
	sim_run(&sim, 1800);
	ck_assert(!tp_gpu_trace_windows_lost(&sim.windows, &lost_ns, &error_ns));
	ck_assert_double_le(sim_overhead(&sim), 0.01);
	ck_assert_uint_ge(sim.windows.n, 5);
	tp_gpu_trace_windows_describe(&sim.windows, 1800, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "slowdown not measured"));
	sim_end(&sim);
}
END_TEST

/* It stays slower by 3 %; three windows show it, and no other follows. */
START_TEST(a_program_that_stays_slower_is_traced_no_more)
{
	char text[120];
	struct sim_program program = programs[2];
	program.residue = 0.03;
	sim_begin(&sim, &program, 0.01, 9);
	sim_run(&sim, 1800);
	ck_assert_int_eq(sim.windows.state, TP_GPU_WINDOWS_ENDED);
	ck_assert_uint_ge(sim.n_opened, 3);
	ck_assert_uint_le(sim.n_opened, 6);
	tp_gpu_trace_windows_describe(&sim.windows, 1800, text, sizeof(text));
	ck_assert_msg(strncmp(text, "ended after ", 12) == 0 && strstr(text, " slower between"),
		      "%s", text);
	sim_end(&sim);
}
END_TEST

/* Tracing is not ended for a program that continues at its old speed. */
START_TEST(noise_is_no_residue)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		sim_begin(&sim, &programs[2], 0.01, seed);
		sim_run(&sim, 900);
		ck_assert_int_ne(sim.windows.state, TP_GPU_WINDOWS_ENDED);
		sim_end(&sim);
	}
}
END_TEST

/* Long steps: a window that begins in the middle of one would waste half of it. */
START_TEST(windows_begin_where_steps_do_and_hold_two)
{
	struct sim_program program = {SIM_STEPS, 800, 0.01, 0.2, 0, 0, 0};
	sim_begin(&sim, &program, 0.01, 2);
	uint64_t n_seen = 0;
	uint64_t until_ns = sim.now_ns + 600 * TP_NS_PER_S;
	while (sim.now_ns < until_ns) {
		bool was_open = sim.is_open;
		sim_tick(&sim);
		if (!sim.is_open || was_open)
			continue;
		n_seen++;
		/* Time until the next step begins: a poll of 150 ms, and the noise of two steps. */
		ck_assert_msg(sim.left_ns < 180e6, "%g ms before a step", sim.left_ns * 1e-6);
		uint64_t begun = sim.n_steps;
		while (sim.is_open)
			sim_tick(&sim);
		ck_assert_uint_ge(sim.n_steps - begun, 3);
		ck_assert_uint_le(sim.n_steps - begun, 4);
	}
	ck_assert_uint_ge(n_seen, 5);
	sim_end(&sim);
}
END_TEST

START_TEST(a_window_is_cut_at_its_most_events)
{
	sim_begin(&sim, &programs[1], 0.01, 2);
	while (!sim.is_open)
		sim_tick(&sim);
	sim.agents.n_events += TP_GPU_WINDOW_EVENTS_MAX - 1;
	sim_tick(&sim);
	ck_assert(sim.is_open);
	sim.agents.n_events++;
	sim_tick(&sim);
	ck_assert(!sim.is_open);
	sim_end(&sim);
}
END_TEST

/* CUPTI takes many seconds to start in some programs: only the time in which it collects counts. */
START_TEST(a_window_lasts_from_when_collecting_began)
{
	struct tp_gpu_agents_state agents = {.is_there = true};
	uint64_t t0_ns = 1000 * TP_NS_PER_S;
	sim = (struct sim){0};
	tp_gpu_trace_windows_init(&sim.windows, &sim.progress, 0.01, 1);
	ck_assert(!tp_gpu_trace_windows_tick(&sim.windows, &agents, t0_ns));
	ck_assert(tp_gpu_trace_windows_tick(&sim.windows, &agents, t0_ns + 3 * TP_NS_PER_S));
	ck_assert(tp_gpu_trace_windows_tick(&sim.windows, &agents, t0_ns + 20 * TP_NS_PER_S));
	agents.is_collecting = true;
	agents.opened_ns = t0_ns + 21 * TP_NS_PER_S;
	ck_assert(tp_gpu_trace_windows_tick(&sim.windows, &agents, t0_ns + 21900 * TP_NS_PER_MS));
	ck_assert(!tp_gpu_trace_windows_tick(&sim.windows, &agents, t0_ns + 22100 * TP_NS_PER_MS));
	agents.closed_ns = t0_ns + 22200 * TP_NS_PER_MS;
	tp_gpu_trace_windows_finish(&sim.windows, &agents, t0_ns + 30 * TP_NS_PER_S);
	ck_assert_uint_eq(sim.windows.n, 1);
	ck_assert_uint_eq(sim.windows.traced_ns, 1200 * TP_NS_PER_MS);
}
END_TEST

START_TEST(a_window_that_never_begins_is_given_up)
{
	struct tp_gpu_agents_state agents = {.is_there = true};
	sim = (struct sim){0};
	tp_gpu_trace_windows_init(&sim.windows, &sim.progress, 0.01, 1);
	tp_gpu_trace_windows_tick(&sim.windows, &agents, 1000 * TP_NS_PER_S);
	ck_assert(tp_gpu_trace_windows_tick(&sim.windows, &agents, 1003 * TP_NS_PER_S));
	ck_assert(tp_gpu_trace_windows_tick(&sim.windows, &agents, 1032 * TP_NS_PER_S));
	ck_assert(!tp_gpu_trace_windows_tick(&sim.windows, &agents, 1034 * TP_NS_PER_S));
	ck_assert(!tp_gpu_trace_windows_tick(&sim.windows, &agents, 1035 * TP_NS_PER_S));
	tp_gpu_trace_windows_finish(&sim.windows, &agents, 1036 * TP_NS_PER_S);
	ck_assert_uint_eq(sim.windows.traced_ns, 0);
	ck_assert_uint_eq(sim.windows.n, 0);
	char text[120];
	tp_gpu_trace_windows_describe(&sim.windows, 36, text, sizeof(text));
	ck_assert_str_eq(text, "no window began: the agent did not come to collect");
}
END_TEST

/* An agent that stays out of the way of another tool: the program gets faster meanwhile, but not
 * because of tracing. The request does not stay forever either. */
START_TEST(a_window_that_never_begins_tells_nothing_of_windows)
{
	struct sim_program program = {SIM_STEPS, 20, 0.02, 0, 0, 0, 0};
	sim_begin(&sim, &program, 0.01, 4);
	uint64_t asked_ns = 0;
	uint64_t wanted_ns = 0;
	uint64_t until_ns = sim.now_ns + 300 * TP_NS_PER_S;
	while (sim.now_ns < until_ns) {
		uint64_t before_ns = sim.now_ns;
		sim_run_until(&sim, before_ns + 100 * TP_NS_PER_MS);
		if (tp_gpu_trace_windows_tick(&sim.windows, &sim.agents, sim.now_ns)) {
			asked_ns = asked_ns ? asked_ns : sim.now_ns;
			wanted_ns += sim.now_ns - before_ns;
			sim.program.step_ms = 15;
		}
	}
	tp_gpu_trace_windows_finish(&sim.windows, &sim.agents, sim.now_ns);
	ck_assert_uint_gt(asked_ns, 0);
	ck_assert_uint_le(wanted_ns, 100 * TP_NS_PER_S);
	ck_assert_uint_eq(sim.windows.n, 0);
	ck_assert_uint_eq(sim.windows.governor.slowdown.n, 0);
	ck_assert_uint_eq(sim.windows.governor.residue.n, 0);
	sim_end(&sim);
}
END_TEST

Suite *suite_collect_gpu_trace_windows(void);
Suite *suite_collect_gpu_trace_windows(void)
{
	Suite *suite = suite_create("collect/gpuwindows");
	TCase *tc = tcase_create("gpuwindows");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, what_windows_cost_stays_in_the_budget, 0, 3 * N_PROGRAMS);
	tcase_add_test(tc, what_costs_little_is_traced_much);
	tcase_add_loop_test(tc, what_they_cost_is_known, 0, N_PROGRAMS);
	tcase_add_test(tc, no_program_is_slowed_by_more_than_it_may_be);
	tcase_add_test(tc, without_any_voice_the_worst_is_expected);
	tcase_add_test(tc, a_program_that_stays_slower_is_traced_no_more);
	tcase_add_test(tc, noise_is_no_residue);
	tcase_add_test(tc, windows_begin_where_steps_do_and_hold_two);
	tcase_add_test(tc, a_window_is_cut_at_its_most_events);
	tcase_add_test(tc, a_window_lasts_from_when_collecting_began);
	tcase_add_test(tc, a_window_that_never_begins_is_given_up);
	tcase_add_test(tc, a_window_that_never_begins_tells_nothing_of_windows);
	suite_add_tcase(suite, tc);
	return suite;
}
