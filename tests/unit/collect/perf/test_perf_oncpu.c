/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of on-CPU runs: exact without losses, never invented with losses. A scheduler is simulated
 * and its records are processed, some of them lost. */
#include "collect/perf/perf_oncpu.h"

#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { N_CPUS = 3, N_TASKS = 7, FIRST_TID = 100 };

static struct tp_host host = {.root = "/nonexistent"};
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;
static struct tp_perf_oncpu runs;

static void setup(void)
{
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	tp_perf_oncpu_init(&runs, tree, &sink.sink, N_CPUS);
	tp_perf_oncpu_enable(&runs, 0);
	for (pid_t i = 0; i < N_TASKS; i++) {
		struct tp_task_tree_task *task =
			tp_task_tree_fork(tree, FIRST_TID + i, FIRST_TID, i ? FIRST_TID : 0, 0);
		task->where = TP_TASK_TREE_BLOCKED;
	}
}

static void teardown(void)
{
	tp_perf_oncpu_release(&runs);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}

static struct tp_task_tree_task *task(int i)
{
	return tp_task_tree_find(tree, FIRST_TID + i);
}

static void in(int i, uint32_t cpu, uint64_t time_ns)
{
	tp_perf_oncpu_switch_in(&runs, task(i), cpu, time_ns);
	tp_perf_oncpu_seen(&runs, cpu, time_ns);
}

static void out(int i, uint32_t cpu, uint64_t time_ns, enum tp_run_end how)
{
	tp_perf_oncpu_switch_out(&runs, task(i), cpu, time_ns, how);
	tp_perf_oncpu_seen(&runs, cpu, time_ns);
}

static size_t put_runs(struct tp_run *list, size_t max)
{
	size_t n = sink.n_runs < max ? sink.n_runs : max;
	for (size_t i = 0; i < n; i++)
		list[i] = sink.runs[i];
	return n;
}

static void assert_run(const struct tp_run *run, int i, uint32_t cpu, uint64_t start_ns,
		       uint64_t end_ns, enum tp_run_end how)
{
	ck_assert_uint_eq(run->task, (uint32_t)i);
	ck_assert_uint_eq(run->cpu, cpu);
	ck_assert_uint_eq(run->start_ns, start_ns);
	ck_assert_uint_eq(run->end_ns, end_ns);
	ck_assert_int_eq(run->how, how);
}

START_TEST(stay_is_put_with_how_it_ended)
{
	static const enum tp_run_end ends[] = {TP_RUN_BLOCKED, TP_RUN_PREEMPTED, TP_RUN_EXITED};
	struct tp_run list[2];
	in(1, 2, 100);
	ck_assert_int_eq(task(1)->where, TP_TASK_TREE_ON_CPU);
	out(1, 2, 150, ends[_i]);
	ck_assert_uint_eq(put_runs(list, 2), 1);
	assert_run(&list[0], 1, 2, 100, 150, ends[_i]);
	ck_assert_int_eq(task(1)->where, ends[_i] == TP_RUN_PREEMPTED ? TP_TASK_TREE_PREEMPTED
								      : TP_TASK_TREE_BLOCKED);
	ck_assert_uint_eq(runs.n_unmatched, 0);
	ck_assert_uint_eq(task(1)->n_runs, 1);
}
END_TEST

START_TEST(lost_records_cut_the_stay_to_what_is_certain)
{
	struct tp_run list[4];
	in(1, 0, 100);
	tp_perf_oncpu_seen(&runs, 0, 130); /* a sample */
	ck_assert_uint_eq(tp_perf_oncpu_lost(&runs, 0, 500), 130);
	ck_assert_int_eq(task(1)->where, TP_TASK_TREE_UNKNOWN);
	out(2, 0, 520, TP_RUN_BLOCKED); /* got the CPU while records were lost */
	in(1, 1, 530);
	out(1, 1, 540, TP_RUN_BLOCKED);
	ck_assert_uint_eq(put_runs(list, 4), 3);
	assert_run(&list[0], 1, 0, 100, 130, TP_RUN_OPEN);
	assert_run(&list[1], 2, 0, 500, 520, TP_RUN_BLOCKED);
	assert_run(&list[2], 1, 1, 530, 540, TP_RUN_BLOCKED);
}
END_TEST

