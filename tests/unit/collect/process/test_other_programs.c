/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading the CPU time of programs next to the target, on a simulated machine. */
#include "collect/madehost.h"
#include "collect/process/other_programs.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <unistd.h>

static char root[] = "/tmp/tp-other-XXXXXX";

/* When a process starts, unless a test says otherwise, and when one starts between two reads. */
#define OLD_S 5
#define NEW_S 12

static int ticks_at_s(int seconds)
{
	int64_t offset_ns = (int64_t)tp_clock_boot_ns() - (int64_t)tp_clock_now_ns();
	return seconds * 100 + (int)(offset_ns / (int64_t)(10 * TP_NS_PER_MS));
}

/* User and system time in ticks of a hundredth of a second. */
static void lay_process_in_state(char state, int pid, const char *comm, int ppid, int start_s,
				 int utime, int stime)
{
	char path[64];
	char text[300];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (%s) %c %d 1 1 0 -1 4194560 0 0 0 0 %d %d 0 0 20 0 1 0 %d 1000 100 0\n", pid,
		 comm, state, ppid, utime, stime, ticks_at_s(start_s));
	madehost_lay(root, path, text);
}

static void lay_process(int pid, const char *comm, int ppid, int utime, int stime)
{
	lay_process_in_state('R', pid, comm, ppid, OLD_S, utime, stime);
}

START_TEST(who_uses_a_cpu_has_marks_and_nobody_else)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	const struct tp_host host = {.root = root};
	struct tp_trace_builder builder;
	tp_trace_builder_init(&builder);
	struct tp_task_tree *tree = tp_task_tree_new(&host, &builder.sink);
	tp_task_tree_fork(tree, 50, 50, 0, 0);
	struct tp_other_programs others;
	tp_other_programs_init(&others, &host, &builder.sink, tree);
	lay_process(50, "train", 1, 100, 0);
	lay_process(60, "my (prog)", 1, 1000, 0);
	lay_process(61, "quiet", 1, 1000, 0);
	lay_process(62, "kworker/0:1", 2, 0, 1000);
	tp_other_programs_read(&others, 10 * TP_NS_PER_S, false);
	lay_process(50, "train", 1, 500, 0);
	lay_process(60, "my (prog)", 1, 1300, 100);
	lay_process(61, "quiet", 1, 1001, 0);
	lay_process(62, "kworker/0:1", 2, 0, 1400);
	lay_process_in_state('R', 70, "cc1", 1, NEW_S, 200, 0);
	lay_process_in_state('Z', 71, "train", 1, NEW_S, 400, 0); /* ended, so the tree forgot it */
	tp_other_programs_read(&others, 11 * TP_NS_PER_S, false); /* too early */
	ck_assert_uint_eq(others.n_put, 0);
	tp_other_programs_read(&others, 14 * TP_NS_PER_S, true);
	ck_assert_uint_eq(others.n_put, 4);
	struct tp_trace trace;
	const struct tp_run_info run = {.started_ns = 9 * TP_NS_PER_S};
	tp_trace_build(&trace, &builder, &run);
	double used_s[2] = {0};
	for (size_t i = 0; i < trace.n_marks; i++) {
		const struct tp_mark *mark = &trace.marks[i];
		const char *name = tp_trace_string(&trace, mark->name);
		ck_assert_int_eq(mark->kind, TP_MARK_OTHER);
		ck_assert(!strcmp(name, "60 my (prog)") || !strcmp(name, "70 cc1"));
		used_s[name[0] == '7'] +=
			(mark->time_ns > 2 * TP_NS_PER_S ? 1e-9 : -1e-9) * (double)mark->value;
	}
	ck_assert_double_eq_tol(used_s[0], 4, 1e-6);
	ck_assert_double_eq_tol(used_s[1], 2, 1e-6);
	tp_trace_release(&trace);
	tp_other_programs_release(&others);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&builder);
	madehost_remove(root);
}
END_TEST

