/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of dispatching perf records: the life of threads in records, and what reaches the sink. */
#include "collect/perf/perf_dispatch.h"
#include "collect/perf_bytes.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct tp_perf_layout layout = {.has_chain = true, .has_stack = true};
static struct tp_host host = {.root = "/nonexistent"};
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;
static struct tp_perf_dispatch feed;

static void setup(void)
{
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	tp_perf_dispatch_init(&feed, &host, tree, &sink.sink, &layout, 4);
	tp_task_tree_fork(tree, 10, 10, 0, 1);
	tp_perf_oncpu_enable(&feed.runs, 1);
}

static struct tp_map listeners;
static uint64_t event; /* event ID of the records, if they have one */

/* Attaches to threads 10 and 12, which have the events 100 and 120. */
static void attach(void)
{
	feed.layout.has_event = true;
	feed.listeners = &listeners;
	tp_map_set(&listeners, 100, 10);
	tp_map_set(&listeners, 120, 12);
	tp_task_tree_fork(tree, 12, 10, 10, 1)->listens_to = 12;
	tp_task_tree_find(tree, 10)->listens_to = 10;
}

static void put_own_id(uint32_t pid, uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
	if (feed.layout.has_event)
		put_event_id(pid, tid, time_ns, event, cpu);
	else
		put_id(pid, tid, time_ns, cpu);
}

static void teardown(void)
{
	tp_map_release(&listeners);
	listeners = (struct tp_map){0};
	tp_perf_dispatch_release(&feed);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}

static void feed_it(void)
{
	seal();
	tp_perf_dispatch_record(&feed, record.data, record.size);
}

static void feed_switch(bool is_out, uint32_t tid, uint32_t cpu, uint64_t time_ns)
{
	begin(PERF_RECORD_SWITCH, is_out ? PERF_RECORD_MISC_SWITCH_OUT : 0);
	put_own_id(10, tid, time_ns, cpu);
	feed_it();
}

static void feed_task(uint32_t type, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		      uint64_t time_ns)
{
	begin(type, 0);
	put_u32(pid);
	put_u32(ppid);
	put_u32(tid);
	put_u32(ptid);
	put_u64(time_ns);
	put_own_id(type == PERF_RECORD_FORK ? ppid : pid, type == PERF_RECORD_FORK ? ptid : tid,
		   time_ns, 0);
	feed_it();
}

