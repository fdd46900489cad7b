/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how signals to a process group are distinguished from signals to one process. Each test is
 * a process that leads a group of its own. */
#include "collect/process/group_signal.h"
#include "trainprof/collect/helper_process.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
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
	listener.looks_max = 50 * 60; /* a busy machine lets the child wait: one minute */
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

/* It stops again after it has answered. */
static void let_listener_answer(void)
{
	struct pollfd wait = {.fd = listener.fd, .events = POLLIN};
	continue_listener();
	ck_assert_int_eq(poll(&wait, 1, -1), 1);
	stop_listener();
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

/* The request that its late answer comes to is not answered either. */
START_TEST(what_a_late_answer_says_is_known_without_an_answer)
{
	struct tp_group_signals of_group;
	stop_listener();
	ck_assert(!tp_group_listener_request(&listener, &of_group));
	kill(0, SIGUSR1);
	let_listener_answer();
	ck_assert(!tp_group_listener_request(&listener, &of_group));
	ck_assert(!tp_group_signals_has(&of_group, SIGUSR2, getpid()));
	ck_assert(tp_group_signals_has(&of_group, SIGUSR1, getpid()));
	ck_assert(tp_group_signals_remove(&of_group, SIGUSR1, getpid()));
	ck_assert(!tp_group_signals_has(&of_group, SIGUSR1, getpid()));
	continue_listener();
}
END_TEST

/* Some of these did not fit into the list; the last signal is for us. */
START_TEST(late_answers_are_not_trusted_after_many_signals)
{
	const int signal = SIGRTMIN + 1;
	struct tp_group_signals of_group;
	stop_listener();
	for (int i = 0; i <= TP_GROUP_SIGNALS_MAX; i++)
		tp_group_listener_give_up(&listener, SIGUSR2, getpid());
	kill(0, signal);
	tp_group_listener_give_up(&listener, signal, getpid());
	continue_listener();
	kill(getpid(), signal);
	ck_assert(tp_group_listener_request(&listener, &of_group));
	ck_assert(!tp_group_signals_remove(&of_group, signal, getpid()));
	kill(0, signal);
	ck_assert(tp_group_listener_request(&listener, &of_group));
	ck_assert(tp_group_signals_remove(&of_group, signal, getpid()));
}
END_TEST

/* As under a debugger: neither stopped in our eyes nor able to answer. */
START_TEST(a_stuck_listener_is_waited_for_once)
{
	int mute[2];
	int fd = listener.fd;
	struct tp_group_signals of_group;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, mute), 0);
	listener.fd = mute[0];
	listener.looks_max = 2;
	ck_assert(!tp_group_listener_request(&listener, &of_group));
	ck_assert(listener.is_stuck);
	listener.looks_max = 50 * 600;
	ck_assert(!tp_group_listener_request(&listener, &of_group));
	listener.fd = fd;
	ck_assert(tp_group_listener_request(&listener, &of_group));
	ck_assert(!listener.is_stuck);
	close(mute[0]);
	close(mute[1]);
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
	tcase_set_timeout(tc, 100);
	tcase_add_checked_fixture(tc, setup, teardown);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		tcase_add_loop_test(tc, a_signal_to_the_group_is_found_once, numbers[i],
				    numbers[i] + 1);
	tcase_add_test(tc, a_signal_to_us_is_not_found);
	tcase_add_test(tc, signals_that_queue_are_found_as_often_as_sent);
	tcase_add_test(tc, a_listener_that_is_stopped_says_nothing);
	tcase_add_test(tc, a_late_answer_swallows_no_later_signal);
	tcase_add_test(tc, what_was_given_up_is_forgotten_after_an_answer);
	tcase_add_test(tc, what_a_late_answer_says_is_known_without_an_answer);
	tcase_add_test(tc, late_answers_are_not_trusted_after_many_signals);
	tcase_add_test(tc, a_stuck_listener_is_waited_for_once);
	tcase_add_test(tc, without_a_listener_nothing_is_of_the_group);
	tcase_add_test(tc, a_helper_is_listed_until_it_ends);
	suite_add_tcase(suite, tc);
	return suite;
}
