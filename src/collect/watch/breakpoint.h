/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hardware breakpoint on one thread: the kernel records the time, CLOCK_MONOTONIC in ns, of each
 * write to a word of its memory, or of each call of a function. The program is not changed: a debug
 * register of the processor raises the event, which costs the thread 1 us on real hardware and 6 to
 * 12 us on a virtual machine.
 *
 * The caller that opens one closes it. There are four debug registers for each thread, shared with
 * debuggers. Not thread-safe. The thread may end or call exec while it is open: then no more hits
 * come.
 */
#ifndef TRAINPROF_SRC_COLLECT_WATCH_BREAKPOINT_H
#define TRAINPROF_SRC_COLLECT_WATCH_BREAKPOINT_H

#include "collect/perf/perf_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

/* The kernel calls, replaceable in tests. */
struct tp_breakpoint_system {
	int (*open)(struct perf_event_attr *attr, pid_t tid); /* a descriptor, or -1 with errno */
	int (*map)(struct tp_perf_ring *out, int fd, size_t n_pages); /* 0 or an errno */
	int (*close)(int fd);
};

extern const struct tp_breakpoint_system tp_breakpoint_kernel;

struct tp_breakpoint_place {
	pid_t tid;
	uint64_t address;
	unsigned len; /* bytes that are written: 1, 2, 4 or 8; 0 for a call */
	bool is_call; /* `address` is the entry of a function */
};

struct tp_breakpoint {
	const struct tp_breakpoint_system *system;
	struct tp_perf_ring ring;
	int fd;
	uint64_t n_hits; /* since it was opened, including lost ones */
	uint64_t n_lost; /* because the ring was full */
};

/* Returns 0, or an errno and nothing is open: ENOSPC all registers are in use; ENOENT, EOPNOTSUPP,
 * ENODEV or EINVAL the machine has none, or not for such an address; EACCES or EPERM not allowed
 * (the locked memory of this user may be exhausted); ESRCH the thread has ended. */
int tp_breakpoint_open(struct tp_breakpoint *out, const struct tp_breakpoint_system *system,
		       const struct tp_breakpoint_place *place);
void tp_breakpoint_close(struct tp_breakpoint *self);

/* Reports the hits since the last call, in the order of time, each with its number, from 1. A
 * number is skipped if records were lost. Returns how many were reported. */
typedef void tp_breakpoint_hit_fn(void *context, uint64_t time_ns, uint64_t number);
size_t tp_breakpoint_drain(struct tp_breakpoint *self, tp_breakpoint_hit_fn *hit, void *context);

/* Returns the CPU time in ns of one of n hits, measured on this thread; 0 if it cannot be measured,
 * with *failure an errno as for opening. One hit takes 2 to 40 us. */
double tp_breakpoint_cost_ns(unsigned n, int *failure);

/* Returns the reason for a failure as text for users. */
const char *tp_breakpoint_failure_text(int failure);

#endif