START_TEST(way_out_without_a_way_in_and_without_loss_invents_nothing)
{
	struct tp_run list[2];
	in(1, 0, 100);
	out(1, 0, 110, TP_RUN_BLOCKED);
	out(1, 1, 400, TP_RUN_BLOCKED);
	ck_assert_uint_eq(put_runs(list, 2), 1);
	ck_assert_uint_eq(runs.n_unmatched, 1);
}
END_TEST

START_TEST(records_of_a_migration_that_come_in_the_wrong_order_do_no_harm)
{
	struct tp_run list[4];
	in(1, 0, 100);
	tp_perf_oncpu_seen(&runs, 0, 119);
	in(1, 1, 130);
	out(1, 0, 120, TP_RUN_PREEMPTED); /* a late record */
	out(1, 1, 150, TP_RUN_BLOCKED);
	ck_assert_uint_eq(put_runs(list, 4), 2);
	assert_run(&list[0], 1, 0, 100, 119, TP_RUN_OPEN);
	assert_run(&list[1], 1, 1, 130, 150, TP_RUN_BLOCKED);
}
END_TEST

START_TEST(switching_off_ends_stays_and_switching_on_starts_anew)
{
	struct tp_run list[N_TASKS + 4];
	in(1, 0, 100);
	tp_perf_oncpu_disable(&runs, 200);
	ck_assert_uint_eq(put_runs(list, N_TASKS), N_TASKS);
	for (int i = 0; i < N_TASKS; i++) { /* tasks off the CPU are unknown now, too */
		ck_assert_uint_eq(list[i].start_ns, list[i].task == 1 ? 100 : 200);
		ck_assert_uint_eq(list[i].end_ns, 200);
		ck_assert_int_eq(list[i].how, TP_RUN_OPEN);
	}
	ck_assert_int_eq(task(1)->where, TP_TASK_TREE_UNKNOWN);
	ck_assert_int_eq(task(2)->where, TP_TASK_TREE_UNKNOWN);
	in(1, 0, 250);
	ck_assert_int_eq(task(1)->where, TP_TASK_TREE_UNKNOWN);
	tp_perf_oncpu_enable(&runs, 300);
	out(1, 0, 310, TP_RUN_BLOCKED); /* it was on the CPU when the records were switched on */
	ck_assert_uint_eq(put_runs(list, N_TASKS + 4), N_TASKS + 1);
	assert_run(&list[N_TASKS], 1, 0, 300, 310, TP_RUN_BLOCKED);
	tp_perf_oncpu_disable(&runs, 400); /* the state of the others is still unknown */
	ck_assert_uint_eq(put_runs(list, N_TASKS + 4), N_TASKS + 2);
	assert_run(&list[N_TASKS + 1], 1, 0, 400, 400, TP_RUN_OPEN);
}
END_TEST

START_TEST(cpu_numbers_beyond_the_machine_are_survived)
{
	struct tp_run list[2];
	in(1, 4000000000u, 100);
	out(1, 4000000000u, 150, TP_RUN_BLOCKED);
	ck_assert_uint_eq(put_runs(list, 2), 1);
}
END_TEST

/* The simulated scheduler: the true runs, and records, some of which one CPU may lose. */
struct played {
	int on[N_CPUS]; /* task, -1 = none */
	uint64_t since_ns[N_TASKS];
	struct tp_run truth[20000];
	size_t n_truth;
	uint32_t losing; /* CPU that loses records; N_CPUS = none */
	bool has_lost;
};

static void play_out(struct played *play, uint32_t cpu, uint64_t time_ns, enum tp_run_end how)
{
	int i = play->on[cpu];
	struct tp_run *run = &play->truth[play->n_truth++];
	*run = (struct tp_run){.task = (uint32_t)i, .cpu = cpu, .how = how, .end_ns = time_ns};
	run->start_ns = play->since_ns[i];
	play->on[cpu] = -1;
	if (play->losing == cpu)
		play->has_lost = true;
	else
		out(i, cpu, time_ns, how);
}

static void play_in(struct played *play, uint32_t cpu, int i, uint64_t time_ns)
{
	play->on[cpu] = i;
	play->since_ns[i] = time_ns;
	if (play->losing == cpu)
		play->has_lost = true;
	else
		in(i, cpu, time_ns);
}

