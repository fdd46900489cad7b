/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which thread is pinned, on this thread; test_sampler.c shows that a pin helps. */
#include "collect/perf/perf_pin.h"

#include "collect/lacks_perf.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <unistd.h>

static struct tp_host host;
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;
static struct tp_perf_pins pins;
static uint64_t now_ns;

static void setup(void)
{
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	tp_task_tree_fork(tree, getpid(), getpid(), 0, 0);
	pins = (struct tp_perf_pins){0};
	now_ns = TP_NS_PER_S;
}

static void teardown(void)
{
	tp_perf_pins_release(&pins);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}

static void live_a_second(uint64_t n_births, uint64_t n_switches)
{
	struct tp_task_tree_task *task = tp_task_tree_find(tree, getpid());
	task->n_births += n_births;
	task->n_runs += n_switches;
	now_ns += TP_NS_PER_S;
	tp_perf_pins_update(&pins, tree, now_ns);
}

START_TEST(births_of_one_second_are_no_reason)
{
	live_a_second(16, 100);
	for (int i = 0; i < 10; i++)
		live_a_second(0, 100);
	ck_assert_uint_eq(pins.n_open, 0);
}
END_TEST

START_TEST(who_makes_children_all_the_time_is_pinned_until_it_stops)
{
	if (lacks_perf())
		return;
	live_a_second(5, 100);
	live_a_second(5, 100);
	ck_assert_uint_eq(pins.n_open, 1);
	for (int i = 0; i < 20; i++)
		live_a_second(5, 100);
	ck_assert_uint_eq(pins.n_open, 1);
	for (int i = 0; i < 10; i++)
		live_a_second(0, 100);
	ck_assert_uint_eq(pins.n_open, 0);
}
END_TEST

START_TEST(who_switches_often_is_not_pinned)
{
	if (lacks_perf())
		return;
	for (int i = 0; i < 10; i++)
		live_a_second(5, 50000);
	ck_assert_uint_eq(pins.n_open, 0);
	for (int i = 0; i < 3; i++)
		live_a_second(5, 100);
	ck_assert_uint_eq(pins.n_open, 1);
	live_a_second(5, 50000);
	ck_assert_uint_eq(pins.n_open, 0);
}
END_TEST

START_TEST(threads_that_end_and_releases_leave_no_pin)
{
	if (lacks_perf())
		return;
	live_a_second(5, 100);
	live_a_second(5, 100);
	ck_assert_uint_eq(pins.n_open, 1);
	tp_perf_pins_release(&pins);
	ck_assert_uint_eq(pins.n_open, 0);
	live_a_second(5, 100);
	live_a_second(5, 100);
	ck_assert_uint_eq(pins.n_open, 1);
	tp_task_tree_exit(tree, getpid(), now_ns);
	now_ns += TP_NS_PER_S;
	tp_perf_pins_update(&pins, tree, now_ns);
	ck_assert_uint_eq(pins.n_open, 0);
}
END_TEST

Suite *suite_collect_perf_pin(void);
Suite *suite_collect_perf_pin(void)
{
	Suite *suite = suite_create("collect/perf_pins");
	TCase *tcase = tcase_create("perf_pins");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, births_of_one_second_are_no_reason);
	tcase_add_test(tcase, who_makes_children_all_the_time_is_pinned_until_it_stops);
	tcase_add_test(tcase, who_switches_often_is_not_pinned);
	tcase_add_test(tcase, threads_that_end_and_releases_leave_no_pin);
	suite_add_tcase(suite, tcase);
	return suite;
}
