/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a program does with a kernel counter that only the test uses. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_CPUTRUTH_H
#define TRAINPROF_TESTS_UNIT_COLLECT_CPUTRUTH_H

#include <check.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Opens a counter of a software event (PERF_COUNT_SW_...) for a process that is held before its
 * exec, and for all processes that it starts, from that exec to the end of each. trainprof's own
 * events have the same boundaries and the same clock, which keeps running while the host has the
 * CPU. getrusage() would also include the fork and the ends of all processes, which take longer the
 * busier the machine is, but not the time that the host took. The caller must check that perf
 * events are not refused.
 */
static inline int cputruth_open(pid_t pid, uint64_t event)
{
	struct perf_event_attr attr;
	int fd = -1;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = event;
	attr.inherit = 1;
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	/* Some users may not count events in the kernel; CPU time in the kernel is counted all the
	 * same. */
	for (int tries = 0; tries < 2 && fd < 0; tries++) {
		attr.exclude_kernel = attr.exclude_hv = tries > 0;
		fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* Returns the count so far, of all processes that have ended and all that run. */
static inline double cputruth_read(int fd)
{
	uint64_t count = 0;
	ck_assert_int_eq(read(fd, &count, sizeof(count)), (ssize_t)sizeof(count));
	return (double)count;
}

/* Returns the count and closes the counter. */
static inline double cputruth_take(int fd)
{
	double count = cputruth_read(fd);
	close(fd);
	return count;
}

#endif
