/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of one poll of all threads of a program. */
#include "trainprof/base/memory.h"
#include "trainprof/collect/thread_stacks.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts a process that waits for a pipe to which nothing is written. */
static pid_t start_waiter(int *read_end, int *write_end)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char byte;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
	}
	ck_assert_int_gt(pid, 0);
	*read_end = ends[0];
	*write_end = ends[1];
	return pid;
}

static void look(struct tp_thread_stacks *out, pid_t pid, struct tp_availability *access)
{
	struct tp_host host;
	struct tp_error err = {0};
	tp_host_open(&host, "");
	ck_assert_int_eq(tp_thread_stacks_read(out, &host, pid, access, &err), TP_OK);
	tp_host_close(&host);
}

START_TEST(a_thread_that_waits_is_found_where_it_waits)
{
	int read_end, write_end;
	struct tp_thread_stacks stacks;
	struct tp_availability access;
	pid_t pid = start_waiter(&read_end, &write_end);
	/* The process waits once it is blocked; each poll gives it time to get there. */
	for (int i = 0; i < 1000; i++) {
		look(&stacks, pid, &access);
		ck_assert_uint_eq(stacks.n, 1);
		if (stacks.items[0].cause == TP_CAUSE_PIPE ||
		    access.presence != TP_PRESENCE_PRESENT)
			break;
		tp_thread_stacks_release(&stacks);
		usleep(1000);
	}
	ck_assert_int_eq(stacks.trace.tasks[stacks.items[0].task].pid, pid);
	if (access.presence == TP_PRESENCE_PRESENT) {
		ck_assert_int_eq(stacks.items[0].state, TP_STATE_BLOCKED);
		ck_assert_int_eq(stacks.items[0].cause, TP_CAUSE_PIPE);
		ck_assert(strncmp(tp_trace_string(&stacks.trace, stacks.items[0].target),
				  "pipe:", 5) == 0);
	}
	tp_thread_stacks_release(&stacks);
	/* The process continues as if nothing had happened. */
	int status;
	ck_assert_int_eq(write(write_end, "x", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(read_end);
	close(write_end);
}
END_TEST

START_TEST(a_stopped_process_is_said_to_be_stopped)
{
	int read_end, write_end, status;
	struct tp_thread_stacks stacks;
	struct tp_availability access;
	pid_t pid = start_waiter(&read_end, &write_end);
	kill(pid, SIGSTOP);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	look(&stacks, pid, &access);
	ck_assert_uint_eq(stacks.n, 1);
	ck_assert_int_eq(stacks.items[0].letter, 'T');
	tp_thread_stacks_release(&stacks);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(read_end);
	close(write_end);
}
END_TEST

START_TEST(a_process_that_is_not_there_is_refused)
{
	struct tp_thread_stacks stacks;
	struct tp_availability access;
	struct tp_host host;
	struct tp_error err = {0};
	int read_end, write_end;
	pid_t pid = start_waiter(&read_end, &write_end);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tp_host_open(&host, "");
	ck_assert_int_eq(tp_thread_stacks_read(&stacks, &host, pid, &access, &err), TP_TARGET);
	ck_assert(err.text[0]);
	ck_assert_int_eq(tp_thread_stacks_read(&stacks, &host, getpid(), &access, &err), TP_TARGET);
	tp_host_close(&host);
	close(read_end);
	close(write_end);
}
END_TEST

Suite *suite_collect_thread_stacks(void);
Suite *suite_collect_thread_stacks(void)
{
	Suite *suite = suite_create("collect_thread_stacks");
	TCase *tests = tcase_create("looks");
	tcase_add_test(tests, a_thread_that_waits_is_found_where_it_waits);
	tcase_add_test(tests, a_stopped_process_is_said_to_be_stopped);
	tcase_add_test(tests, a_process_that_is_not_there_is_refused);
	suite_add_tcase(suite, tests);
	return suite;
}