static void feed_comm(uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	begin(PERF_RECORD_COMM, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	put_u32(pid);
	put_u32(tid);
	put_text(name);
	put_own_id(pid, tid, time_ns, 0);
	feed_it();
}

static void feed_lost(uint64_t n, uint32_t cpu, uint64_t time_ns)
{
	begin(PERF_RECORD_LOST, 0);
	put_u64(1);
	put_u64(n);
	put_own_id(10, 10, time_ns, cpu);
	feed_it();
}

static void feed_sample(uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(0x401000);
	put_own_id(pid, tid, time_ns, 1);
	put_u64(0);
	put_u64(PERF_SAMPLE_REGS_ABI_64);
	for (int i = 0; i < __builtin_popcountll(tp_perf_user_regs()); i++)
		put_u64(0x401000);
	put_u64(64);
	for (int i = 0; i < 8; i++)
		put_u64(0);
	put_u64(64);
	feed_it();
}

static const struct tp_record *nth(enum tp_record_kind kind, size_t n)
{
	for (size_t i = 0; i < sink.n_records; i++)
		if (sink.records[i].kind == kind && n-- == 0)
			return &sink.records[i];
	return NULL;
}

static const struct tp_sample *nth_sample(size_t n)
{
	return n < sink.n_samples ? &sink.samples[n] : NULL;
}

static const struct tp_run *nth_run(size_t n)
{
	return n < sink.n_runs ? &sink.runs[n] : NULL;
}

START_TEST(life_of_a_thread_becomes_task_and_stays)
{
	feed_task(PERF_RECORD_FORK, 10, 11, 10, 10, 100);
	ck_assert_int_eq(tp_task_tree_find(tree, 11)->where, TP_TASK_TREE_PREEMPTED);
	feed_switch(false, 11, 0, 110);
	feed_comm(10, 11, "loader", false, 115);
	feed_switch(true, 11, 0, 120);
	feed_switch(false, 11, 0, 130);
	feed_task(PERF_RECORD_EXIT, 10, 11, 10, 10, 150);
	ck_assert_ptr_null(tp_task_tree_find(tree, 11));
	const struct tp_run *first = nth_run(0);
	ck_assert_uint_eq(first->start_ns, 110);
	ck_assert_uint_eq(first->end_ns, 120);
	ck_assert_int_eq(first->how, TP_RUN_BLOCKED);
	const struct tp_run *second = nth_run(1);
	ck_assert_uint_eq(second->start_ns, 130);
	ck_assert_uint_eq(second->task, 1);
	ck_assert_ptr_null(nth_run(2));
}
END_TEST

enum { AHEAD_BYTES = 4096 };

static struct perf_event_mmap_page page;
static _Alignas(8) uint8_t ring_bytes[AHEAD_BYTES];

/* Like feed_switch(), but the record waits in a ring. */
static void write_switch(uint16_t misc, uint32_t tid, uint64_t time_ns)
{
	begin(PERF_RECORD_SWITCH, misc);
	put_own_id(10, tid, time_ns, 0);
	seal();
	memcpy(ring_bytes + page.data_head, record.data, record.size);
	page.data_head += record.size;
}

START_TEST(switches_that_are_not_taken_yet_tell_where_a_thread_is_now)
{
	struct tp_perf_ring ring;
	memset(&page, 0, sizeof(page));
	tp_perf_ring_init(&ring, &page, ring_bytes, AHEAD_BYTES);
	const struct tp_task_tree_task *task = tp_task_tree_find(tree, 10);
	feed_switch(false, 10, 0, 100);
	ck_assert_int_eq(tp_task_tree_current(task), TP_TASK_TREE_ON_CPU);
	write_switch(PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 10, 110);
	write_switch(0, 77, 111); /* unknown: its fork record may come later */
	tp_perf_dispatch_peek(&feed, &ring, 1);
	ck_assert_int_eq(tp_task_tree_current(task), TP_TASK_TREE_PREEMPTED);
	ck_assert_int_eq(task->where, TP_TASK_TREE_ON_CPU);
	ck_assert_ptr_null(tp_task_tree_find(tree, 77));
	write_switch(0, 10, 120);
	write_switch(PERF_RECORD_MISC_SWITCH_OUT, 10, 130);
	tp_perf_dispatch_peek(&feed, &ring, 1);
	ck_assert_int_eq(tp_task_tree_current(task), TP_TASK_TREE_BLOCKED);
	/* These records were dispatched meanwhile, and a younger one too. */
	feed_switch(true, 10, 0, 130);
	feed_switch(false, 10, 0, 140);
	ck_assert_int_eq(tp_task_tree_current(task), TP_TASK_TREE_ON_CPU);
	tp_perf_oncpu_disable(&feed.runs, 150);
	write_switch(PERF_RECORD_MISC_SWITCH_OUT, 10, 160);
	tp_perf_dispatch_peek(&feed, &ring, 1);
	ck_assert_int_eq(tp_task_tree_current(task), TP_TASK_TREE_UNKNOWN);
	tp_perf_ring_unmap(&ring);
}
END_TEST

START_TEST(exec_begins_a_stay_and_ends_the_threads)
{
	feed_comm(10, 10, "train", true, 100);
	ck_assert_int_eq(tp_task_tree_find(tree, 10)->where, TP_TASK_TREE_ON_CPU);
	feed_task(PERF_RECORD_FORK, 10, 11, 10, 10, 110);
	feed_switch(false, 11, 3, 120);
	feed_comm(10, 10, "other", true, 130);
	ck_assert_ptr_null(tp_task_tree_find(tree, 11));
	ck_assert_str_eq(tp_strtab_text(&sink.sink.strings, tp_task_tree_find(tree, 10)->info.comm),
			 "other");
	const struct tp_run *cut = nth_run(0); /* of thread 11 */
	ck_assert_uint_eq(cut->task, 1);
	ck_assert_int_eq(cut->how, TP_RUN_OPEN);
	ck_assert_uint_eq(cut->end_ns, 130);
}
END_TEST

START_TEST(record_of_an_unknown_thread_gives_birth_to_it_and_to_doubt)
{
	feed_switch(false, 77, 0, 100);
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, 77));
	ck_assert_int_eq(tp_task_tree_find(tree, 77)->info.pid, 10);
	feed_switch(false, 0, 1, 100); /* the idle task is ignored */
	ck_assert_uint_eq(tp_task_tree_alive(tree), 2);
}
END_TEST

