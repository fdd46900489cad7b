/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which counters are watched, with a test double of the kernel's breakpoints. */
#include "collect/watch/counter_watch.h"

#include "collect/watchdouble.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>

enum { TID = 100000001, MAX_VARIABLES = 4, LOOK_MS = 10 };

/* A variable of the program as polls find it. */
struct variable {
	uint64_t address;
	bool is_gone;
	double period_ms; /* length of a round; 0 = it does not count */
	uint64_t turns;   /* restarts after so many rounds; 0 = never */
	uint64_t step;    /* increment */
	bool jumps;       /* each increment is another one */
	uint64_t told;
};

static struct tp_host host;
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;
static struct tp_watch_list list;
static struct tp_counter_watch watch;
static struct variable variables[MAX_VARIABLES];
static size_t n_variables;
static uint64_t now_ns;

static void setup(void)
{
	watchdouble_reset();
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	tp_task_tree_fork(tree, TID, TID, 0, 0);
	tp_watch_list_init(&list, tree, &watchdouble_system, 10000, 0.001);
	tp_counter_watch_init(&watch, &list, &sink.sink);
	n_variables = 0;
	now_ns = TP_NS_PER_S;
}

static void teardown(void)
{
	tp_counter_watch_release(&watch);
	tp_watch_list_release(&list);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}

static struct variable *add(uint64_t address, double period_ms)
{
	variables[n_variables] = (struct variable){.address = address,
						   .period_ms = period_ms,
						   .step = 1,
						   .told = UINT64_MAX};
	return &variables[n_variables++];
}

static bool is_at(const void *context, const struct tp_task_tree_task *task, uint64_t address)
{
	(void)context;
	(void)task;
	for (size_t i = 0; i < n_variables; i++)
		if (variables[i].address == address && !variables[i].is_gone)
			return true;
	return false;
}

static uint64_t value_of(const struct variable *it)
{
	uint64_t n = (uint64_t)((double)now_ns / 1e6 / it->period_ms) * it->step;
	if (it->jumps)
		return n * n;
	return it->turns ? n % it->turns : n;
}

static void look(void)
{
	struct tp_python_counter counters[MAX_VARIABLES];
	uint32_t names[MAX_VARIABLES];
	size_t n = 0;
	for (size_t i = 0; i < n_variables; i++) {
		struct variable *it = &variables[i];
		if (it->is_gone || it->period_ms == 0 || value_of(it) == it->told)
			continue;
		char name[48];
		snprintf(name, sizeof(name), "train.py:1 main() #%zu", i);
		names[n] = tp_sink_string(&sink.sink, name);
		it->told = value_of(it);
		counters[n++] = (struct tp_python_counter){.value = it->told,
							   .address = it->address,
							   .width = 8,
							   .is_object = true};
	}
	tp_counter_watch_update(&watch, tp_task_tree_find(tree, TID), counters, names, n, now_ns,
				is_at, NULL);
}

static void live(double seconds)
{
	for (int i = 0; i < (int)(seconds * 1000 / LOOK_MS); i++) {
		now_ns += LOOK_MS * TP_NS_PER_MS;
		look();
	}
}

static size_t n_watched(void)
{
	size_t n = 0;
	for (int i = 0; i < WATCHDOUBLE_REGISTERS; i++)
		n += watchdouble[i].is_taken;
	return n;
}

START_TEST(a_counter_is_watched_once_it_has_counted)
{
	add(0x5000, 20);
	live(0.2);
	ck_assert_uint_eq(n_watched(), 0);
	live(0.5);
	ck_assert_ptr_nonnull(watchdouble_at(0x5000));
	ck_assert_uint_eq(watchdouble_at(0x5000)->attr.bp_len, 8);
}
END_TEST

START_TEST(each_write_is_put_with_the_counters_name)
{
	add(0x5000, 20);
	live(1);
	size_t before = sink.n_records;
	for (uint64_t i = 0; i < 3; i++)
		watchdouble_hit(0x5000, now_ns + i);
	tp_watch_list_drain(&list);
	ck_assert_uint_eq(sink.n_records, before + 3);
	const struct tp_mark *mark = &sink.records[sink.n_records - 1].of.mark;
	ck_assert_int_eq(mark->kind, TP_MARK_WRITE);
	ck_assert_uint_eq(mark->name, tp_sink_string(&sink.sink, "train.py:1 main() #0"));
	ck_assert_uint_eq(mark->time_ns, now_ns + 2);
	ck_assert_uint_eq(mark->value, 3);
	ck_assert_uint_eq(mark->task, tp_task_tree_find(tree, TID)->info.id);
}
END_TEST