/* As a read misses one if descriptors run out. When it used its time is unknown, until it is seen
 * twice again. */
START_TEST(who_is_missed_once_has_used_nothing_in_an_instant)
{
	strcpy(root, "/tmp/tp-other-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	const struct tp_host host = {.root = root};
	struct tp_trace_builder builder;
	tp_trace_builder_init(&builder);
	struct tp_task_tree *tree = tp_task_tree_new(&host, &builder.sink);
	struct tp_other_programs others;
	char path[64];
	tp_other_programs_init(&others, &host, &builder.sink, tree);
	lay_process(60, "long", 1, 100000, 0);
	tp_other_programs_read(&others, 10 * TP_NS_PER_S, true);
	snprintf(path, sizeof(path), "%s/proc/60/stat", root);
	ck_assert_int_eq(unlink(path), 0);
	tp_other_programs_read(&others, 14 * TP_NS_PER_S, true);
	lay_process(60, "long", 1, 100800, 0);
	tp_other_programs_read(&others, 18 * TP_NS_PER_S, true);
	ck_assert_uint_eq(others.n_put, 0);
	lay_process(60, "long", 1, 101200, 0);
	tp_other_programs_read(&others, 22 * TP_NS_PER_S, true);
	ck_assert_uint_eq(others.n_put, 2);
	struct tp_trace trace;
	const struct tp_run_info run = {.started_ns = 9 * TP_NS_PER_S};
	tp_trace_build(&trace, &builder, &run);
	ck_assert_uint_eq(trace.n_marks, 2);
	ck_assert_uint_eq(trace.marks[1].value - trace.marks[0].value, 4 * TP_NS_PER_S);
	tp_trace_release(&trace);
	tp_other_programs_release(&others);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&builder);
	madehost_remove(root);
}
END_TEST

/* A machine that builds starts thousands of processes in an hour. */
START_TEST(processes_that_ended_take_no_memory)
{
	enum { PROCESSES = 50 };
	strcpy(root, "/tmp/tp-other-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	const struct tp_host host = {.root = root};
	struct tp_trace_builder builder;
	tp_trace_builder_init(&builder);
	struct tp_task_tree *tree = tp_task_tree_new(&host, &builder.sink);
	struct tp_other_programs others;
	tp_other_programs_init(&others, &host, &builder.sink, tree);
	lay_process(60, "stays", 1, 1000, 0);
	for (int i = 0; i < PROCESSES; i++) {
		char path[64];
		lay_process(100 + i, "cc1", 1, 0, 0);
		lay_process(60, "stays", 1, 1000 + i * 400, 0);
		tp_other_programs_read(&others, (uint64_t)(10 + 4 * i) * TP_NS_PER_S, true);
		ck_assert_uint_eq(others.n_programs, 2);
		snprintf(path, sizeof(path), "%s/proc/%d/stat", root, 100 + i);
		ck_assert_int_eq(unlink(path), 0);
	}
	/* The first read has none; the second has one more, for the time before. */
	ck_assert_uint_eq(others.n_put, PROCESSES);
	tp_other_programs_release(&others);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&builder);
	madehost_remove(root);
}
END_TEST

/* A process as its stat shows it. */
struct laid {
	int pid;
	const char *comm;
	char state; /* 0 = R */
	int ppid;
	int own; /* CPU time in ticks, and that of its children that ended */
	int of_children;
	int nice;
	int policy;
	int n_threads; /* 0 = 1 */
	int start_s;   /* 0 = OLD_S */
};

static void lay(const struct laid *laid)
{
	char path[64];
	char text[300];
	snprintf(path, sizeof(path), "/proc/%d/stat", laid->pid);
	snprintf(
		text, sizeof(text),
		"%d (%s) %c %d 1 1 0 -1 4194560 0 0 0 0 %d 0 %d 0 20 %d %d 0 %d 1000 100 0 0 0 0 0 "
		"0 0 0 0 0 0 0 0 17 0 0 %d 0 0 0\n",
		laid->pid, laid->comm, laid->state ? laid->state : 'R', laid->ppid, laid->own,
		laid->of_children, laid->nice, laid->n_threads ? laid->n_threads : 1,
		ticks_at_s(laid->start_s ? laid->start_s : OLD_S), laid->policy);
	madehost_lay(root, path, text);
}