START_TEST(tid_in_another_process_is_another_thread)
{
	feed_task(PERF_RECORD_FORK, 10, 11, 10, 10, 100);
	uint32_t id = tp_task_tree_find(tree, 11)->info.id;
	feed_sample(11, 11, 200); /* its end and its second creation were lost */
	ck_assert_uint_ne(tp_task_tree_find(tree, 11)->info.id, id);
}
END_TEST

START_TEST(sample_goes_to_its_task_with_a_stack)
{
	feed_sample(10, 10, 100);
	const struct tp_sample *sample = nth_sample(0);
	ck_assert_uint_eq(sample->task, 0);
	ck_assert_uint_eq(sample->time_ns, 100);
	ck_assert_uint_eq(sample->cpu, 1);
	ck_assert_int_eq(sample->state, TP_STATE_ON_CPU);
	ck_assert_uint_ne(sample->stack, 0);
	feed.is_paused = true;
	feed_sample(10, 10, 110);
	ck_assert_ptr_null(nth_sample(1));
}
END_TEST

START_TEST(sample_of_one_that_leaves_is_no_sample_among_others)
{
	struct tp_map leaves = {0};
	feed.layout.has_event = true;
	feed.leaves = &leaves;
	tp_map_set(&leaves, 7, 10);
	tp_task_tree_fork(tree, 12, 10, 10, 1);
	event = 7;
	feed_sample(10, 10, 100);
	feed_sample(10, 12, 101); /* not a first thread */
	tp_task_tree_find(tree, 10)->followed_ns = 1;
	feed_sample(10, 10, 102); /* its Python frames would be missing */
	tp_task_tree_find(tree, 10)->followed_ns = 0;
	event = 8;
	feed_sample(10, 10, 103);
	event = 0;
	const struct tp_sample *leaving = nth_sample(0);
	ck_assert_uint_eq(leaving->time_ns, 100);
	ck_assert(leaving->flags & TP_SAMPLE_SWITCH_OUT);
	const struct tp_sample *other = nth_sample(1);
	ck_assert_uint_eq(other->time_ns, 103);
	ck_assert(!(other->flags & TP_SAMPLE_SWITCH_OUT));
	ck_assert_ptr_null(nth_sample(2));
	ck_assert_uint_eq(feed.n_samples, 1);
	ck_assert_uint_eq(feed.n_leavings, 3); /* unused samples cost time as well */
	tp_map_release(&leaves);
}
END_TEST

START_TEST(dropped_stacks_are_counted_and_their_samples_kept)
{
	feed.drops_stacks = true;
	for (uint64_t i = 0; i < 5; i++)
		feed_sample(10, 10, 100 + i);
	tp_perf_dispatch_flush(&feed, 200, false);
	ck_assert_ptr_nonnull(nth_sample(4));
	const struct tp_gap *gap = &nth(TP_RECORD_GAP, 0)->of.gap;
	ck_assert_uint_eq(gap->n_lost, 5);
	ck_assert_uint_eq(gap->start_ns, 100);
	ck_assert_uint_eq(gap->end_ns, 104);
	ck_assert_uint_eq(feed.stacks.n_skipped, 5);
}
END_TEST

