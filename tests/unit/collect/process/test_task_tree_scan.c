/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding threads in /proc: in a recorded tree that changes, and in the real one. */
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "/tmp/tp-tree-XXXXXX";
static struct tp_host host;
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
	char command[400];
	char line[300];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "cd %s && %s", root, line);
	ck_assert_int_eq(system(command), 0);
}

static void setup(void)
{
	strcpy(root, "/tmp/tp-tree-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	host = (struct tp_host){.root = root};
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	run("mkdir proc");
}

static void teardown(void)
{
	run("rm -rf proc");
	rmdir(root);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}

static void write_text(const char *name, const char *text)
{
	char path[300];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void put_stat(const char *name, int tid, const char *comm, char state, int ppid, int start)
{
	char text[300];
	snprintf(text, sizeof(text),
		 "%d (%s) %c %d 1 1 0 -1 0 1 0 2 0 100 200 0 0 20 0 1 0 %d 0 0 0\n", tid, comm,
		 state, ppid, start);
	write_text(name, text);
}

/* Creates a process with one thread; put_thread() adds more threads. */
static void put_process(int pid, int ppid, const char *comm, const char *children)
{
	char name[100];
	run("mkdir -p proc/%d/task/%d", pid, pid);
	snprintf(name, sizeof(name), "proc/%d/stat", pid);
	put_stat(name, pid, comm, 'S', ppid, 500 + pid);
	snprintf(name, sizeof(name), "proc/%d/task/%d/stat", pid, pid);
	put_stat(name, pid, comm, 'S', ppid, 500 + pid);
	snprintf(name, sizeof(name), "proc/%d/task/%d/children", pid, pid);
	if (children)
		write_text(name, children);
	snprintf(name, sizeof(name), "proc/%d/cmdline", pid);
	write_text(name, "sh");
}

static void put_thread(int pid, int tid)
{
	char name[100];
	run("mkdir -p proc/%d/task/%d", pid, tid);
	snprintf(name, sizeof(name), "proc/%d/task/%d/stat", pid, tid);
	put_stat(name, tid, "thread", 'S', 1, 900);
	snprintf(name, sizeof(name), "proc/%d/task/%d/children", pid, tid);
	write_text(name, "");
}

START_TEST(scan_finds_threads_and_grandchildren)
{
	put_process(10, 1, "train", "20 ");
	put_thread(10, 11);
	put_process(20, 10, "worker", "30 ");
	put_process(30, 20, "leaf", "");
	put_process(40, 1, "stranger", "");
	ck_assert_uint_eq(tp_task_tree_scan(tree, 10, 1000 * TP_NS_PER_S), 4);
	ck_assert_uint_eq(tp_task_tree_alive(tree), 4);
	ck_assert_ptr_null(tp_task_tree_find(tree, 40));
	ck_assert_int_eq(tp_task_tree_find(tree, 11)->info.pid, 10);
	ck_assert_uint_eq(tp_task_tree_find(tree, 30)->info.parent,
			  tp_task_tree_find(tree, 20)->info.id);
	ck_assert_uint_eq(tp_task_tree_find(tree, 20)->info.parent,
			  tp_task_tree_find(tree, 10)->info.id);
	ck_assert_uint_eq(tp_task_tree_scan(tree, 10, 1001 * TP_NS_PER_S), 0);
}
END_TEST

START_TEST(scan_uses_parent_ids_where_the_kernel_has_no_children_files)
{
	put_process(10, 1, "train", NULL);
	put_process(9, 20, "leaf", NULL); /* listed before its parent */
	put_process(20, 10, "worker", NULL);
	put_process(40, 1, "stranger", NULL);
	tp_task_tree_scan(tree, 10, 1000 * TP_NS_PER_S);
	tp_task_tree_scan(tree, 10, 1001 * TP_NS_PER_S);
	ck_assert_uint_eq(tp_task_tree_alive(tree), 3);
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, 9));
}
END_TEST

START_TEST(scan_ends_what_is_gone_or_a_zombie_and_keeps_an_orphan)
{
	put_process(10, 1, "train", "20 ");
	put_thread(10, 11);
	put_process(20, 10, "worker", "30 ");
	put_process(30, 20, "daemon", "");
	tp_task_tree_scan(tree, 10, 1000 * TP_NS_PER_S);
	run("rm -r proc/%d/task/%d", 10, 11);
	put_stat("proc/20/stat", 20, "worker", 'Z', 10, 520);
	put_stat("proc/30/stat", 30, "daemon", 'S', 1, 530); /* its parent has ended */
	tp_task_tree_scan(tree, 10, 1001 * TP_NS_PER_S);
	ck_assert_ptr_null(tp_task_tree_find(tree, 11));
	ck_assert_ptr_null(tp_task_tree_find(tree, 20));
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, 30));
	ck_assert_uint_eq(tp_task_tree_alive(tree), 2);
}
END_TEST

