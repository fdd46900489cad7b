/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which steps represent a run, on simulated trainers that mark their steps. */
#include "analyze/sim.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>

static void judge(struct sim *sim)
{
	sim_finish(sim);
	struct tp_error err;
	ck_assert_int_eq(tp_pass_steps(&sim->analysis, &err), TP_OK);
	ck_assert_int_eq(tp_pass_steady(&sim->analysis, &err), TP_OK);
	/* In every case the phases add up to the run, and the counts to the steps. */
	uint64_t sum = 0;
	for (int i = 0; i < TP_N_RUN_PHASES; i++)
		sum += sim->profile.run_phase_ns[i];
	uint64_t steady = sim_count_steps(sim, TP_STEP_STEADY);
	ck_assert_uint_eq(sum, sim->trace.end_ns);
	ck_assert_uint_eq(sim->profile.n_steady, steady);
	ck_assert_uint_eq(sim->profile.run_phase_count[TP_RUN_PHASE_TRAIN],
			  steady + sim_count_steps(sim, TP_STEP_OTHER));
	ck_assert_uint_lt(sim->profile.window_start_ns, sim->profile.window_end_ns);
	ck_assert_ptr_nonnull(sim->profile.window_reason);
}

static bool has_warning(const struct sim *sim, const char *id)
{
	for (size_t i = 0; i < sim->profile.n_warnings; i++)
		if (strcmp(sim->profile.warnings[i].id, id) == 0)
			return true;
	return false;
}

static const char *advice_of(const struct sim *sim, const char *id)
{
	for (size_t i = 0; i < sim->profile.n_warnings; i++)
		if (strcmp(sim->profile.warnings[i].id, id) == 0)
			return sim->profile.warnings[i].remedy;
	return NULL;
}

static double fact(const struct sim *sim, enum tp_fact id)
{
	ck_assert_msg(sim->profile.facts[id].is_known, "%s: %s", tp_fact_desc(id)->name,
		      sim->profile.facts[id].missing);
	return sim->profile.facts[id].value;
}

/* One marked step, with small noise that is nearly normal. */
static void step(struct sim *sim, double ms)
{
	double noise = 0;
	for (int k = 0; k < 6; k++)
		noise += sim_uniform(sim) - 0.5;
	sim_mark(sim, 0, TP_MARK_STEP);
	sim_work(sim, "main:1 train:2 forward:3", (uint64_t)(ms * 1e6 * (1 + 0.03 * noise)));
}

static void end(struct sim *sim)
{
	sim_mark(sim, 0, TP_MARK_STEP_END);
	sim_work(sim, "main:9 finish:1", 30000000);
}

START_TEST(a_slow_start_is_warmup)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 3);
	sim_work(&sim, "main:0 setup:1", 500000000);
	for (int i = 0; i < 300; i++)
		step(&sim, 20 * (1 + 0.6 * exp(-i / 12.0)));
	end(&sim);
	judge(&sim);
	size_t warmup = sim_count_steps(&sim, TP_STEP_WARMUP);
	ck_assert_uint_ge(warmup, 15);
	ck_assert_uint_le(warmup, 60);
	for (size_t i = 0; i < 300; i++)
		ck_assert_int_eq(sim.profile.steps[i].kind,
				 i < warmup ? TP_STEP_WARMUP : TP_STEP_STEADY);
	ck_assert_uint_eq(sim.profile.window_start_ns, sim.profile.steps[warmup].start_ns);
	ck_assert_uint_eq(sim.profile.window_end_ns, sim.profile.steps[299].end_ns);
	char reason[64];
	snprintf(reason, sizeof(reason), "warm-up of %zu steps excluded", warmup);
	ck_assert_str_eq(sim.profile.window_reason, reason);
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_STEP_TIME), 20e6, 0.2e6);
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_STEP_CV), 0.03 * sqrt(0.5), 0.005);
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_RUN_STARTUP_RATIO),
				0.5 / (double)sim.trace.end_ns * 1e9, 1e-6);
	ck_assert(!sim.profile.n_warnings);
	sim_release(&sim);
}
END_TEST