START_TEST(one_that_counts_too_fast_is_not)
{
	add(0x5000, 9); /* 111 per second, and 100 are allowed */
	live(3);
	ck_assert_uint_eq(watchdouble_n_opens, 0);
}
END_TEST

START_TEST(what_jumps_or_hardly_moves_is_not)
{
	add(0x5000, 20)->jumps = true;
	add(0x5008, 20)->turns = 3; /* its values are 0, 2, 1, 0, 2, 1 */
	variables[1].step = 2;
	add(0x5010, 8000);
	live(3);
	ck_assert_uint_eq(watchdouble_n_opens, 0);
}
END_TEST

START_TEST(one_that_grows_by_the_size_of_a_batch_is)
{
	add(0x5000, 20)->step = 64;
	live(1);
	ck_assert_ptr_nonnull(watchdouble_at(0x5000));
}
END_TEST

START_TEST(of_several_the_slower_ones_are)
{
	add(0x5000, 25);
	add(0x5008, 50);
	add(0x5010, 110);
	live(3);
	ck_assert_uint_eq(n_watched(), TP_WATCHES_PER_THREAD);
	ck_assert_ptr_nonnull(watchdouble_at(0x5010));
}
END_TEST

START_TEST(of_two_that_count_the_same_one_is)
{
	add(0x5000, 50);
	add(0x5008, 50);
	live(3);
	ck_assert_uint_eq(n_watched(), 1);
}
END_TEST

START_TEST(a_frame_that_was_left_is_not_watched_any_more)
{
	struct variable *it = add(0x5000, 20);
	live(1);
	ck_assert_uint_eq(n_watched(), 1);
	it->is_gone = true;
	live(0.045);
	ck_assert_uint_eq(n_watched(), 0);
}
END_TEST

START_TEST(a_dictionary_that_grew_takes_its_watch_with_it)
{
	struct variable *it = add(0x5000, 20);
	live(1);
	it->address = 0x9000;
	live(0.045); /* the next value is found at another address */
	ck_assert_ptr_null(watchdouble_at(0x5000));
	live(0.5);
	ck_assert_ptr_nonnull(watchdouble_at(0x9000));
}
END_TEST

START_TEST(a_counter_that_begins_anew_stays)
{
	add(0x5000, 20)->turns = 25;
	live(3);
	ck_assert_uint_eq(watchdouble_n_opens, 1);
	ck_assert_uint_eq(n_watched(), 1);
}
END_TEST

START_TEST(one_that_was_too_fast_is_not_watched_again)
{
	add(0x5000, 20);
	live(1);
	for (uint64_t i = 0; i < TP_WATCH_RATE_HITS; i++)
		watchdouble_hit(0x5000, now_ns + i);
	tp_watch_list_drain(&list);
	ck_assert_uint_eq(n_watched(), 0);
	live(3);
	ck_assert_uint_eq(watchdouble_n_opens, 1);
}
END_TEST

START_TEST(taken_registers_are_asked_for_seldom)
{
	watchdouble_failure = ENOSPC;
	add(0x5000, 20);
	live(4);
	ck_assert_uint_eq(watchdouble_n_opens, 1);
	watchdouble_failure = 0;
	live(6);
	ck_assert_uint_eq(n_watched(), 1);
}
END_TEST

START_TEST(a_counter_whose_place_is_unknown_is_only_read)
{
	add(0, 20);
	live(3);
	ck_assert_uint_eq(watchdouble_n_opens, 0);
}
END_TEST

Suite *suite_collect_counter_watch(void);
Suite *suite_collect_counter_watch(void)
{
	Suite *suite = suite_create("collect/counter_watch");
	TCase *tc = tcase_create("counter_watch");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_counter_is_watched_once_it_has_counted);
	tcase_add_test(tc, each_write_is_put_with_the_counters_name);
	tcase_add_test(tc, one_that_counts_too_fast_is_not);
	tcase_add_test(tc, what_jumps_or_hardly_moves_is_not);
	tcase_add_test(tc, one_that_grows_by_the_size_of_a_batch_is);
	tcase_add_test(tc, of_several_the_slower_ones_are);
	tcase_add_test(tc, of_two_that_count_the_same_one_is);
	tcase_add_test(tc, a_frame_that_was_left_is_not_watched_any_more);
	tcase_add_test(tc, a_dictionary_that_grew_takes_its_watch_with_it);
	tcase_add_test(tc, a_counter_that_begins_anew_stays);
	tcase_add_test(tc, one_that_was_too_fast_is_not_watched_again);
	tcase_add_test(tc, taken_registers_are_asked_for_seldom);
	tcase_add_test(tc, a_counter_whose_place_is_unknown_is_only_read);
	suite_add_tcase(suite, tc);
	return suite;
}