static void lay_nice_process(int pid, const char *comm, int nice, int policy, int own,
			     int of_children)
{
	lay(&(struct laid){.pid = pid,
			   .comm = comm,
			   .ppid = 1,
			   .own = own,
			   .of_children = of_children,
			   .nice = nice,
			   .policy = policy});
}

/* Builds at idle priority leave a CPU to the target as soon as it needs one. Their compilers live
 * between two reads. */
START_TEST(who_yields_has_no_marks_but_a_sum)
{
	enum { IDLE = 5, NORMAL = 0 };
	strcpy(root, "/tmp/tp-other-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	const struct tp_host host = {.root = root};
	struct tp_trace_builder builder;
	tp_trace_builder_init(&builder);
	struct tp_task_tree *tree = tp_task_tree_new(&host, &builder.sink);
	tp_task_tree_fork(tree, 50, 50, 0, 0);
	struct tp_other_programs others;
	tp_other_programs_init(&others, &host, &builder.sink, tree);
	lay_nice_process(50, "train", _i ? 10 : 0, NORMAL, 100, 0);
	lay_nice_process(60, "make", 0, IDLE, 10, 1000);
	lay_nice_process(61, "niced", 19, NORMAL, 500, 0);
	lay_nice_process(62, "a-bit-nice", 5, NORMAL, 500, 0);
	tp_other_programs_read(&others, 10 * TP_NS_PER_S, true);
	lay_nice_process(60, "make", 0, IDLE, 10, 1300);
	lay_nice_process(61, "niced", 19, NORMAL, 600, 0);
	lay_nice_process(62, "a-bit-nice", 5, NORMAL, 550, 0);
	tp_other_programs_read(&others, 14 * TP_NS_PER_S, true);
	struct tp_trace trace;
	const struct tp_run_info run = {.started_ns = 9 * TP_NS_PER_S};
	tp_trace_build(&trace, &builder, &run);
	double yielding_ns = 0;
	ck_assert(tp_trace_counter_delta(&trace, TP_METRIC_CPU_YIELDING, TP_NO_TASK, 0,
					 trace.end_ns, &yielding_ns));
	/* Beside a target that is as nice, a nice program takes its share. */
	ck_assert_double_eq_tol(yielding_ns, _i ? 3e9 : 4e9, 1);
	ck_assert_uint_eq(trace.n_marks, _i ? 4 : 2);
	tp_trace_release(&trace);
	tp_other_programs_release(&others);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&builder);
	madehost_remove(root);
}
END_TEST

/* The target (process 50) and what reads the others beside it. */
struct scene {
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_task_tree *tree;
	struct tp_other_programs others;
};

