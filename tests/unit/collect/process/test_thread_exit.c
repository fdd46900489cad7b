/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of waiting for threads on their way out. A process that has ended and leads a group that
 * lives is like such a thread: its number is taken, and no task has it. */
#include "collect/process/thread_exit.h"

#include "trainprof/base/clock.h"

#include <check.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t leader; /* has ended */
static pid_t member;

static void set_up(void)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	leader = fork();
	if (leader == 0) {
		setpgid(0, 0);
		pid_t child = fork();
		if (child > 0)
			_exit(write(ends[1], &child, sizeof(child)) != sizeof(child));
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ends[0], &member, sizeof(member)), sizeof(member));
	ck_assert_int_eq(waitpid(leader, NULL, 0), leader);
	close(ends[0]);
	close(ends[1]);
}

static void end_member(void)
{
	kill(member, SIGKILL);
	waitpid(member, NULL, 0);
}

START_TEST(a_number_without_a_task_is_waited_for)
{
	set_up();
	uint64_t began_ns = tp_clock_now_ns();
	tp_thread_exit_wait(&leader, 1, 20 * TP_NS_PER_MS);
	ck_assert_uint_ge(tp_clock_now_ns() - began_ns, 20 * TP_NS_PER_MS);
	end_member();
}
END_TEST

/* The test has a time limit; waiting would take an hour. */
START_TEST(tasks_and_free_numbers_are_not_waited_for)
{
	set_up();
	const pid_t alive[] = {member, getpid()};
	const pid_t gone[] = {member, leader};
	tp_thread_exit_wait(alive, 2, 3600 * TP_NS_PER_S);
	end_member();
	tp_thread_exit_wait(gone, 2, 3600 * TP_NS_PER_S);
}
END_TEST

Suite *suite_collect_thread_exit(void);
Suite *suite_collect_thread_exit(void)
{
	Suite *suite = suite_create("collect/thread_exit");
	TCase *tc = tcase_create("thread_exit");
	tcase_add_test(tc, a_number_without_a_task_is_waited_for);
	tcase_add_test(tc, tasks_and_free_numbers_are_not_waited_for);
	suite_add_tcase(suite, tc);
	return suite;
}
