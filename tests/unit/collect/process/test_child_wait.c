/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of waiting for children that end or do not end. */
#include "collect/process/child_wait.h"

#include "trainprof/base/clock.h"

#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child(int code)
{
	pid_t pid = fork();
	if (pid == 0 && code < 0)
		for (;;)
			pause();
	if (pid == 0)
		_exit(code);
	return pid;
}

START_TEST(how_a_child_ended_is_told)
{
	int status = -1;
	ck_assert(tp_child_wait(child(7), 50 * TP_NS_PER_S, &status));
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

START_TEST(one_that_goes_on_is_left_until_it_is_killed)
{
	int status = -1;
	pid_t pid = child(-1);
	ck_assert(!tp_child_wait(pid, 0, &status));
	ck_assert(!tp_child_wait(pid, 20 * TP_NS_PER_MS, &status));
	ck_assert_int_eq(status, -1);
	kill(pid, SIGKILL);
	ck_assert(tp_child_wait(pid, 50 * TP_NS_PER_S, &status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

START_TEST(one_whose_end_was_taken_has_ended)
{
	int status = -1;
	pid_t pid = child(0);
	waitpid(pid, NULL, 0);
	ck_assert(tp_child_wait(pid, 50 * TP_NS_PER_S, &status));
	ck_assert_int_eq(status, -1);
}
END_TEST

Suite *suite_collect_child_wait(void);
Suite *suite_collect_child_wait(void)
{
	Suite *suite = suite_create("collect/childend");
	TCase *tc = tcase_create("childend");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, how_a_child_ended_is_told);
	tcase_add_test(tc, one_that_goes_on_is_left_until_it_is_killed);
	tcase_add_test(tc, one_whose_end_was_taken_has_ended);
	suite_add_tcase(suite, tc);
	return suite;
}