START_TEST(even_steps_have_hardly_any_warmup)
{
	size_t warmup = 0;
	size_t other = 0;
	size_t covered = 0;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sim sim;
		sim_init(&sim, 9, 5, seed);
		for (int i = 0; i < 120; i++)
			step(&sim, 20);
		end(&sim);
		judge(&sim);
		warmup += sim_count_steps(&sim, TP_STEP_WARMUP);
		other += 120 - sim.profile.n_steady - sim_count_steps(&sim, TP_STEP_WARMUP);
		const struct tp_quantity *time = &sim.profile.facts[TP_FACT_STEP_TIME];
		covered += time->low <= 20e6 && 20e6 <= time->high;
		sim_release(&sim);
	}
	ck_assert_uint_le(warmup, 40 * 120 / 100);
	ck_assert_uint_eq(other, 0);
	ck_assert_uint_ge(covered, 35);
}
END_TEST

START_TEST(first_step_alone_can_be_warmup)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 3);
	for (int i = 0; i < 50; i++)
		step(&sim, i ? 20 : 400);
	end(&sim);
	judge(&sim);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_WARMUP), 1);
	ck_assert_uint_eq(sim.profile.n_steady, 49);
	sim_release(&sim);
}
END_TEST

START_TEST(long_steps_are_named_by_what_fills_them)
{
	struct sim sim;
	sim_init(&sim, 199, 50, 5);
	uint64_t evaluated = 0;
	uint64_t saved = 0;
	for (int i = 1; i <= 400; i++) {
		step(&sim, 20);
		uint64_t before = sim.now_ns;
		if (i % 50 == 0)
			sim_work(&sim, "main:1 train:5 evaluate:2 forward:3", 150000000);
		evaluated += sim.now_ns - before;
		before = sim.now_ns;
		if (i % 30 == 0) {
			sim_work(&sim, "main:1 train:6 save_checkpoint:2 fwrite:1", 40000000);
			sim_block(&sim, "main:1 train:6 save_checkpoint:3 fsync:1", TP_CAUSE_DISK,
				  60000000);
		}
		saved += sim.now_ns - before;
		if (i % 70 == 0)
			sim_work(&sim, "main:1 train:7 collect_garbage:2", 60000000);
	}
	end(&sim);
	judge(&sim);
	/* Steps 50..400 by 50 evaluate, by 30 save; 150 and 300 do both: the longer activity
	 * decides. */
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_EVALUATION), 8);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_CHECKPOINT), 11);
	/* 210 saves too, and saving takes longer; 350 evaluates. */
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_SLOW), 3);
	ck_assert_str_eq(sim.profile.window_reason,
			 "8 evaluation, 11 checkpoint, 3 slow steps excluded");
	ck_assert_uint_eq(sim.profile.run_phase_count[TP_RUN_PHASE_EVAL], 8);
	double loop = (double)(sim.analysis.loop_end_ns - sim.analysis.loop_start_ns);
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_RUN_CHECKPOINT_RATIO), (double)saved / loop,
				0.005);
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_RUN_CHECKPOINT_WAIT), 0.6, 0.03);
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_RUN_EVALUATION), (double)evaluated / loop,
				0.005);
	ck_assert_double_ge(fact(&sim, TP_FACT_RUN_OUTSIDE_RATIO),
			    (double)(saved + evaluated) / loop);
	sim_release(&sim);
}
END_TEST

/* Simulates n steps; two of three, or every `every`-th, save a checkpoint that lasts as long as
 * five steps. */
static void simulate_saves(struct sim *sim, int n, int every, bool is_first)
{
	sim_init(sim, 199, 50, 5);
	for (int i = is_first ? 0 : 1; i < n + (is_first ? 0 : 1); i++) {
		step(sim, 20);
		if (every < 0 ? i % -every != 0 : i % every == 0)
			sim_work(sim, "main:1 train:6 save_checkpoint:2 fwrite:1", 100000000);
	}
	end(sim);
	judge(sim);
}

/* Half of the steps save: whether a few more or a few less do must not decide which step is usual.
 */