START_TEST(thinning_unwinds_one_of_so_many)
{
	feed.keep_one_in = 4;
	for (uint64_t i = 0; i < 40; i++)
		feed_sample(10, 10, 100 + i);
	ck_assert_uint_eq(feed.stacks.n_skipped, 30);
	ck_assert_ptr_nonnull(nth_sample(39));
}
END_TEST

START_TEST(losses_of_a_second_are_one_gap)
{
	feed_switch(false, 10, 0, 100);
	feed_lost(7, 0, 200);
	feed_switch(true, 10, 0, 210);
	feed_lost(8, 0, 300);
	tp_perf_dispatch_flush(&feed, 400, false);
	tp_perf_dispatch_flush(&feed, 500, false);
	const struct tp_gap *gap = &nth(TP_RECORD_GAP, 0)->of.gap;
	ck_assert_uint_eq(gap->start_ns, 100);
	ck_assert_uint_eq(gap->end_ns, 300);
	ck_assert_uint_eq(gap->n_lost, 15);
	ck_assert_ptr_null(nth(TP_RECORD_GAP, 1));
	ck_assert_uint_eq(feed.n_lost, 15);
	/* Known for certain: 10 was on its CPU at 100, its state is unknown then, and after the
	 * loss it was on the CPU until 210. */
	ck_assert_uint_eq(nth_run(0)->start_ns, 100);
	ck_assert_uint_eq(nth_run(0)->end_ns, 100);
	ck_assert_int_eq(nth_run(0)->how, TP_RUN_OPEN);
	ck_assert_uint_eq(nth_run(1)->start_ns, 200);
	ck_assert_uint_eq(nth_run(1)->end_ns, 210);
}
END_TEST

START_TEST(process_that_outlives_its_events_is_no_end_but_a_gap)
{
	struct tp_host live = {.root = "", .is_live = true};
	feed.host = &live;
	uint32_t pid = (uint32_t)getppid(); /* certainly alive */
	feed_task(PERF_RECORD_FORK, pid, pid, 10, 10, 100);
	feed_comm(pid, pid, "sudo", true, 110);
	feed_task(PERF_RECORD_EXIT, pid, pid, 10, 10, 120);
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, (pid_t)pid));
	tp_perf_dispatch_flush(&feed, TP_NS_PER_S, false);
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, (pid_t)pid));
	tp_perf_dispatch_flush(&feed, 2 * TP_NS_PER_S, true);
	const struct tp_gap *gap = &nth(TP_RECORD_GAP, 0)->of.gap;
	ck_assert_uint_eq(gap->start_ns, 120);
	ck_assert_uint_eq(gap->end_ns, 2 * TP_NS_PER_S);
	ck_assert_str_eq(tp_strtab_text(&sink.sink.strings, gap->reason),
			 "sudo runs with other rights: the kernel took the events away");
}
END_TEST

START_TEST(nonsense_is_counted_and_survived)
{
	unsigned seed = 7;
	for (int i = 0; i < 20000; i++) {
		begin((uint32_t)(rand_r(&seed) % 20), (uint16_t)rand_r(&seed));
		size_t n = 1 + (size_t)(rand_r(&seed) % 30);
		for (size_t k = 0; k < n; k++)
			put_u64(rand_r(&seed) % 3 ? (uint64_t)(rand_r(&seed) % 50)
						  : (uint64_t)rand_r(&seed) << 33);
		feed_it();
	}
	tp_perf_dispatch_flush(&feed, 100, true);
	ck_assert_uint_gt(feed.n_bad, 0);
}
END_TEST

