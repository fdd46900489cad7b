/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how signals to a process group are distinguished from signals to one process. Each test is
 * a process that leads a group of its own. */
#include "collect/process/group_signal.h"
#include "trainprof/collect/helper_process.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tp_group_listener listener;

static void setup(void)
{
	sigset_t taken;
	sigfillset(&taken);
	ck_assert_int_eq(setpgid(0, 0), 0);
	sigprocmask(SIG_BLOCK, &taken, NULL);
	tp_group_listener_start(&listener);
	ck_assert_int_gt(listener.pid, 0);
}

static void teardown(void)
{
	tp_group_listener_end(&listener);
}

START_TEST(a_signal_to_the_group_is_found_once)
{
	struct tp_group_signals of_group;
	kill(0, _i);
	tp_group_listener_request(&listener, &of_group);
	ck_assert(!tp_group_signals_remove(&of_group, _i, getpid() + 1));
	ck_assert(!tp_group_signals_remove(&of_group, SIGWINCH, getpid()));
	ck_assert(tp_group_signals_remove(&of_group, _i, getpid()));
	ck_assert(!tp_group_signals_remove(&of_group, _i, getpid()));
	tp_group_listener_request(&listener, &of_group);
	ck_assert(!tp_group_signals_remove(&of_group, _i, getpid()));
}
END_TEST

START_TEST(a_signal_to_us_is_not_found)
{
	struct tp_group_signals of_group;
	kill(getpid(), SIGUSR1);
	tp_group_listener_request(&listener, &of_group);
	ck_assert(!tp_group_signals_remove(&of_group, SIGUSR1, getpid()));
}
END_TEST

START_TEST(signals_that_queue_are_found_as_often_as_sent)
{
	enum { SENT = 3 };
	struct tp_group_signals of_group;
	for (int i = 0; i < SENT; i++)
		kill(0, SIGRTMIN + 1);
	tp_group_listener_request(&listener, &of_group);
	for (int i = 0; i < SENT; i++)
		ck_assert(tp_group_signals_remove(&of_group, SIGRTMIN + 1, getpid()));
	ck_assert(!tp_group_signals_remove(&of_group, SIGRTMIN + 1, getpid()));
}
END_TEST

static void stop_listener(void)
{
	siginfo_t info;
	kill(listener.pid, SIGSTOP);
	ck_assert_int_eq(waitid(P_PID, (id_t)listener.pid, &info, WSTOPPED | WNOWAIT), 0);
}

static void continue_listener(void)
{
	kill(listener.pid, SIGCONT);
	ck_assert_int_eq(waitpid(listener.pid, NULL, WCONTINUED), listener.pid);
}

/* Its late answer comes before the next, and may have a part of what the next request is for. */
START_TEST(a_listener_that_is_stopped_says_nothing)
{
	struct tp_group_signals of_group;
	stop_listener();
	kill(0, SIGUSR1);
	ck_assert(!tp_group_listener_request(&listener, &of_group));
	ck_assert(!tp_group_signals_remove(&of_group, SIGUSR1, getpid()));
	continue_listener();
	kill(0, SIGUSR2);
	ck_assert(tp_group_listener_request(&listener, &of_group));
	ck_assert(tp_group_signals_remove(&of_group, SIGUSR2, getpid()));
}
END_TEST

/* The first signal was passed on without an answer; the second, of the same number, is for us. */
START_TEST(a_late_answer_swallows_no_later_signal)
{
	const int signal = SIGRTMIN + 1;
	struct tp_group_signals of_group;
	stop_listener();
	kill(0, signal);
	ck_assert(!tp_group_listener_request(&listener, &of_group));
	tp_group_listener_give_up(&listener, signal, getpid());
	continue_listener();
	kill(getpid(), signal);
	ck_assert(tp_group_listener_request(&listener, &of_group));
	ck_assert(!tp_group_signals_remove(&of_group, signal, getpid()));
}
END_TEST

START_TEST(what_was_given_up_is_forgotten_after_an_answer)
{
	const int signal = SIGRTMIN + 1;
	struct tp_group_signals of_group;
	stop_listener();
	kill(getpid(), signal);
	ck_assert(!tp_group_listener_request(&listener, &of_group));
	tp_group_listener_give_up(&listener, signal, getpid());
	continue_listener();
	ck_assert(tp_group_listener_request(&listener, &of_group));
	ck_assert(!tp_group_signals_remove(&of_group, signal, getpid()));
	kill(0, signal);
	ck_assert(tp_group_listener_request(&listener, &of_group));
	ck_assert(tp_group_signals_remove(&of_group, signal, getpid()));
}
END_TEST

START_TEST(without_a_listener_nothing_is_of_the_group)
{
	struct tp_group_signals of_group;
	pid_t pid = listener.pid;
	kill(pid, SIGKILL);
	kill(0, SIGUSR1);
	tp_group_listener_request(&listener, &of_group);
	ck_assert(!tp_group_signals_remove(&of_group, SIGUSR1, getpid()));
	tp_group_listener_end(&listener);
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), -1); /* reaped */
	tp_group_listener_request(&listener, &of_group);
	ck_assert(!tp_group_signals_remove(&of_group, SIGUSR1, getpid()));
}
END_TEST

START_TEST(a_helper_is_listed_until_it_ends)
{
	pid_t pid = listener.pid;
	ck_assert(tp_helper_is_known(pid));
	ck_assert(!tp_helper_is_known(getpid()));
	ck_assert(!tp_helper_is_known(0));
	tp_group_listener_end(&listener);
	ck_assert(!tp_helper_is_known(pid));
}
END_TEST

Suite *suite_collect_group_signal(void);
Suite *suite_collect_group_signal(void)
{
	static const int numbers[] = {SIGUSR1, SIGINT, SIGTERM, SIGHUP};
	Suite *suite = suite_create("collect/group_signal");
	TCase *tc = tcase_create("group_signal");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		tcase_add_loop_test(tc, a_signal_to_the_group_is_found_once, numbers[i],
				    numbers[i] + 1);
	tcase_add_test(tc, a_signal_to_us_is_not_found);
	tcase_add_test(tc, signals_that_queue_are_found_as_often_as_sent);
	tcase_add_test(tc, a_listener_that_is_stopped_says_nothing);
	tcase_add_test(tc, a_late_answer_swallows_no_later_signal);
	tcase_add_test(tc, what_was_given_up_is_forgotten_after_an_answer);
	tcase_add_test(tc, without_a_listener_nothing_is_of_the_group);
	tcase_add_test(tc, a_helper_is_listed_until_it_ends);
	suite_add_tcase(suite, tc);
	return suite;
}