static void scene_init(struct scene *scene)
{
	strcpy(root, "/tmp/tp-other-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	scene->host = (struct tp_host){.root = root, .info = {.n_cpus = 2}};
	tp_trace_builder_init(&scene->builder);
	scene->tree = tp_task_tree_new(&scene->host, &scene->builder.sink);
	tp_task_tree_fork(scene->tree, 50, 50, 0, 0);
	tp_other_programs_init(&scene->others, &scene->host, &scene->builder.sink, scene->tree);
	lay_nice_process(50, "train", 0, 0, 100, 0);
}

/* Reads at that second; returns the ticks of those that yielded so far. */
static int read_at_s(struct scene *scene, int seconds)
{
	tp_other_programs_read(&scene->others, (uint64_t)seconds * TP_NS_PER_S, true);
	return (int)(scene->others.yielding_ns / (10 * TP_NS_PER_MS));
}

static void scene_release(struct scene *scene)
{
	tp_other_programs_release(&scene->others);
	tp_task_tree_free(scene->tree);
	tp_trace_builder_release(&scene->builder);
	madehost_remove(root);
}

/* Ten hours of CPU before it was niced are not of this interval; and what it used while it yielded
 * is not in its marks afterwards. */
START_TEST(who_is_niced_later_yields_from_then_on)
{
	enum { BEFORE = 3600000 };
	struct scene scene;
	scene_init(&scene);
	lay_nice_process(60, "long", 0, 0, BEFORE, 0);
	read_at_s(&scene, 10);
	lay_nice_process(60, "long", 0, 0, BEFORE + 400, 0);
	ck_assert_int_eq(read_at_s(&scene, 14), 0);
	ck_assert_uint_eq(scene.others.n_put, 2);
	lay_nice_process(60, "long", 19, 0, BEFORE + 700, 0);
	ck_assert_int_eq(read_at_s(&scene, 18), 300);
	lay_nice_process(60, "long", 0, 0, BEFORE + 900, 0);
	ck_assert_int_eq(read_at_s(&scene, 22), 300);
	ck_assert_uint_eq(scene.others.n_put, 3);
	struct tp_trace trace;
	const struct tp_run_info run = {.started_ns = 9 * TP_NS_PER_S};
	tp_trace_build(&trace, &scene.builder, &run);
	ck_assert_uint_eq(trace.marks[2].value - trace.marks[0].value, 6 * TP_NS_PER_S);
	tp_trace_release(&trace);
	scene_release(&scene);
}
END_TEST

static void remove_process(int pid)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/proc/%d/stat", root, pid);
	ck_assert_int_eq(unlink(path), 0);
}

/* A compiler that had run for an hour ends, and its shell with it; both were niced. */
START_TEST(time_of_children_counts_once_and_only_from_the_last_read)
{
	struct scene scene;
	struct laid make = {.pid = 60, .comm = "make", .ppid = 1, .nice = 19, .of_children = 700};
	struct laid shell = {.pid = 61, .comm = "sh", .ppid = 60, .nice = 19, .own = 10};
	struct laid cc = {.pid = 62, .comm = "cc1", .ppid = 61, .nice = 19, .own = 360000};
	struct laid other = {.pid = 63, .comm = "niced", .ppid = 1, .nice = 19, .own = 100};
	scene_init(&scene);
	lay(&make);
	lay(&shell);
	lay(&cc);
	lay(&other);
	read_at_s(&scene, 10);
	cc.own += 200;
	lay(&cc);
	ck_assert_int_eq(read_at_s(&scene, 14), 200);
	/* It has ended, and is not yet waited for. */
	cc.own += 50;
	cc.state = 'Z';
	lay(&cc);
	ck_assert_int_eq(read_at_s(&scene, 18), 250);
	remove_process(cc.pid);
	remove_process(shell.pid);
	make.of_children += cc.own + shell.own + 30; /* and one that lived between two reads */
	lay(&make);
	ck_assert_int_eq(read_at_s(&scene, 22), 280);
	/* The end of a build takes nothing from what others used. */
	remove_process(make.pid);
	other.own += 300;
	lay(&other);
	ck_assert_int_eq(read_at_s(&scene, 26), 580);
	scene_release(&scene);
}
END_TEST

Suite *suite_collect_other_programs(void);
Suite *suite_collect_other_programs(void)
{
	Suite *suite = suite_create("collect_other_programs");
	TCase *tc = tcase_create("other_programs");
	tcase_add_test(tc, who_uses_a_cpu_has_marks_and_nobody_else);
	tcase_add_test(tc, who_is_missed_once_has_used_nothing_in_an_instant);
	tcase_add_test(tc, processes_that_ended_take_no_memory);
	tcase_add_loop_test(tc, who_yields_has_no_marks_but_a_sum, 0, 2);
	tcase_add_test(tc, who_is_niced_later_yields_from_then_on);
	tcase_add_test(tc, time_of_children_counts_once_and_only_from_the_last_read);
	suite_add_tcase(suite, tc);
	return suite;
}
