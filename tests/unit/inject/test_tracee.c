/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a thread under ptrace. */
#include "inject/tracee.h"

#include "joining.h"
#include "skip.h"

#include "inject/machine.h"

#include "trainprof/base/clock.h"

#include <sys/epoll.h>
#include <sys/syscall.h>

static struct {
	pid_t pid;
	long number; /* of the system call it waits in */
	int end;     /* closing it ends the waiting */
} waiter;

/* Exits with 7 if the wait ends with the expected event, otherwise with the errno. */
static void wait_in_epoll(int end)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(0);
	epoll_ctl(fd, EPOLL_CTL_ADD, end, &event);
	_exit(epoll_pwait(fd, &event, 1, -1, NULL) == 1 ? 7 : errno);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Exits with 7 if a signal ends its read. */
static void wait_in_read(int end)
{
	struct sigaction action = {.sa_handler = on_signal};
	char byte;
	sigaction(SIGUSR1, &action, NULL);
	_exit(read(end, &byte, 1) < 0 && errno == EINTR ? 7 : 1);
}

static bool is_waiting(pid_t pid, long number)
{
	char path[64];
	char text[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	FILE *file = fopen(path, "r");
	bool is_said = file && fgets(text, sizeof(text), file) && text[0] != 'r' &&
		       strtol(text, NULL, 10) == number;
	if (file)
		fclose(file);
	return is_said;
}

static bool start_waiter(void (*wait)(int end), long number)
{
	int ends[2];
	sigset_t child;
	if (!tp_machine_is_known() || !joining_is_possible()) {
		test_skip("no thread can be held here");
		return false;
	}
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	ck_assert_int_eq(pipe(ends), 0);
	waiter.pid = fork();
	if (waiter.pid == 0) {
		close(ends[1]);
		wait(ends[0]);
	}
	close(ends[0]);
	waiter.end = ends[1];
	waiter.number = number;
	while (!is_waiting(waiter.pid, number))
		usleep(1000);
	ck_assert_int_eq(tp_tracee_seize(waiter.pid), 0);
	return true;
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

static void expect_nothing_noticed(void)
{
	int status = -1;
	ck_assert(tp_tracee_release(waiter.pid));
	/* The thread is back in its call, or outside of it because the call was ended. */
	while (!is_waiting(waiter.pid, waiter.number) && !has_ended(waiter.pid))
		usleep(1000);
	close(waiter.end);
	ck_assert_int_eq(waitpid(waiter.pid, &status, 0), waiter.pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%#x", (unsigned)status);
}

static uint64_t in_a_minute(void)
{
	return tp_clock_now_ns() + 60 * TP_NS_PER_S;
}

/* epoll_pwait() returns EINTR for any stop. */
START_TEST(a_stop_that_is_mended_ends_no_call)
{
	if (!start_waiter(wait_in_epoll, SYS_epoll_pwait))
		return;
	ck_assert(tp_tracee_interrupt(waiter.pid));
	ck_assert_int_eq(tp_tracee_wait(waiter.pid, false, in_a_minute()), TP_STOP_INTERRUPTED);
	tp_tracee_restart_call(waiter.pid);
	expect_nothing_noticed();
}
END_TEST

/* The kernel discards ignored signals, but not for a traced thread. */
START_TEST(a_signal_that_is_ignored_ends_no_call)
{
	if (!start_waiter(wait_in_epoll, SYS_epoll_pwait))
		return;
	for (int i = 0; i < 5; i++) {
		kill(waiter.pid, SIGURG);
		ck_assert_int_eq(tp_tracee_wait(waiter.pid, false,
						tp_clock_now_ns() + 50 * TP_NS_PER_MS),
				 TP_STOP_TIMEOUT);
	}
	ck_assert(tp_tracee_interrupt(waiter.pid));
	ck_assert_int_eq(tp_tracee_wait(waiter.pid, false, in_a_minute()), TP_STOP_INTERRUPTED);
	tp_tracee_restart_call(waiter.pid);
	expect_nothing_noticed();
}
END_TEST

/* The signal is blocked, as all signals are while a thread is used, and delivered when it is
 * released. */
START_TEST(a_signal_that_comes_while_it_is_held_ends_its_call)
{
	struct tp_registers at;
	struct tp_registers back;
	uint64_t mask;
	if (!start_waiter(wait_in_read, SYS_read))
		return;
	ck_assert(tp_tracee_interrupt(waiter.pid));
	ck_assert_int_eq(tp_tracee_wait(waiter.pid, false, in_a_minute()), TP_STOP_INTERRUPTED);
	ck_assert(tp_machine_get(waiter.pid, &at));
	ck_assert_int_eq(tp_machine_interrupted(waiter.pid, &at, &back), SYS_read);
	ck_assert(tp_tracee_mask(waiter.pid, &mask));
	ck_assert(tp_tracee_set_mask(waiter.pid, UINT64_MAX));
	kill(waiter.pid, SIGUSR1);
	ck_assert(tp_machine_set(waiter.pid, &back));
	ck_assert(tp_tracee_set_mask(waiter.pid, mask));
	expect_nothing_noticed();
}
END_TEST

Suite *suite_inject_tracee(void);
Suite *suite_inject_tracee(void)
{
	Suite *suite = suite_create("inject/tracee");
	TCase *tcase = tcase_create("all");
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, a_stop_that_is_mended_ends_no_call);
	tcase_add_test(tcase, a_signal_that_is_ignored_ends_no_call);
	tcase_add_test(tcase, a_signal_that_comes_while_it_is_held_ends_its_call);
	suite_add_tcase(suite, tcase);
	return suite;
}