/* Thread 12 inherited a copy of 10's events before it got its own. */
START_TEST(thread_with_two_sets_of_events_is_heard_once)
{
	attach();
	event = 100;
	feed_sample(10, 12, 50);
	feed_switch(false, 12, 0, 60);
	ck_assert_ptr_null(nth_sample(0));
	event = 120;
	feed_sample(10, 12, 51);
	feed_switch(false, 12, 0, 61);
	feed_switch(true, 12, 0, 80);
	ck_assert_uint_eq(nth_sample(0)->time_ns, 51);
	ck_assert_uint_eq(nth_run(0)->start_ns, 61);
	ck_assert_uint_eq(feed.n_unheard, 2);
}
END_TEST

START_TEST(children_are_heard_as_their_creator_is)
{
	attach();
	event = 120;
	feed_task(PERF_RECORD_FORK, 10, 13, 10, 12, 100);
	event = 100;
	feed_task(PERF_RECORD_FORK, 10, 13, 10, 12, 101);
	ck_assert_int_eq(tp_task_tree_find(tree, 13)->listens_to, 12);
	ck_assert_uint_eq(tp_task_tree_find(tree, 13)->info.start_ns, 100);
	feed_sample(10, 13, 110);
	ck_assert_ptr_null(nth_sample(0));
	event = 120;
	feed_sample(10, 13, 111);
	ck_assert_ptr_nonnull(nth_sample(0));
	event = 100;
	feed_task(PERF_RECORD_EXIT, 10, 13, 10, 12, 120);
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, 13));
	event = 120;
	feed_task(PERF_RECORD_EXIT, 10, 13, 10, 12, 121);
	ck_assert_ptr_null(tp_task_tree_find(tree, 13));
}
END_TEST

START_TEST(child_told_of_by_half_a_set_of_events_is_left_to_be_joined)
{
	attach();
	feed.is_joining = true;
	event = 100;
	feed_task(PERF_RECORD_FORK, 10, 14, 10, 13, 100); /* no records of 13 were seen */
	ck_assert_int_eq(tp_task_tree_find(tree, 14)->listens_to, 0);
	feed_task(PERF_RECORD_FORK, 10, 15, 10, 10, 100);
	ck_assert_int_eq(tp_task_tree_find(tree, 15)->listens_to, 10);
	feed.is_joining = false;
	feed_task(PERF_RECORD_FORK, 10, 16, 10, 13, 100);
	ck_assert_int_eq(tp_task_tree_find(tree, 16)->listens_to, 10);
}
END_TEST

/* The first thread ends; the other one gets its number and keeps its events. */
START_TEST(exec_by_another_thread_takes_its_events_along)
{
	attach();
	event = 120;
	feed_comm(10, 10, "other", true, 10 * TP_NS_PER_MS);
	event = 100; /* a copy of 10's, which 12 had as well */
	feed_comm(10, 10, "other", true, 10 * TP_NS_PER_MS + 900);
	ck_assert_int_eq(tp_task_tree_find(tree, 10)->listens_to, 12);
	event = 120;
	feed_sample(10, 10, 11 * TP_NS_PER_MS);
	ck_assert_ptr_nonnull(nth_sample(0));
}
END_TEST

START_TEST(losses_count_whoever_tells_them)
{
	attach();
	event = 100;
	feed_lost(5, 1, 100);
	event = 999;
	feed_lost(6, 1, 110);
	ck_assert_uint_eq(feed.n_lost, 11);
}
END_TEST

/* ---- system-wide events ---- */

static void feed_wide_switch(uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	begin(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT);
	put_u32(1);
	put_u32(1);
	put_id(pid, tid, time_ns, 2);
	feed_it();
}