START_TEST(steps_that_save_are_special_whatever_their_share)
{
	static const struct {
		int every; /* -n: all but each n-th */
		int saves_of_60;
	} rows[] = {{5, 12}, {3, 20}, {2, 30}, {-3, 40}};
	for (int extra = 0; extra < 4; extra++) {
		struct sim sim;
		simulate_saves(&sim, 60 + extra / 2, rows[_i].every, extra % 2 == 0);
		ck_assert_double_eq_tol((double)sim_count_steps(&sim, TP_STEP_CHECKPOINT),
					rows[_i].saves_of_60, 1.5);
		ck_assert_double_eq_tol(fact(&sim, TP_FACT_STEP_TIME), 20e6, 1e6);
		ck_assert(!has_warning(&sim, "level-shift"));
		ck_assert(!has_warning(&sim, "no-steady-state"));
		sim_release(&sim);
	}
}
END_TEST

START_TEST(a_checkpoint_in_every_step_is_part_of_it)
{
	struct sim sim;
	simulate_saves(&sim, 60, 1, true);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_CHECKPOINT), 0);
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_STEP_TIME), 120e6, 1e6);
	sim_release(&sim);
}
END_TEST

/* Two evaluations in the loop, and one behind its last step: a longer one is a final test, of which
 * only as much counts. */
START_TEST(the_evaluation_after_the_last_step_is_of_the_loop)
{
	struct sim sim;
	sim_init(&sim, 199, 50, 5);
	for (int i = 1; i <= 150; i++) {
		step(&sim, 20);
		if (i % 50 == 0 && i < 150)
			sim_work(&sim, "main:1 train:5 evaluate:2 forward:3", 200000000);
	}
	end(&sim);
	sim_work(&sim, "main:1 train:5 evaluate:2 forward:3", _i ? 900000000 : 200000000);
	judge(&sim);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_EVALUATION), 2);
	double loop = (double)(sim.analysis.loop_end_ns - sim.analysis.loop_start_ns);
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_RUN_EVALUATION), 0.6e9 / (loop + 0.2e9), 0.006);
	sim_release(&sim);
}
END_TEST

/* Each epoch begins with its evaluation: the one behind the last step is a final test. */
START_TEST(a_test_after_epochs_that_begin_with_evaluations_is_not_of_the_loop)
{
	struct sim sim;
	sim_init(&sim, 199, 50, 5);
	for (int i = 0; i < 150; i++) {
		if (i % 50 == 0)
			sim_work(&sim, "main:1 train:5 evaluate:2 forward:3", 200000000);
		step(&sim, 20);
	}
	end(&sim);
	sim_work(&sim, "main:1 train:5 evaluate:2 forward:3", 200000000);
	judge(&sim);
	double loop = (double)(sim.analysis.loop_end_ns - sim.analysis.loop_start_ns);
	double inside = sim.analysis.loop_start_ns > 100000000 ? 0.4e9 : 0.6e9;
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_RUN_EVALUATION), inside / loop, 0.006);
	sim_release(&sim);
}
END_TEST

START_TEST(loader_periodicity_stays)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	for (int i = 0; i < 300; i++)
		step(&sim, i % 4 ? 20 : 24);
	end(&sim);
	judge(&sim);
	ck_assert_uint_eq(sim.profile.n_steady, 300);
	sim_release(&sim);
}
END_TEST

START_TEST(the_longest_stretch_is_judged)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	for (int i = 0; i < 300; i++)
		step(&sim, i < 100 ? 26 : 20);
	end(&sim);
	judge(&sim);
	ck_assert_double_eq_tol((double)sim.profile.n_steady, 200, 5);
	ck_assert_double_eq_tol((double)sim_count_steps(&sim, TP_STEP_WARMUP), 100, 5);
	ck_assert(has_warning(&sim, "level-shift"));
	ck_assert_double_eq_tol(fact(&sim, TP_FACT_STEP_MEDIAN), 20e6, 0.2e6);
	sim_release(&sim);
}
END_TEST

START_TEST(faster_steps_before_are_no_warmup)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	for (int i = 0; i < 300; i++)
		step(&sim, i < 100 ? 17 : 20);
	end(&sim);
	judge(&sim);
	ck_assert_double_eq_tol((double)sim.profile.n_steady, 200, 5);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_WARMUP), 0);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_SLOW), 0);
	ck_assert_double_eq_tol((double)sim_count_steps(&sim, TP_STEP_OTHER), 100, 5);
	ck_assert(has_warning(&sim, "level-shift"));
	sim_release(&sim);
}
END_TEST

