/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the threads that may be stopped. */
#include "inject/thread_select.h"

#include "skip.h"

#include <check.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* For each call: true if a thread that waits in it may be interrupted, if such a thread is
 * preferred, and if a thread that is about to make the call may be stopped. */
static const struct {
	long number;
	uint64_t operation;
	bool is_wait;
	bool is_better;
	bool is_harmless;
} calls[] = {
	{SYS_read, 0, true, true, true},
	{SYS_ppoll, 0, true, true, true},
	{SYS_epoll_pwait, 0, true, false, true},     /* any stop ends it with EINTR */
	{SYS_clock_nanosleep, 0, true, false, true}, /* may be an allocator's */
	{SYS_futex, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, true, true, false},
	{SYS_futex, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, true, true, false},
	{SYS_futex, FUTEX_WAIT, false, true, false}, /* a lock, possibly malloc()'s */
	{SYS_write, 0, false, false, true},          /* may have written a part */
	{SYS_recvmsg, 0, false, false, true},
	{SYS_sched_yield, 0, false, false, true},
	{SYS_mmap, 0, false, false, false},
	{SYS_munmap, 0, false, false, false},
	{SYS_mprotect, 0, false, false, false},
	{SYS_madvise, 0, false, false, false},
	{SYS_brk, 0, false, false, false},
	{SYS_clone, 0, false, false, false},
	{SYS_execve, 0, false, false, false},
	{SYS_exit, 0, false, false, false},
	{SYS_rt_sigreturn, 0, false, false, false},
	{SYS_restart_syscall, 0, false, false, false},
	{-1, 0, false, false, false},
};

START_TEST(a_call_in_which_locks_may_be_had_is_none)
{
	long number = calls[_i].number;
	ck_assert_int_eq(tp_thread_select_is_wait(number, calls[_i].operation), calls[_i].is_wait);
	ck_assert_int_eq(tp_thread_select_is_better(number), calls[_i].is_better);
	ck_assert_int_eq(tp_thread_select_is_safe(number), calls[_i].is_harmless);
}
END_TEST

static void *spin(void *unused)
{
	for (volatile int i = 0; i < 2; i = i & 1)
		continue;
	return unused;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_lock(void *unused)
{
	pthread_mutex_lock(&lock);
	return unused;
}

static void *wait_long(void *unused)
{
	poll(NULL, 0, -1);
	return unused;
}

static void *wait_for_child(void *unused)
{
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	waitpid(child, NULL, 0);
	return unused;
}

/* Five threads: two that poll, one of them the first; one with a child; one that computes; one that
 * waits for a lock. */
static void be_five(void)
{
	pthread_t thread;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, wait_long, NULL);
	pthread_create(&thread, NULL, wait_for_child, NULL);
	pthread_create(&thread, NULL, spin, NULL);
	pthread_create(&thread, NULL, wait_lock, NULL);
	for (;;)
		poll(NULL, 0, -1);
}

START_TEST(threads_are_distinguished_by_what_they_do)
{
	struct tp_thread_select found = {0};
	const struct timespec nap = {.tv_nsec = 5000000};
	pid_t pid = fork();
	if (pid == 0)
		be_five();
	for (int i = 0; i < 4000; i++) {
		nanosleep(&nap, NULL);
		tp_thread_select_find(&found, pid);
		if (found.is_denied ||
		    (found.n_better == 1 && found.n_others == 2 && found.n_running))
			break;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (found.is_denied) {
		test_skip("system calls of a child cannot be read here");
		return;
	}
	ck_assert_uint_eq(found.n_better, 1);
	ck_assert_int_ne(found.better[0], pid);
	ck_assert_uint_eq(found.n_others, 2);
	ck_assert_uint_ge(found.n_running, 1);
}
END_TEST

START_TEST(a_process_that_is_gone_has_none)
{
	struct tp_thread_select found;
	tp_thread_select_find(&found, 0x7fffffff);
	ck_assert_uint_eq(found.n_better + found.n_others + found.n_running, 0);
}
END_TEST

Suite *suite_inject_thread_select(void);
Suite *suite_inject_thread_select(void)
{
	Suite *suite = suite_create("inject/candidate");
	TCase *tcase = tcase_create("all");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_call_in_which_locks_may_be_had_is_none, 0,
			    sizeof(calls) / sizeof(calls[0]));
	tcase_add_test(tcase, threads_are_distinguished_by_what_they_do);
	tcase_add_test(tcase, a_process_that_is_gone_has_none);
	suite_add_tcase(suite, tcase);
	return suite;
}