START_TEST(events_of_cpus_tell_what_is_ours)
{
	tp_perf_dispatch_go_system_wide(&feed, &layout, 100);
	feed_sample(10, 10, 99); /* reported by the per-thread events before */
	ck_assert_uint_eq(feed.n_samples, 0);
	feed_task(PERF_RECORD_FORK, 10, 11, 10, 10, 110);
	feed_task(PERF_RECORD_FORK, 12, 12, 10, 11, 120);
	feed_comm(12, 12, "child", true, 130);
	feed_sample(12, 12, 140);
	feed_wide_switch(12, 12, 150);
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, 11));
	ck_assert_int_eq(tp_task_tree_find(tree, 12)->where, TP_TASK_TREE_BLOCKED);
	ck_assert_uint_eq(feed.n_samples, 1);
	ck_assert_uint_eq(feed.n_switches[2], 1);
	ck_assert_uint_eq(feed.n_strange_switches, 0);
	feed_task(PERF_RECORD_EXIT, 12, 12, 10, 10, 160);
	ck_assert_ptr_null(tp_task_tree_find(tree, 12));
}
END_TEST

START_TEST(events_of_cpus_tell_nothing_of_strangers)
{
	tp_perf_dispatch_go_system_wide(&feed, &layout, 100);
	size_t n_records = sink.n_records;
	size_t n_tasks = tp_task_tree_alive(tree);
	feed_task(PERF_RECORD_FORK, 51, 51, 50, 50, 110);
	feed_comm(51, 51, "stranger", true, 120);
	feed_sample(51, 51, 130);
	feed_wide_switch(51, 51, 140);
	feed_wide_switch(0, 0, 150); /* the idle task */
	feed_sample(50, 10, 160);    /* has the same tid as one of our threads */
	feed_task(PERF_RECORD_EXIT, 51, 51, 50, 50, 170);
	ck_assert_uint_eq(sink.n_records, n_records);
	ck_assert_uint_eq(tp_task_tree_alive(tree), n_tasks);
	ck_assert_uint_eq(feed.n_samples, 0);
	/* They cost as much as the target's. */
	ck_assert_uint_eq(feed.n_switches[2], 1);
	ck_assert_uint_eq(feed.n_strange_switches, 1);
}
END_TEST

START_TEST(what_events_of_cpus_lose_is_told)
{
	tp_perf_dispatch_go_system_wide(&feed, &layout, 100);
	feed_lost(3, 1, 200);
	ck_assert_uint_eq(feed.n_lost, 3);
}
END_TEST

Suite *suite_collect_perf_dispatch(void);
Suite *suite_collect_perf_dispatch(void)
{
	Suite *suite = suite_create("collect/perf_feed");
	TCase *tc = tcase_create("perf_feed");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, events_of_cpus_tell_what_is_ours);
	tcase_add_test(tc, events_of_cpus_tell_nothing_of_strangers);
	tcase_add_test(tc, what_events_of_cpus_lose_is_told);
	tcase_add_test(tc, life_of_a_thread_becomes_task_and_stays);
	tcase_add_test(tc, switches_that_are_not_taken_yet_tell_where_a_thread_is_now);
	tcase_add_test(tc, exec_begins_a_stay_and_ends_the_threads);
	tcase_add_test(tc, record_of_an_unknown_thread_gives_birth_to_it_and_to_doubt);
	tcase_add_test(tc, tid_in_another_process_is_another_thread);
	tcase_add_test(tc, sample_goes_to_its_task_with_a_stack);
	tcase_add_test(tc, sample_of_one_that_leaves_is_no_sample_among_others);
	tcase_add_test(tc, dropped_stacks_are_counted_and_their_samples_kept);
	tcase_add_test(tc, thinning_unwinds_one_of_so_many);
	tcase_add_test(tc, losses_of_a_second_are_one_gap);
	tcase_add_test(tc, process_that_outlives_its_events_is_no_end_but_a_gap);
	tcase_add_test(tc, nonsense_is_counted_and_survived);
	tcase_add_test(tc, thread_with_two_sets_of_events_is_heard_once);
	tcase_add_test(tc, children_are_heard_as_their_creator_is);
	tcase_add_test(tc, child_told_of_by_half_a_set_of_events_is_left_to_be_joined);
	tcase_add_test(tc, exec_by_another_thread_takes_its_events_along);
	tcase_add_test(tc, losses_count_whoever_tells_them);
	suite_add_tcase(suite, tc);
	return suite;
}
