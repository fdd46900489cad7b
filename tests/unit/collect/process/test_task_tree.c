/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the tree of threads, built from events. */
#include "collect/process/task_tree.h"

#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"
#include "trainprof/stack/maps.h"

#include <check.h>
#include <string.h>

static struct tp_host host = {.root = "/nonexistent"};
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;
static unsigned n_released;

static void release(void *poll_state)
{
	(void)poll_state;
	n_released++;
}

static void setup(void)
{
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	tp_task_tree_set_release(tree, release);
	n_released = 0;
}

static void teardown(void)
{
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}

/* Returns the last record of a task, which is what a reader of the recording sees. */
static struct tp_task last_record(uint32_t id)
{
	struct tp_task found = {.id = TP_NO_TASK};
	for (size_t i = 0; i < sink.n_records; i++)
		if (sink.records[i].kind == TP_RECORD_TASK && sink.records[i].of.task.id == id)
			found = sink.records[i].of.task;
	ck_assert_uint_eq(found.id, id);
	return found;
}

static const char *string(uint32_t id)
{
	return tp_strtab_text(&sink.sink.strings, id);
}

/* Checks that every live task is found by its tid, and that an iteration visits each once. */
static void assert_sane(void)
{
	size_t cursor = 0;
	size_t n = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor))) {
		ck_assert_ptr_eq(tp_task_tree_find(tree, task->info.tid), task);
		ck_assert(task->is_alive);
		ck_assert_uint_eq(task->info.end_ns, 0);
		n++;
	}
	ck_assert_uint_eq(n, tp_task_tree_alive(tree));
}

START_TEST(birth_and_end_are_recorded_with_ids_in_order)
{
	tp_task_tree_fork(tree, 100, 100, 0, 10);
	tp_task_tree_fork(tree, 101, 100, 100, 20);
	tp_task_tree_fork(tree, 200, 200, 101, 30);
	assert_sane();
	ck_assert_uint_eq(last_record(0).parent, TP_NO_TASK);
	ck_assert_uint_eq(last_record(1).parent, 0);
	ck_assert_uint_eq(last_record(2).parent, 1);
	ck_assert_int_eq(last_record(2).pid, 200);
	tp_task_tree_exit(tree, 101, 40);
	assert_sane();
	ck_assert_uint_eq(last_record(1).end_ns, 40);
	ck_assert_ptr_null(tp_task_tree_find(tree, 101));
	ck_assert_uint_eq(tp_task_tree_alive(tree), 2);
}
END_TEST

START_TEST(reused_tid_is_a_new_task)
{
	tp_task_tree_fork(tree, 100, 100, 0, 10);
	tp_task_tree_fork(tree, 101, 100, 100, 20);
	tp_task_tree_exit(tree, 101, 30);
	ck_assert_uint_eq(tp_task_tree_fork(tree, 101, 100, 100, 40)->info.id, 2);
	/* if the end was lost, the second creation ends the first life */
	ck_assert_uint_eq(tp_task_tree_fork(tree, 101, 101, 100, 50)->info.id, 3);
	ck_assert_uint_eq(last_record(2).end_ns, 50);
	assert_sane();
}
END_TEST

START_TEST(task_is_known_by_its_tid_at_a_time_even_after_its_end)
{
	tp_task_tree_fork(tree, 100, 100, 0, 10);
	tp_task_tree_fork(tree, 101, 100, 100, 20);
	tp_task_tree_exit(tree, 101, 30);
	ck_assert_uint_eq(tp_task_tree_task_at(tree, 101, 100, 25), 1);
	tp_task_tree_fork(tree, 101, 100, 100, 40);
	ck_assert_uint_eq(tp_task_tree_task_at(tree, 101, 100, 25), 1);
	ck_assert_uint_eq(tp_task_tree_task_at(tree, 101, 100, 45), 2);
	ck_assert_uint_eq(tp_task_tree_task_at(tree, 101, 7, 45), TP_NO_TASK);
	ck_assert_uint_eq(tp_task_tree_task_at(tree, 999, 100, 45), TP_NO_TASK);
}
END_TEST

