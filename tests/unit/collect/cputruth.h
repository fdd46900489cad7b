/* SPDX-License-Identifier: Apache-2.0 */
/* What a program does, counted by the kernel for a test alone. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_CPUTRUTH_H
#define TRAINPROF_TESTS_UNIT_COLLECT_CPUTRUTH_H

#include <check.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Counts a software event (PERF_COUNT_SW_...) of a process that is held before its exec, and of all
 * that it starts: from that exec to the end of each. These are the boundaries of trainprof's own
 * events, and their clock, which goes on while the host has the CPU. getrusage() has the fork and
 * the ends of all processes besides, which take the longer the busier the machine is, and not what
 * the host took. Where perf events are not refused.
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
	/* Not every user may count in the kernel; time there counts as time all the same. */
	for (int tries = 0; tries < 2 && fd < 0; tries++) {
		attr.exclude_kernel = attr.exclude_hv = tries > 0;
		fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* So far, in all that have ended and all that run. */
static inline double cputruth_read(int fd)
{
	uint64_t count = 0;
	ck_assert_int_eq(read(fd, &count, sizeof(count)), (ssize_t)sizeof(count));
	return (double)count;
}

/* Ends the counting. */
static inline double cputruth_take(int fd)
{
	double count = cputruth_read(fd);
	close(fd);
	return count;
}

#endif