START_TEST(scan_tells_a_reused_pid_by_its_start_time)
{
	put_process(10, 1, "train", "20 ");
	put_process(20, 10, "worker", "");
	tp_task_tree_scan(tree, 10, 1000 * TP_NS_PER_S);
	uint32_t before = tp_task_tree_find(tree, 20)->info.id;
	put_stat("proc/20/stat", 20, "worker", 'S', 10, 9999);
	put_stat("proc/20/task/20/stat", 20, "worker", 'S', 10, 9999);
	tp_task_tree_scan(tree, 10, 1001 * TP_NS_PER_S);
	tp_task_tree_scan(tree, 10, 1002 * TP_NS_PER_S);
	ck_assert_uint_ne(tp_task_tree_find(tree, 20)->info.id, before);
}
END_TEST

START_TEST(fed_tree_believes_proc_only_at_second_sight_and_in_doubt)
{
	put_process(10, 1, "train", "20 ");
	put_process(20, 10, "worker", "");
	tp_task_tree_fork(tree, 10, 10, 0, 1);
	tp_task_tree_set_has_events(tree, true);
	ck_assert_uint_eq(tp_task_tree_scan(tree, 10, 1000 * TP_NS_PER_S), 0);
	tp_task_tree_mark_stale(tree);
	ck_assert_uint_eq(tp_task_tree_scan(tree, 10, 1001 * TP_NS_PER_S), 0);
	ck_assert_uint_eq(tp_task_tree_scan(tree, 10, 1002 * TP_NS_PER_S), 1);
	/* a late event refers to the same fork */
	uint32_t id = tp_task_tree_find(tree, 20)->info.id;
	ck_assert_uint_eq(tp_task_tree_fork(tree, 20, 20, 10, 5)->info.id, id);
	run("rm -r proc/20");
	tp_task_tree_scan(tree, 10, 1003 * TP_NS_PER_S);
	ck_assert_ptr_nonnull(tp_task_tree_find(tree, 20));
	tp_task_tree_scan(tree, 10, 1004 * TP_NS_PER_S);
	ck_assert_ptr_null(tp_task_tree_find(tree, 20));
}
END_TEST

static void *sleep_long(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* Starts a child with two more threads and its own child; it ends with its parent. */
static pid_t start_family(void)
{
	int ready[2];
	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;
		pthread_create(&thread, NULL, sleep_long, NULL);
		pthread_create(&thread, NULL, sleep_long, NULL);
		pid_t inner = fork();
		if (inner == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], inner ? "p" : "c", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	char byte;
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	return pid;
}

START_TEST(scan_of_the_real_proc_finds_a_real_family)
{
	struct tp_host live = {.root = "", .is_live = true};
	struct tp_task_tree *real = tp_task_tree_new(&live, &sink.sink);
	uint64_t before_ns = tp_clock_now_ns();
	pid_t pid = start_family();
	tp_task_tree_scan(real, pid, tp_clock_now_ns());
	ck_assert_uint_eq(tp_task_tree_alive(real), 4);
	const struct tp_task *info = &tp_task_tree_find(real, pid)->info;
	ck_assert_uint_ge(info->start_ns + 20 * TP_NS_PER_MS, before_ns);
	ck_assert_uint_le(info->start_ns, tp_clock_now_ns());
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len] = '\0';
	ck_assert_str_eq(tp_strtab_text(&sink.sink.strings, info->exe), self);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tp_task_tree_scan(real, pid, tp_clock_now_ns() + TP_NS_PER_S);
	ck_assert_ptr_null(tp_task_tree_find(real, pid));
	tp_task_tree_free(real);
}
END_TEST

/* Simulates that trainprof was started by the shell to which it attaches. */
START_TEST(met_tree_is_without_ourselves_and_without_our_children)
{
	struct tp_host live = {.root = "", .is_live = true};
	pid_t shell = getpid();
	pid_t ours = fork();
	if (ours == 0) {
		struct tp_task_tree *met = tp_task_tree_new(&live, &sink.sink);
		pid_t child = fork();
		if (child == 0) {
			pause();
			_exit(0);
		}
		tp_task_tree_scan_existing(met, shell, tp_clock_now_ns());
		bool is_right = tp_task_tree_find(met, shell) &&
				!tp_task_tree_find(met, getpid()) &&
				!tp_task_tree_find(met, child) &&
				tp_task_tree_find(met, shell)->info.start_ns < tp_clock_now_ns();
		kill(child, SIGKILL);
		_exit(is_right ? 0 : 1);
	}
	int status;
	ck_assert_int_eq(waitpid(ours, &status, 0), ours);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

Suite *suite_collect_task_tree_scan(void);
Suite *suite_collect_task_tree_scan(void)
{
	Suite *suite = suite_create("collect/tree_scan");
	TCase *tc = tcase_create("tree_scan");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, scan_finds_threads_and_grandchildren);
	tcase_add_test(tc, scan_uses_parent_ids_where_the_kernel_has_no_children_files);
	tcase_add_test(tc, scan_ends_what_is_gone_or_a_zombie_and_keeps_an_orphan);
	tcase_add_test(tc, scan_tells_a_reused_pid_by_its_start_time);
	tcase_add_test(tc, fed_tree_believes_proc_only_at_second_sight_and_in_doubt);
	tcase_add_test(tc, scan_of_the_real_proc_finds_a_real_family);
	tcase_add_test(tc, met_tree_is_without_ourselves_and_without_our_children);
	suite_add_tcase(suite, tc);
	return suite;
}