START_TEST(names_are_inherited_until_changed)
{
	tp_task_tree_fork(tree, 100, 100, 0, 10);
	tp_task_tree_comm(tree, 100, "python3");
	tp_task_tree_fork(tree, 101, 100, 100, 20);
	ck_assert_str_eq(string(last_record(1).comm), "python3");
	tp_task_tree_comm(tree, 101, "worker");
	ck_assert_str_eq(string(last_record(1).comm), "worker");
	ck_assert_str_eq(string(last_record(0).comm), "python3");
	size_t before = sink.n_records;
	tp_task_tree_comm(tree, 101, "worker");
	tp_task_tree_comm(tree, 999, "nobody");
	ck_assert_uint_le(sink.n_records, before + 1); /* at most the new string */
}
END_TEST

START_TEST(exec_ends_the_other_threads_and_keeps_the_process)
{
	tp_task_tree_fork(tree, 100, 100, 0, 10);
	for (pid_t tid = 101; tid < 110; tid++)
		tp_task_tree_fork(tree, tid, 100, 100, 20);
	tp_task_tree_fork(tree, 300, 300, 100, 25);
	tp_task_tree_exec(tree, 100, 30);
	assert_sane();
	ck_assert_uint_eq(tp_task_tree_alive(tree), 2);
	ck_assert_uint_eq(last_record(0).exec_ns, 30);
	ck_assert_uint_eq(last_record(5).end_ns, 30);
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, 300));
}
END_TEST

START_TEST(threads_share_an_address_space_and_processes_do_not)
{
	struct tp_task_tree_task *leader = tp_task_tree_fork(tree, 100, 100, 0, 10);
	struct tp_task_tree_task *thread = tp_task_tree_fork(tree, 101, 100, 100, 10);
	struct tp_task_tree_task *child = tp_task_tree_fork(tree, 200, 200, 101, 10);
	ck_assert_ptr_nonnull(leader->maps);
	ck_assert_ptr_eq(leader->maps, thread->maps);
	ck_assert_ptr_ne(leader->maps, child->maps);
	struct tp_mapping mapping = {.start = 0x1000, .size = 0x1000, .is_executable = true};
	struct tp_stack_frame frame;
	tp_maps_add(leader->maps, &mapping);
	tp_maps_find(thread->maps, 0x1800, 0, &frame);
	ck_assert_ptr_nonnull(frame.module);
	tp_maps_find(child->maps, 0x1800, 0, &frame);
	ck_assert_ptr_null(frame.module);
	struct tp_task_tree_task *late = tp_task_tree_fork(tree, 300, 300, 101, 20);
	tp_maps_find(late->maps, 0x1800, 0, &frame);
	ck_assert_ptr_nonnull(frame.module);
	tp_task_tree_exec(tree, 300, 30);
	tp_maps_find(late->maps, 0x1800, 0, &frame);
	ck_assert_ptr_null(frame.module);
}
END_TEST

START_TEST(exec_by_a_thread_after_its_leader_ended_makes_a_new_leader)
{
	tp_task_tree_fork(tree, 100, 100, 0, 10);
	tp_task_tree_fork(tree, 101, 100, 100, 20);
	tp_task_tree_exit(tree, 100, 25);
	tp_task_tree_exec(tree, 100, 30);
	assert_sane();
	ck_assert_uint_eq(tp_task_tree_alive(tree), 1);
	ck_assert_int_eq(tp_task_tree_find(tree, 100)->info.pid, 100);
	ck_assert_uint_eq(last_record(1).end_ns, 30);
}
END_TEST

START_TEST(end_is_never_before_the_start)
{
	tp_task_tree_fork(tree, 100, 100, 0, 50);
	tp_task_tree_exit(tree, 100, 40);
	ck_assert_uint_eq(last_record(0).end_ns, 50);
}
END_TEST

