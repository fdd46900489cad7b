/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/PID/task/TID. */
#include "thread_select.h"

#include "trainprof/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/*
 * System calls in which a thread may be interrupted. The list leaves out calls that write or
 * receive a whole message, because they would return after a part of it; calls that malloc() and
 * pthread_create() make while they hold a lock (mmap, munmap, mprotect, madvise, brk, clone,
 * sched_yield); calls that create or end processes; and ioctl(), whose drivers have rules of their
 * own.
 */
static const struct {
	long number;
	bool is_better;
} wait_calls[] = {
	{SYS_read, true},         {SYS_futex, true},      {SYS_ppoll, true},
	{SYS_pselect6, true},     {SYS_accept, true},     {SYS_accept4, true},
	{SYS_wait4, true},        {SYS_waitid, true},     {SYS_rt_sigsuspend, true},
#ifdef SYS_poll
	{SYS_poll, true},         {SYS_select, true},     {SYS_pause, true},
	{SYS_epoll_wait, false},
#endif
	{SYS_epoll_pwait, false}, {SYS_nanosleep, false}, {SYS_clock_nanosleep, false},
};

/* System calls that may be postponed before they begin. */
static const long safe_calls[] = {
	SYS_write,    SYS_readv,           SYS_writev,      SYS_pread64, SYS_pwrite64,
	SYS_recvfrom, SYS_recvmsg,         SYS_sendto,      SYS_sendmsg, SYS_ioctl,
	SYS_getppid,  SYS_rt_sigtimedwait, SYS_sched_yield, SYS_gettid,  SYS_getrusage,
	SYS_lseek,    SYS_clock_gettime,
};

enum { N_WAITS = sizeof(wait_calls) / sizeof(wait_calls[0]) };

static int row_of(long number)
{
	for (int i = 0; i < N_WAITS; i++)
		if (wait_calls[i].number == number)
			return i;
	return -1;
}

/* For futex(), only waits for a condition variable or a semaphore are safe: a thread that waits for
 * a lock uses other operations and may hold another lock. */
bool tp_thread_select_is_wait(long number, uint64_t operation)
{
	return row_of(number) >= 0 &&
	       (number != SYS_futex || (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET);
}

bool tp_thread_select_is_better(long number)
{
	return row_of(number) >= 0 && wait_calls[row_of(number)].is_better;
}

bool tp_thread_select_is_safe(long number)
{
	for (size_t i = 0; i < sizeof(safe_calls) / sizeof(safe_calls[0]); i++)
		if (safe_calls[i] == number)
			return true;
	return row_of(number) >= 0 && number != SYS_futex;
}

static ssize_t peek(pid_t pid, pid_t tid, const char *file, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	return tp_file_peek(path, text, size);
}

/* Returns the system call in which the thread waits; -1: none is reported, -2: permission denied.
 * The text is "NUMBER 0xARGUMENT 0xARGUMENT ...", or "running". */
static long call_of(pid_t pid, pid_t tid, uint64_t *operation, bool *is_running)
{
	char text[256];
	char *at;
	*is_running = false;
	if (peek(pid, tid, "syscall", text, sizeof(text)) <= 0)
		return errno == EPERM || errno == EACCES ? -2 : -1;
	*is_running = strncmp(text, "running", 7) == 0;
	if (*is_running)
		return -1;
	long number = strtol(text, &at, 10);
	strtoull(at, &at, 16);
	*operation = strtoull(at, NULL, 16);
	return number < 0 ? -1 : number;
}

bool tp_thread_select_is_waiting(pid_t pid, pid_t tid)
{
	uint64_t operation;
	bool is_running;
	long number = call_of(pid, tid, &operation, &is_running);
	return number >= 0 && tp_thread_select_is_wait(number, operation);
}

/* If the kernel does not list children, the answer is false. */
static bool has_children(pid_t pid, pid_t tid)
{
	char text[16];
	return peek(pid, tid, "children", text, sizeof(text)) > 0;
}

static void add(pid_t *list, size_t *n, pid_t tid)
{
	if (*n < TP_THREAD_SELECT_MAX)
		list[(*n)++] = tid;
}

static void inspect_thread(struct tp_thread_select *out, pid_t pid, pid_t tid)
{
	uint64_t operation;
	bool is_running;
	long number = call_of(pid, tid, &operation, &is_running);
	out->is_denied |= number == -2;
	if (is_running)
		add(out->running, &out->n_running, tid);
	if (number < 0 || !tp_thread_select_is_wait(number, operation))
		return;
	if (tid != pid && tp_thread_select_is_better(number) && !has_children(pid, tid))
		add(out->better, &out->n_better, tid);
	else
		add(out->others, &out->n_others, tid);
}

void tp_thread_select_find(struct tp_thread_select *out, pid_t pid)
{
	char path[64];
	*out = (struct tp_thread_select){0};
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): our own DIR */
		long tid = strtol(entry->d_name, NULL, 10);
		if (tid > 0)
			inspect_thread(out, pid, (pid_t)tid);
	}
	if (dir)
		closedir(dir);
}
