/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of forks beside threads that must not be copied in the middle of a call. */
#include "agent/cupti/fork_gate.h"

#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static bool was_entered;
static bool was_waited_for;

/* Registered before the gate's handler, so it runs after it: while a fork is under way. */
static void before_fork(void)
{
	was_entered = tp_fork_gate_enter();
	was_waited_for = tp_fork_gate_wait();
}

static bool enters(void)
{
	if (!tp_fork_gate_enter())
		return false;
	tp_fork_gate_leave();
	return true;
}

/* Returns true if the child can enter. */
static bool child_enters(void)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(enters() ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status == 0;
}

START_TEST(nobody_enters_while_a_fork_is_under_way)
{
	ck_assert_int_eq(pthread_atfork(before_fork, NULL, NULL), 0);
	ck_assert(enters());
	was_entered = was_waited_for = true;
	ck_assert(child_enters());
	ck_assert(!was_entered);
	ck_assert(!was_waited_for);
	ck_assert(enters());
}
END_TEST

/* The thread that forks may be the one that the loader serves: it waits, but not for ever. */
START_TEST(a_fork_by_a_thread_that_is_inside_takes_place)
{
	ck_assert(tp_fork_gate_wait());
	ck_assert(tp_fork_gate_enter());
	ck_assert(child_enters());
	tp_fork_gate_leave();
	tp_fork_gate_leave();
	ck_assert(child_enters());
}
END_TEST

Suite *suite_agent_fork_gate(void);
Suite *suite_agent_fork_gate(void)
{
	Suite *suite = suite_create("agent/fork_gate");
	TCase *tc = tcase_create("fork_gate");
	tcase_add_test(tc, nobody_enters_while_a_fork_is_under_way);
	tcase_add_test(tc, a_fork_by_a_thread_that_is_inside_takes_place);
	suite_add_tcase(suite, tc);
	return suite;
}