static bool is_running(const struct played *play, int i)
{
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		if (play->on[cpu] == i)
			return true;
	return false;
}

static void play_loss(struct played *play, unsigned *seed, uint64_t time_ns)
{
	if (play->losing == N_CPUS) {
		play->losing = (uint32_t)rand_r(seed) % N_CPUS;
	} else {
		if (play->has_lost)
			tp_perf_oncpu_lost(&runs, play->losing, time_ns);
		play->losing = N_CPUS;
		play->has_lost = false;
	}
}

static void play(struct played *play, unsigned seed, bool loses)
{
	uint64_t time_ns = 10;
	play->losing = N_CPUS;
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		play->on[cpu] = -1;
	for (int step = 0; step < 10000; step++) {
		time_ns += 1 + (uint64_t)(rand_r(&seed) % 20);
		if (loses && rand_r(&seed) % 100 == 0)
			play_loss(play, &seed, time_ns++);
		uint32_t cpu = (uint32_t)rand_r(&seed) % N_CPUS;
		int next = rand_r(&seed) % N_TASKS;
		if (play->on[cpu] >= 0)
			play_out(play, cpu, time_ns,
				 rand_r(&seed) % 2 ? TP_RUN_BLOCKED : TP_RUN_PREEMPTED);
		else if (!is_running(play, next))
			play_in(play, cpu, next, time_ns);
	}
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		if (play->on[cpu] >= 0)
			play_out(play, cpu, ++time_ns, TP_RUN_BLOCKED);
}

static struct played played;
static struct tp_run list[20000];

START_TEST(without_loss_every_stay_is_exact)
{
	play(&played, (unsigned)_i + 1, false);
	size_t n = put_runs(list, 20000);
	ck_assert_uint_eq(n, played.n_truth);
	for (size_t i = 0; i < n; i++)
		assert_run(&list[i], (int)played.truth[i].task, played.truth[i].cpu,
			   played.truth[i].start_ns, played.truth[i].end_ns, played.truth[i].how);
	ck_assert_uint_eq(runs.n_unmatched, 0);
}
END_TEST

/* Returns true if one of the true runs contains this one. */
static bool is_true(const struct tp_run *run)
{
	for (size_t i = 0; i < played.n_truth; i++) {
		const struct tp_run *truth = &played.truth[i];
		if (truth->task == run->task && truth->cpu == run->cpu &&
		    truth->start_ns <= run->start_ns && run->end_ns <= truth->end_ns)
			return true;
	}
	return false;
}

START_TEST(with_loss_no_stay_is_invented_and_most_are_kept)
{
	play(&played, (unsigned)_i + 100, true);
	size_t n = put_runs(list, 20000);
	uint64_t put_ns = 0;
	uint64_t true_ns = 0;
	for (size_t i = 0; i < n; i++) {
		ck_assert(is_true(&list[i]));
		put_ns += list[i].end_ns - list[i].start_ns;
	}
	for (size_t i = 0; i < played.n_truth; i++)
		true_ns += played.truth[i].end_ns - played.truth[i].start_ns;
	ck_assert_uint_lt(put_ns, true_ns);
	ck_assert_double_gt((double)put_ns / (double)true_ns, 0.75); /* 1 of 6 records is lost */
}
END_TEST

Suite *suite_collect_perf_oncpu(void);
Suite *suite_collect_perf_oncpu(void)
{
	Suite *suite = suite_create("collect/perf_runs");
	TCase *tc = tcase_create("perf_runs");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, stay_is_put_with_how_it_ended, 0, 3);
	tcase_add_test(tc, lost_records_cut_the_stay_to_what_is_certain);
	tcase_add_test(tc, way_out_without_a_way_in_and_without_loss_invents_nothing);
	tcase_add_test(tc, records_of_a_migration_that_come_in_the_wrong_order_do_no_harm);
	tcase_add_test(tc, switching_off_ends_stays_and_switching_on_starts_anew);
	tcase_add_test(tc, cpu_numbers_beyond_the_machine_are_survived);
	tcase_add_loop_test(tc, without_loss_every_stay_is_exact, 0, 5);
	tcase_add_loop_test(tc, with_loss_no_stay_is_invented_and_most_are_kept, 0, 5);
	suite_add_tcase(suite, tc);
	return suite;
}