START_TEST(three_equal_levels_are_no_steady_state)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	for (int i = 0; i < 300; i++)
		step(&sim, i < 100 ? 20 : i < 200 ? 22 : 24);
	end(&sim);
	judge(&sim);
	ck_assert(has_warning(&sim, "no-steady-state"));
	ck_assert_uint_eq(sim.profile.n_steady, 300);
	sim_release(&sim);
}
END_TEST

START_TEST(few_steps_are_said_in_words)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	for (int i = 0; i < 6; i++)
		step(&sim, 100);
	end(&sim);
	judge(&sim);
	ck_assert(has_warning(&sim, "few-steps"));
	ck_assert_uint_eq(sim.profile.n_steady, 6);
	const struct tp_quantity *time = &sim.profile.facts[TP_FACT_STEP_TIME];
	ck_assert_double_eq(time->low, sim.profile.step_time.min);
	ck_assert_double_eq(time->high, sim.profile.step_time.max);
	sim_release(&sim);
}
END_TEST

START_TEST(skipped_steps_are_warmup)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	sim.options.skip_steps = 40;
	for (int i = 0; i < 100; i++)
		step(&sim, 20);
	end(&sim);
	judge(&sim);
	ck_assert_uint_ge(sim_count_steps(&sim, TP_STEP_WARMUP), 40);
	ck_assert_uint_le(sim_count_steps(&sim, TP_STEP_WARMUP), 45);
	ck_assert_int_eq(sim.profile.steps[39].kind, TP_STEP_WARMUP);
	sim_release(&sim);
}
END_TEST

START_TEST(steps_outside_the_measurement_are_cut)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	sim.run.measure_from_ns = sim.run.started_ns + 500000000;
	for (int i = 0; i < 100; i++)
		step(&sim, 20);
	end(&sim);
	judge(&sim);
	ck_assert_double_eq_tol((double)sim_count_steps(&sim, TP_STEP_CUT), 25, 2);
	ck_assert_uint_ge(sim.profile.window_start_ns, 500000000);
	sim_release(&sim);
}
END_TEST

START_TEST(time_between_marked_steps_is_evaluation)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 40; i++)
			step(&sim, 20);
		sim_mark(&sim, 0, TP_MARK_STEP_END);
		sim_work(&sim, "main:1 whatever:2", 250000000);
	}
	sim_mark(&sim, 0, TP_MARK_STEP);
	sim_work(&sim, "main:1 train:2 forward:3", 20000000);
	end(&sim);
	judge(&sim);
	ck_assert_uint_eq(sim.profile.run_phase_ns[TP_RUN_PHASE_EVAL], 1000000000);
	ck_assert_uint_eq(sim.profile.n_steady, 161);
	sim_release(&sim);
}
END_TEST

START_TEST(without_steps_the_call_to_add_is_of_the_program_s_language)
{
	static const char *const loops[2] = {"main:1 train:2 forward:3", "main:1 >train:2"};
	static const char *const calls[2] = {"call trainprof_step()", "call trainprof.step()"};
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	for (int i = 0; i < 1000; i++)
		sim_work(&sim, loops[_i], 3000000);
	judge(&sim);
	const char *next = advice_of(&sim, "no-steps");
	ck_assert_ptr_nonnull(next);
	ck_assert_msg(strncmp(next, calls[_i], strlen(calls[_i])) == 0, "%s", next);
	sim_release(&sim);
}
END_TEST

START_TEST(without_steps_the_window_is_the_loop)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	sim_work(&sim, "main:0 setup:1", 700000000);
	for (int i = 0; i < 1000; i++) {
		sim_work(&sim, "main:1 train:2 forward:3", 3000000);
		sim_work(&sim, "main:1 train:3 backward:3", 5000000);
	}
	sim_work(&sim, "main:9 finish:1", 300000000);
	judge(&sim);
	ck_assert(has_warning(&sim, "no-steps"));
	ck_assert_str_eq(sim.profile.window_reason, "the training loop");
	ck_assert_double_eq_tol((double)sim.profile.window_start_ns, 700e6, 20e6);
	ck_assert_double_eq_tol((double)sim.profile.run_phase_ns[TP_RUN_PHASE_TRAIN], 8e9, 40e6);
	ck_assert(!sim.profile.facts[TP_FACT_STEP_TIME].is_known);
	ck_assert_ptr_nonnull(strstr(sim.profile.facts[TP_FACT_STEP_TIME].missing, "too short"));
	sim_release(&sim);
}
END_TEST

