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

/* The least that the kernel takes (kernel/sched/syscalls.c, 6.12): due soonest when woken. */
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
	(void)syscall(SYS_sched_setattr, 0, &schedule, 0); /* older kernels: nothing is lost */
}

void tp_sched_priority_raise(struct tp_sched_priority *before)
{
	*before = (struct tp_sched_priority){0};
	/* Another policy than the usual one is somebody's wish, and the target inherits it. */
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
