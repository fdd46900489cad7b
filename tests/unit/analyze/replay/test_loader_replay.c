/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of replayed loops whose steps can be computed by hand. */
#include "analyze/replay/loader_replay.h"

#include "trainprof/base/memory.h"

#include <check.h>

enum { N = 50 };

static double step_of(struct tp_replay_work batch, struct tp_replay_work step, unsigned n_workers,
		      double n_cpus)
{
	struct tp_replay_work batches[N];
	struct tp_replay_work steps[N];
	for (int i = 0; i < N; i++) {
		batches[i] = batch;
		steps[i] = step;
	}
	struct tp_loader_replay replay = {.batches = batches,
					  .steps = steps,
					  .n = N,
					  .n_workers = n_workers,
					  .n_ahead = 2,
					  .is_in_turn = true,
					  .n_cpus = n_cpus,
					  .team = 1};
	return tp_loader_replay(&replay).step_ns;
}

START_TEST(steps_of_equal_batches_are_those_of_the_slower_side)
{
	const struct tp_replay_work sleeps = {.wait_ns = 60e6};
	const struct tp_replay_work decodes = {.cpu_ns = 60e6};
	const struct tp_replay_work trains = {.cpu_ns = 20e6};
	const struct {
		struct tp_replay_work batch;
		unsigned n_workers;
		double n_cpus;
		double step_ns;
	} rows[] = {
		{sleeps, 0, 2, 80e6},       /* one after the other */
		{sleeps, 1, 2, 60e6},       /* the loader's time */
		{sleeps, 2, 2, 30e6},       /* half of that each */
		{sleeps, 8, 1, 20e6},       /* the trainer's time: sleeping needs no CPU */
		{decodes, 0, 2, 80e6},      /* */
		{decodes, 1, 2, 60e6},      /* one CPU each */
		{decodes, 8, 2, 40e6},      /* 80 ms of work on two CPUs */
		{decodes, 8, 1, 80e6},      /* the same on one CPU: no gain */
		{decodes, 2, 16, 30e6},     /* */
		{{0, 0}, 2, 2, 20e6},       /* loading is free */
		{{30e6, 30e6}, 1, 1, 70e6}, /* waits next to work; see below */
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows) - 1; i++)
		ck_assert_double_eq_tol(step_of(rows[i].batch, trains, rows[i].n_workers,
						rows[i].n_cpus),
					rows[i].step_ns, 0.02 * rows[i].step_ns);
	/* On one CPU the trainer's 20 ms fit into the worker's 30 ms of waits, except where both
	 * want the CPU at once. */
	double crowded = step_of((struct tp_replay_work){30e6, 30e6}, trains, 1, 1);
	ck_assert_double_ge(crowded, 60e6 * 0.99);
	ck_assert_double_le(crowded, 80e6);
}
END_TEST

/* Every tenth batch takes ten times as long. If batches must come in order, the others wait for it
 * as soon as no more may be started; with more batches ahead the queue bridges it. */
START_TEST(a_longer_queue_bridges_slow_batches)
{
	struct tp_replay_work batches[N];
	struct tp_replay_work steps[N];
	double sum_ns = 0;
	for (int i = 0; i < N; i++) {
		batches[i] = (struct tp_replay_work){.wait_ns = i % 10 ? 10e6 : 100e6};
		steps[i] = (struct tp_replay_work){.wait_ns = 15e6};
		sum_ns += batches[i].wait_ns;
	}
	struct tp_loader_replay replay = {.batches = batches,
					  .steps = steps,
					  .n = N,
					  .n_workers = 3,
					  .n_ahead = 1,
					  .is_in_turn = true,
					  .n_cpus = 2,
					  .team = 1};
	double close_ns = tp_loader_replay(&replay).step_ns;
	replay.n_ahead = 8;
	double bridged_ns = tp_loader_replay(&replay).step_ns;
	ck_assert_double_gt(close_ns, 1.2 * 15e6);
	ck_assert_double_eq_tol(bridged_ns, 15e6, 0.3e6);
	replay.n_workers = 1; /* no queue makes a single worker faster */
	ck_assert_double_eq_tol(tp_loader_replay(&replay).step_ns, sum_ns / N, 0.05 * sum_ns / N);
}
END_TEST

