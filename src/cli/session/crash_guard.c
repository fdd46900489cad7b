/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the program's exit status when trainprof crashes. */
#include "crash_guard.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/target.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Handlers have no parameter of ours: their data must be global. */
static struct {
	volatile sig_atomic_t pid; /* 0 = off */
	char message[300];
	size_t len;
} guard;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

/* From here on the code runs in a broken process: system calls only. */
static void exit_like(int status)
{
	if (WIFSIGNALED(status)) {
		int number = WTERMSIG(status);
		struct rlimit none = {0};
		struct sigaction action = {.sa_handler = SIG_DFL};
		sigset_t set;
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_DUMPABLE, 0);
		sigaction(number, &action, NULL);
		sigemptyset(&set);
		sigaddset(&set, number);
		kill(getpid(), number);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		_exit(128 + number);
	}
	_exit(WEXITSTATUS(status));
}

/* The signals are blocked in this thread already (tp_target_start), so they can be waited for. */
static void follow(pid_t pid)
{
	sigset_t set;
	tp_target_signals(&set);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (;;) {
		int status = 0;
		pid_t got = waitpid(pid, &status, WNOHANG);
		if (got == pid)
			exit_like(status);
		if (got < 0 && errno != EINTR)
			_exit(70);
		siginfo_t info;
		const struct timespec wait = {.tv_nsec = 100000000};
		int number = sigtimedwait(&set, &info, &wait);
		if (number > 0 && number != SIGCHLD &&
		    tp_target_should_forward(number, info.si_code))
			kill(pid, number);
	}
}

static void report_and_follow(void)
{
	pid_t pid = guard.pid;
	guard.pid = 0;
	if (!pid)
		return;
	ssize_t written = write(STDERR_FILENO, guard.message, guard.len);
	(void)written;
	follow(pid);
}

static void on_crash(int number)
{
	(void)number;
	report_and_follow();
	/* Nothing to guard: the signal kills the process as usual (SA_RESETHAND removed the
	 * handler). */
}

/* exit() during a measurement: memory is exhausted (tp_oom). */
static void on_exit_early(void)
{
	report_and_follow();
}

void tp_crash_guard_start(pid_t target, const char *name)
{
	static char stack[32768]; /* the normal stack may have overflowed */
	static int is_registered;
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_crash,
				   .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER};
	const char *parts[] = {"trainprof: internal error while measuring; ", name,
			       " is not affected\n"
			       "  next: trainprof doctor --json > bug.json, and report both\n"};
	guard.len = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t len = strlen(parts[i]);
		if (guard.len + len > sizeof(guard.message))
			continue;
		memcpy(guard.message + guard.len, parts[i], len);
		guard.len += len;
	}
	guard.pid = target;
	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, NULL);
	if (!is_registered)
		is_registered = atexit(on_exit_early) == 0;
}

void tp_crash_guard_stop(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	guard.pid = 0;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, NULL);
}
