/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of setting breakpoints, with a test double of the kernel. */
#include "collect/watch/watch_list.h"

#include "collect/watchdouble.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>

enum { TID = 100000001 };

static struct tp_host host;
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;
static struct tp_watch_list list;
static size_t n_hits;
static enum tp_watch_end ended; /* how the last watch that ended has ended */

static void setup(void)
{
	watchdouble_reset();
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	tp_task_tree_fork(tree, TID, TID, 0, 0);
	/* 10 us per hit, 0.1 % of the time: 100 hits per second */
	tp_watch_list_init(&list, tree, &watchdouble_system, 10000, 0.001);
	n_hits = 0;
	ended = TP_WATCH_OPEN;
}

static void teardown(void)
{
	tp_watch_list_release(&list);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}

static void on_hit(void *context, const struct tp_watch *watch, uint64_t time_ns, uint64_t number)
{
	(void)context;
	(void)time_ns;
	n_hits += number > 0;
	if (number == 0)
		ended = watch->end;
}

static struct tp_watch *open_at(uint64_t address)
{
	const struct tp_breakpoint_place place = {.tid = TID, .address = address, .len = 8};
	return tp_watch_list_open(&list, tp_task_tree_find(tree, TID), &place, 0, on_hit, NULL);
}

static void hit(uint64_t address, size_t n, uint64_t period_ns)
{
	for (size_t i = 0; i < n; i++)
		watchdouble_hit(address, TP_NS_PER_S + i * period_ns);
	tp_watch_list_drain(&list);
}

START_TEST(two_registers_of_a_thread_are_left_to_debuggers)
{
	ck_assert_ptr_nonnull(open_at(0x5000));
	ck_assert_ptr_nonnull(open_at(0x5008));
	ck_assert_ptr_null(open_at(0x5010));
	ck_assert_int_eq(list.failure, 0);
	ck_assert_uint_eq(watchdouble_n_opens, 2);
}
END_TEST

START_TEST(one_that_costs_little_stays)
{
	ck_assert_ptr_nonnull(open_at(0x5000));
	hit(0x5000, 200, 11 * TP_NS_PER_MS);
	ck_assert_uint_eq(n_hits, 200);
	ck_assert_int_eq(ended, TP_WATCH_OPEN);
	ck_assert_double_eq_tol(tp_watch_list_rate_max_hz(&list), 100, 1e-9);
}
END_TEST

START_TEST(one_that_costs_too_much_is_taken_down)
{
	ck_assert_ptr_nonnull(open_at(0x5000));
	hit(0x5000, TP_WATCH_RATE_HITS, 9 * TP_NS_PER_MS);
	ck_assert_int_eq(ended, TP_WATCH_TOO_FAST);
	ck_assert_ptr_null(watchdouble_at(0x5000));
	ck_assert_uint_eq(list.n_too_fast, 1);
}
END_TEST

START_TEST(hits_that_were_lost_came_too_fast)
{
	ck_assert_ptr_nonnull(open_at(0x5000));
	watchdouble_hit(0x5000, TP_NS_PER_S);
	watchdouble_lose(0x5000, TP_NS_PER_S + 1, 1000);
	tp_watch_list_drain(&list);
	ck_assert_int_eq(ended, TP_WATCH_TOO_FAST);
	ck_assert_uint_eq(list.n_lost, 1000);
}
END_TEST

START_TEST(a_thread_that_ends_takes_its_breakpoint_with_it)
{
	ck_assert_ptr_nonnull(open_at(0x5000));
	watchdouble_hit(0x5000, TP_NS_PER_S);
	tp_task_tree_exit(tree, TID, 2 * TP_NS_PER_S);
	tp_watch_list_drain(&list);
	ck_assert_uint_eq(n_hits, 1);
	ck_assert_int_eq(ended, TP_WATCH_ENDED);
}
END_TEST

START_TEST(a_program_that_calls_exec_is_another_one)
{
	ck_assert_ptr_nonnull(open_at(0x5000));
	tp_task_tree_exec(tree, TID, 2 * TP_NS_PER_S);
	tp_watch_list_drain(&list);
	ck_assert_int_eq(ended, TP_WATCH_ENDED);
	ck_assert_ptr_null(watchdouble_at(0x5000));
}
END_TEST

START_TEST(a_number_given_to_another_thread_is_not_the_same)
{
	ck_assert_ptr_nonnull(open_at(0x5000));
	tp_task_tree_fork(tree, TID, TID, 0, 3 * TP_NS_PER_S);
	tp_watch_list_drain(&list);
	ck_assert_int_eq(ended, TP_WATCH_ENDED);
}
END_TEST

START_TEST(whoever_closes_one_gets_the_last_hits)
{
	struct tp_watch *watch = open_at(0x5000);
	watchdouble_hit(0x5000, TP_NS_PER_S);
	tp_watch_list_close(&list, watch);
	ck_assert_uint_eq(n_hits, 1);
	ck_assert_int_eq(ended, TP_WATCH_CLOSED);
	ck_assert_ptr_nonnull(open_at(0x5000));
}
END_TEST

START_TEST(taken_registers_are_a_failure_and_no_crash)
{
	watchdouble_failure = ENOSPC;
	ck_assert_ptr_null(open_at(0x5000));
	ck_assert_int_eq(list.failure, ENOSPC);
	tp_watch_list_drain(&list);
	ck_assert_uint_eq(list.n_opened, 0);
}
END_TEST

Suite *suite_collect_watch_list(void);
Suite *suite_collect_watch_list(void)
{
	Suite *suite = suite_create("collect/watch_list");
	TCase *tc = tcase_create("watch_list");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, two_registers_of_a_thread_are_left_to_debuggers);
	tcase_add_test(tc, one_that_costs_little_stays);
	tcase_add_test(tc, one_that_costs_too_much_is_taken_down);
	tcase_add_test(tc, hits_that_were_lost_came_too_fast);
	tcase_add_test(tc, a_thread_that_ends_takes_its_breakpoint_with_it);
	tcase_add_test(tc, a_program_that_calls_exec_is_another_one);
	tcase_add_test(tc, a_number_given_to_another_thread_is_not_the_same);
	tcase_add_test(tc, whoever_closes_one_gets_the_last_hits);
	tcase_add_test(tc, taken_registers_are_a_failure_and_no_crash);
	suite_add_tcase(suite, tc);
	return suite;
}