START_TEST(teams_and_full_machines_slow_each_other)
{
	struct tp_replay_work batch = {.cpu_ns = 40e6};
	struct tp_replay_work step = {.cpu_ns = 40e6};
	struct tp_loader_replay replay = {.batches = &batch,
					  .steps = &step,
					  .n = 1,
					  .n_workers = 1,
					  .n_ahead = 2,
					  .n_cpus = 2,
					  .team = 2};
	/* 40 ms on two CPUs and 40 on one: 120 ms of CPU time, at least 60 ms. */
	ck_assert_double_eq_tol(tp_loader_replay(&replay).step_ns, 60e6, 1e6);
	replay.team = 1;
	ck_assert_double_eq_tol(tp_loader_replay(&replay).step_ns, 40e6, 1e6);
	replay.slowdown = 0.5; /* both CPUs are always busy */
	ck_assert_double_eq_tol(tp_loader_replay(&replay).step_ns, 60e6, 1e6);
	replay.slowdown = 0;
	replay.others = 2; /* four threads want two CPUs */
	struct tp_replayed crowded = tp_loader_replay(&replay);
	ck_assert_double_eq_tol(crowded.step_ns, 80e6, 1e6);
	ck_assert_double_eq_tol(crowded.delay_ratio, 0.5, 0.01);
	/* 40 ms in which three want one CPU: 13.3 of 40 are decoded; then 40 in which they want
	 * two. */
	replay.is_trainer_first = true;
	ck_assert_double_eq_tol(tp_loader_replay(&replay).step_ns, 80e6, 1e6);
	replay.others = 0;
	ck_assert_double_eq_tol(tp_loader_replay(&replay).step_ns, 40e6, 1e6);
	replay.is_trainer_first = false;
	replay.slowdown = 0.5;
	replay.n_cpus = 4; /* at most half of them are busy */
	ck_assert_double_eq_tol(tp_loader_replay(&replay).step_ns, 40e6, 1e6);
}
END_TEST

START_TEST(odd_input_ends)
{
	struct tp_replay_work nothing = {0};
	struct tp_loader_replay replay = {.batches = &nothing,
					  .steps = &nothing,
					  .n_workers = 3,
					  .n_ahead = 1,
					  .n_cpus = 0.1,
					  .team = 1};
	ck_assert_double_eq(tp_loader_replay(&replay).step_ns, 0);
	replay.n = 1;
	ck_assert_double_eq(tp_loader_replay(&replay).step_ns, 0);
	replay.is_trainer_first = true; /* no CPU is left for workers */
	replay.team = 8;
	ck_assert_double_eq(tp_loader_replay(&replay).step_ns, 0);
	replay.n_workers = 0;
	ck_assert_double_eq(tp_loader_replay(&replay).step_ns, 0);
	replay.is_in_turn = true;
	replay.n_workers = TP_REPLAY_WORKERS_MAX;
	ck_assert_double_eq(tp_loader_replay(&replay).step_ns, 0);
	struct tp_replay_work tiny = {.cpu_ns = 1e-6, .wait_ns = 1e15};
	replay.batches = &tiny;
	ck_assert_double_gt(tp_loader_replay(&replay).step_ns, 0);
}
END_TEST

Suite *suite_analyze_loader_replay(void);
Suite *suite_analyze_loader_replay(void)
{
	Suite *suite = suite_create("analyze/loader_replay");
	TCase *tc = tcase_create("loader_replay");
	tcase_add_test(tc, steps_of_equal_batches_are_those_of_the_slower_side);
	tcase_add_test(tc, a_longer_queue_bridges_slow_batches);
	tcase_add_test(tc, teams_and_full_machines_slow_each_other);
	tcase_add_test(tc, odd_input_ends);
	suite_add_tcase(suite, tc);
	return suite;
}