START_TEST(poll_state_is_released_once)
{
	static int state;
	tp_task_tree_fork(tree, 100, 100, 0, 10)->poll_state = &state;
	tp_task_tree_fork(tree, 101, 100, 100, 10)->poll_state = &state;
	tp_task_tree_fork(tree, 102, 100, 100, 10);
	tp_task_tree_exit(tree, 101, 20);
	tp_task_tree_exit(tree, 102, 20);
	ck_assert_uint_eq(n_released, 1);
	tp_task_tree_free(tree);
	ck_assert_uint_eq(n_released, 2);
	tree = tp_task_tree_new(&host, &sink.sink);
}
END_TEST

/* Returns how often it is visited. */
static size_t times_ended(pid_t wanted, uint64_t since_ns)
{
	size_t cursor = 0;
	size_t n = 0;
	pid_t tid;
	while (tp_task_tree_next_ended(tree, 100, since_ns, &cursor, &tid))
		n += tid == wanted;
	return n;
}

START_TEST(ended_threads_of_a_process_are_visited)
{
	tp_task_tree_fork(tree, 100, 100, 0, 10);
	tp_task_tree_fork(tree, 101, 100, 100, 10);
	tp_task_tree_fork(tree, 102, 100, 100, 10);
	tp_task_tree_fork(tree, 103, 100, 100, 10);
	tp_task_tree_fork(tree, 200, 200, 100, 10);
	tp_task_tree_fork(tree, 201, 200, 200, 10);
	tp_task_tree_exit(tree, 101, 20);
	tp_task_tree_exit(tree, 103, 30);
	tp_task_tree_exit(tree, 201, 30);
	ck_assert_uint_eq(times_ended(101, 0), 1);
	ck_assert_uint_eq(times_ended(101, 20), 1);
	ck_assert_uint_eq(times_ended(101, 21), 0);
	ck_assert_uint_eq(times_ended(102, 0), 0);
	ck_assert_uint_eq(times_ended(103, 21), 1);
	ck_assert_uint_eq(times_ended(201, 0), 0);
	tp_task_tree_exit(tree, 100, 40);
	ck_assert_uint_eq(times_ended(100, 0), 0);
	for (pid_t i = 0; i < TP_TASK_TREE_RECENT; i++) {
		ck_assert_uint_eq(times_ended(103, 0), i < TP_TASK_TREE_RECENT - 2);
		tp_task_tree_fork(tree, 1000 + i, 200, 200, 50);
		tp_task_tree_exit(tree, 1000 + i, 60);
	}
	ck_assert_uint_eq(times_ended(103, 0), 0);
}
END_TEST

START_TEST(thousands_of_short_threads_leave_no_memory_behind)
{
	tp_task_tree_fork(tree, 100, 100, 0, 10);
	for (pid_t i = 0; i < 20000; i++) {
		tp_task_tree_fork(tree, 1000 + i % 300, 100, 100, 20);
		tp_task_tree_exit(tree, 1000 + i % 300, 21);
	}
	ck_assert_uint_eq(tp_task_tree_alive(tree), 1);
	ck_assert_uint_eq(last_record(20000).end_ns, 21);
}
END_TEST

Suite *suite_collect_task_tree(void);
Suite *suite_collect_task_tree(void)
{
	Suite *suite = suite_create("collect/tree");
	TCase *tc = tcase_create("tree");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, birth_and_end_are_recorded_with_ids_in_order);
	tcase_add_test(tc, reused_tid_is_a_new_task);
	tcase_add_test(tc, task_is_known_by_its_tid_at_a_time_even_after_its_end);
	tcase_add_test(tc, names_are_inherited_until_changed);
	tcase_add_test(tc, exec_ends_the_other_threads_and_keeps_the_process);
	tcase_add_test(tc, threads_share_an_address_space_and_processes_do_not);
	tcase_add_test(tc, exec_by_a_thread_after_its_leader_ended_makes_a_new_leader);
	tcase_add_test(tc, end_is_never_before_the_start);
	tcase_add_test(tc, poll_state_is_released_once);
	tcase_add_test(tc, ended_threads_of_a_process_are_visited);
	tcase_add_test(tc, thousands_of_short_threads_leave_no_memory_behind);
	suite_add_tcase(suite, tc);
	return suite;
}
