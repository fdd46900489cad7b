/* SPDX-License-Identifier: Apache-2.0 */
/* Raises the scheduling priority of this process. */
#include "sched_priority.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE_TARGET = -10 };

/* The minimum of the kernel (kernel/sched/syscalls.c, 6.12): earliest deadline after a wake-up. */
#define SLICE_NS 100000u

/* include/uapi/linux/sched/types.h, first version; the C library has no declaration. */
struct schedule {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns; /* slice of a normal thread, since 6.12 */
	uint64_t deadline_ns;
	uint64_t period_ns;
};

static void set_schedule(int nice, uint64_t slice_ns)
{
	struct schedule schedule = {.size = sizeof(schedule), .nice = nice};
	schedule.runtime_ns = slice_ns;
	(void)syscall(SYS_sched_setattr, 0, &schedule, 0); /* has no effect on older kernels */
}

void tp_sched_priority_raise(struct tp_sched_priority *before)
{
	*before = (struct tp_sched_priority){0};
	/* A policy other than the default was chosen on purpose, and the target inherits it. */
	if (syscall(SYS_sched_getscheduler, 0) != SCHED_OTHER)
		return;
	errno = 0;
	before->nice = getpriority(PRIO_PROCESS, 0);
	before->is_raised = !errno;
	if (!before->is_raised)
		return;
	int nice = before->nice;
	if (nice > NICE_TARGET && setpriority(PRIO_PROCESS, 0, NICE_TARGET) == 0)
		nice = NICE_TARGET;
	set_schedule(nice, SLICE_NS);
}

void tp_sched_priority_restore(const struct tp_sched_priority *before)
{
	if (before->is_raised)
		set_schedule(before->nice, 0);
}