START_TEST(unmeasured_time_is_outside_the_window)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	sim.run.measure_from_ns = sim.run.started_ns + 2000000000;
	sim.run.measure_until_ns = sim.run.started_ns + 5000000000;
	for (int i = 0; i < 1000; i++) {
		sim_work(&sim, "main:1 train:2 forward:3", 3000000);
		sim_work(&sim, "main:1 train:3 backward:3", 5000000);
	}
	judge(&sim);
	ck_assert_uint_eq(sim.profile.n_steps, 0);
	ck_assert_uint_eq(sim.profile.window_start_ns, 2000000000);
	ck_assert_uint_eq(sim.profile.window_end_ns, 5000000000);
	ck_assert_str_eq(sim.profile.window_reason, "what was measured");
	sim_release(&sim);
}
END_TEST

START_TEST(an_evaluation_marked_by_the_program_is_one)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	struct tp_mark mark = {.task = 0, .name = tp_sink_string(&sim.builder.sink, "evaluation")};
	for (int i = 1; i <= 100; i++) {
		step(&sim, 20);
		if (i % 25)
			continue;
		mark.kind = TP_MARK_PHASE_BEGIN;
		mark.time_ns = 1 + sim.now_ns;
		tp_sink_mark(&sim.builder.sink, &mark);
		sim_work(&sim, "main:1 f:2", 100000000);
		mark.kind = TP_MARK_PHASE_END;
		mark.time_ns = 1 + sim.now_ns;
		tp_sink_mark(&sim.builder.sink, &mark);
	}
	end(&sim);
	judge(&sim);
	ck_assert_uint_eq(sim_count_steps(&sim, TP_STEP_EVALUATION), 4);
	ck_assert_uint_eq(sim.profile.n_steady, 96);
	sim_release(&sim);
}
END_TEST

Suite *suite_analyze_pass_steady(void);
Suite *suite_analyze_pass_steady(void)
{
	Suite *suite = suite_create("analyze/pass_steady");
	TCase *tc = tcase_create("steady");
	tcase_add_test(tc, a_slow_start_is_warmup);
	tcase_add_test(tc, even_steps_have_hardly_any_warmup);
	tcase_add_test(tc, first_step_alone_can_be_warmup);
	tcase_add_test(tc, long_steps_are_named_by_what_fills_them);
	tcase_add_loop_test(tc, steps_that_save_are_special_whatever_their_share, 0, 4);
	tcase_add_test(tc, a_checkpoint_in_every_step_is_part_of_it);
	tcase_add_loop_test(tc, the_evaluation_after_the_last_step_is_of_the_loop, 0, 2);
	tcase_add_test(tc, a_test_after_epochs_that_begin_with_evaluations_is_not_of_the_loop);
	tcase_add_test(tc, loader_periodicity_stays);
	tcase_add_test(tc, the_longest_stretch_is_judged);
	tcase_add_test(tc, faster_steps_before_are_no_warmup);
	tcase_add_test(tc, three_equal_levels_are_no_steady_state);
	tcase_add_test(tc, few_steps_are_said_in_words);
	tcase_add_test(tc, skipped_steps_are_warmup);
	tcase_add_test(tc, steps_outside_the_measurement_are_cut);
	tcase_add_test(tc, time_between_marked_steps_is_evaluation);
	tcase_add_loop_test(tc, without_steps_the_call_to_add_is_of_the_program_s_language, 0, 2);
	tcase_add_test(tc, without_steps_the_window_is_the_loop);
	tcase_add_test(tc, unmeasured_time_is_outside_the_window);
	tcase_add_test(tc, an_evaluation_marked_by_the_program_is_one);
	suite_add_tcase(suite, tc);
	return suite;
}
