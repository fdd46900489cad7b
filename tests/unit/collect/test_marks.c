/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of marks: written through the header that users include, read by the collector. */
#include "collect/madehost.h"
#include "collect/process/task_tree.h"
#include "collect/registry.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/env.h"
#include "trainprof/mark.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];
static char root[32]; /* of a test in another time namespace */
static struct tp_host host;
static struct tp_collect_config config;
static struct tp_trace_builder sink;
static struct tp_collect_context context;
static struct tp_collector *marks;

static void setup(void)
{
	snprintf(path, sizeof(path), "/tmp/tp-marks-%d", (int)getpid());
	config.marks_path = path;
	host = (struct tp_host){.root = ""};
	tp_trace_builder_init(&sink);
	context = (struct tp_collect_context){.host = &host, .config = &config};
	context.sink = &sink.sink;
	context.tree = tp_task_tree_new(&host, &sink.sink);
	ck_assert_int_eq(tp_marks_collector.open(&marks, &context, NULL), TP_OK);
	marks->type = &tp_marks_collector;
	struct tp_env env = {0};
	ck_assert_int_eq(tp_marks_collector.child_env(marks, &env, NULL), TP_OK);
	ck_assert_uint_eq(env.n_entries, 1);
	putenv(env.entries[0]); /* this process is the program that writes marks */
	free(env.entries);
}

static void teardown(void)
{
	tp_marks_collector.close(marks);
	tp_task_tree_free(context.tree);
	tp_trace_builder_release(&sink);
	unlink(path);
}

static size_t find_marks(struct tp_mark *out, size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < sink.n_records; i++)
		if (sink.records[i].kind == TP_RECORD_MARK && n < max)
			out[n++] = sink.records[i].of.mark;
	return n;
}

START_TEST(marks_arrive_in_order_with_task_name_and_time)
{
	struct tp_mark list[8];
	uint64_t before_ns = tp_clock_now_ns();
	tp_task_tree_fork(context.tree, getpid(), getpid(), 0, before_ns);
	trainprof_step();
	trainprof_phase_begin("forward");
	trainprof_phase_end();
	trainprof_step_end();
	ck_assert_int_eq(tp_marks_collector.sample(marks, tp_clock_now_ns(), NULL), TP_OK);
	ck_assert_uint_eq(find_marks(list, 8), 4);
	static const enum tp_mark_kind kinds[] = {TP_MARK_STEP, TP_MARK_PHASE_BEGIN,
						  TP_MARK_PHASE_END, TP_MARK_STEP_END};
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(list[i].kind, kinds[i]);
		ck_assert_uint_eq(list[i].task, 0);
		ck_assert_uint_ge(list[i].time_ns, before_ns);
		before_ns = list[i].time_ns;
	}
	ck_assert_str_eq(tp_strtab_text(&sink.sink.strings, list[1].name), "forward");
}
END_TEST

START_TEST(mark_waits_until_its_thread_is_known)
{
	struct tp_mark list[2];
	uint64_t before_ns = tp_clock_now_ns();
	trainprof_step();
	ck_assert_int_eq(tp_marks_collector.sample(marks, tp_clock_now_ns(), NULL), TP_OK);
	ck_assert_uint_eq(find_marks(list, 2), 0);
	tp_task_tree_fork(context.tree, getpid(), getpid(), 0,
			  before_ns); /* its fork event is read only now */
	ck_assert_int_eq(tp_marks_collector.sample(marks, tp_clock_now_ns(), NULL), TP_OK);
	ck_assert_uint_eq(find_marks(list, 2), 1);
	ck_assert_uint_eq(list[0].task, 0);
}
END_TEST

START_TEST(mark_of_a_thread_that_stays_unknown_is_kept_without_task)
{
	struct tp_mark list[2];
	trainprof_step();
	uint64_t later_ns = tp_clock_now_ns() + 2 * TP_NS_PER_S;
	ck_assert_int_eq(tp_marks_collector.sample(marks, later_ns, NULL), TP_OK);
	ck_assert_uint_eq(find_marks(list, 2), 1);
	ck_assert_uint_eq(list[0].task, TP_NO_TASK);
}
END_TEST

START_TEST(mark_of_a_process_that_has_ended_keeps_its_task)
{
	struct tp_mark list[2];
	uint64_t before_ns = tp_clock_now_ns();
	pid_t pid = fork();
	if (pid == 0) {
		trainprof_step();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	tp_task_tree_fork(context.tree, pid, pid, 0, before_ns);
	tp_task_tree_exit(context.tree, pid, tp_clock_now_ns());
	ck_assert_int_eq(tp_marks_collector.stop(marks, tp_clock_now_ns(), NULL), TP_OK);
	ck_assert_uint_eq(find_marks(list, 2), 1);
	ck_assert_uint_eq(list[0].task, 0);
}
END_TEST

START_TEST(marks_that_came_too_fast_are_a_gap_with_their_number)
{
	tp_task_tree_fork(context.tree, getpid(), getpid(), 0, tp_clock_now_ns());
	const unsigned n = 40000; /* more than the ring holds */
	for (unsigned i = 0; i < n; i++)
		trainprof_step();
	ck_assert_int_eq(tp_marks_collector.stop(marks, tp_clock_now_ns(), NULL), TP_OK);
	uint64_t n_lost = 0;
	uint64_t n_put = 0;
	for (size_t i = 0; i < sink.n_records; i++) {
		if (sink.records[i].kind == TP_RECORD_GAP)
			n_lost += sink.records[i].of.gap.n_lost;
		n_put += sink.records[i].kind == TP_RECORD_MARK;
	}
	ck_assert_uint_gt(n_lost, 0);
	ck_assert_uint_eq(n_lost + n_put, n);
}
END_TEST

START_TEST(file_cut_by_the_program_stops_the_source_and_nothing_else)
{
	trainprof_step();
	ck_assert_int_eq(truncate(path, 100), 0);
	struct tp_error err = {0};
	ck_assert_int_ne(tp_marks_collector.sample(marks, tp_clock_now_ns(), &err), TP_OK);
	ck_assert_str_ne(err.text, "");
	ck_assert_int_eq(tp_marks_collector.stop(marks, tp_clock_now_ns(), NULL), TP_OK);
}
END_TEST

START_TEST(file_cut_shortly_before_the_end_is_told_as_well)
{
	tp_task_tree_fork(context.tree, getpid(), getpid(), 0, tp_clock_now_ns());
	ck_assert_int_eq(tp_marks_collector.sample(marks, tp_clock_now_ns(), NULL), TP_OK);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(tp_marks_collector.stop(marks, tp_clock_now_ns(), NULL), TP_OK);
	ck_assert_str_eq(marks->availability.reason,
			 "stopped early: the program damaged the file of marks");
	size_t n_gaps = 0;
	for (size_t i = 0; i < sink.n_records; i++)
		n_gaps += sink.records[i].kind == TP_RECORD_GAP;
	ck_assert_uint_eq(n_gaps, 1);
}
END_TEST

/* This process, in another time namespace with these offsets. */
static void enter_namespace(const char *offsets)
{
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	strcpy(root, "/tmp/tp-marks-root-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	for (int i = 0; i < 2; i++) {
		const char *process = i ? pid : "self";
		const char *link = i ? "time:[2]" : "time:[1]";
		char file[128];
		snprintf(file, sizeof(file), "/proc/%s/timens_offsets", process);
		madehost_lay(root, file, i ? offsets : "monotonic 0 0\n");
		snprintf(file, sizeof(file), "/proc/%s/ns/none", process);
		madehost_lay(root, file, "");
		snprintf(file, sizeof(file), "%s/proc/%s/ns/time", root, process);
		ck_assert_int_eq(symlink(link, file), 0);
		snprintf(file, sizeof(file), "%s/proc/%s/ns/time_for_children", root, process);
		ck_assert_int_eq(symlink(link, file), 0);
	}
	host.root = root;
}

START_TEST(marks_of_another_time_namespace_are_at_our_time)
{
	struct tp_mark list[2];
	enter_namespace("monotonic 0 1000000\n");
	usleep(2000);
	uint64_t before_ns = tp_clock_now_ns();
	tp_task_tree_fork(context.tree, getpid(), getpid(), 0, before_ns - TP_NS_PER_MS);
	trainprof_step();
	uint64_t after_ns = tp_clock_now_ns();
	ck_assert_int_eq(tp_marks_collector.sample(marks, after_ns, NULL), TP_OK);
	ck_assert_uint_eq(find_marks(list, 2), 1);
	ck_assert_uint_ge(list[0].time_ns, before_ns - TP_NS_PER_MS);
	ck_assert_uint_le(list[0].time_ns, after_ns - TP_NS_PER_MS);
	madehost_remove(root);
}
END_TEST

/* As those of a process that ended before its namespace was read. */
START_TEST(marks_at_times_before_the_program_are_counted_as_lost)
{
	struct tp_mark list[2];
	uint64_t n_lost = 0;
	enter_namespace("monotonic 100000 0\n");
	trainprof_step();
	trainprof_step();
	ck_assert_int_eq(tp_marks_collector.stop(marks, tp_clock_now_ns(), NULL), TP_OK);
	ck_assert_uint_eq(find_marks(list, 2), 0);
	for (size_t i = 0; i < sink.n_records; i++)
		if (sink.records[i].kind == TP_RECORD_GAP)
			n_lost += sink.records[i].of.gap.n_lost;
	ck_assert_uint_eq(n_lost, 2);
	madehost_remove(root);
}
END_TEST

Suite *suite_collect_marks(void);
Suite *suite_collect_marks(void)
{
	Suite *suite = suite_create("collect/marks");
	TCase *tc = tcase_create("marks");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, marks_arrive_in_order_with_task_name_and_time);
	tcase_add_test(tc, mark_waits_until_its_thread_is_known);
	tcase_add_test(tc, mark_of_a_thread_that_stays_unknown_is_kept_without_task);
	tcase_add_test(tc, mark_of_a_process_that_has_ended_keeps_its_task);
	tcase_add_test(tc, marks_that_came_too_fast_are_a_gap_with_their_number);
	tcase_add_test(tc, file_cut_by_the_program_stops_the_source_and_nothing_else);
	tcase_add_test(tc, file_cut_shortly_before_the_end_is_told_as_well);
	tcase_add_test(tc, marks_of_another_time_namespace_are_at_our_time);
	tcase_add_test(tc, marks_at_times_before_the_program_are_counted_as_lost);
	suite_add_tcase(suite, tc);
	return suite;
}
