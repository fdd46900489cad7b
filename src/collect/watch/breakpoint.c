/* SPDX-License-Identifier: Apache-2.0 */
/* Opens hardware breakpoints and reads their hits. */
#include "breakpoint.h"

#include "collect/perf/perf_attr.h"
#include "collect/perf/perf_decode.h"

#include "trainprof/base/clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	RING_PAGES = 8, /* 800 hits: more than arrive between two drains at any affordable rate */
};

static int kernel_open(struct perf_event_attr *attr, pid_t tid)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

const struct tp_breakpoint_system tp_breakpoint_kernel = {.open = kernel_open,
							  .map = tp_perf_ring_map,
							  .close = close};

/* Before Linux 5.13 an event cannot be removed by an exec; then the caller has to close it. */
static int open_event(const struct tp_breakpoint_system *system,
		      const struct tp_breakpoint_place *place)
{
	struct perf_event_attr attr =
		tp_perf_attr_breakpoint(place->address, place->len, place->is_call);
	int fd = system->open(&attr, place->tid);
	if (fd >= 0 || (errno != EINVAL && errno != E2BIG))
		return fd;
	attr.remove_on_exec = 0;
	return system->open(&attr, place->tid);
}

int tp_breakpoint_open(struct tp_breakpoint *out, const struct tp_breakpoint_system *system,
		       const struct tp_breakpoint_place *place)
{
	struct tp_breakpoint opened = {.system = system};
	opened.fd = open_event(system, place);
	if (opened.fd < 0)
		return errno;
	int failure = system->map(&opened.ring, opened.fd, RING_PAGES);
	if (failure) {
		system->close(opened.fd);
		return failure;
	}
	*out = opened;
	return 0;
}

void tp_breakpoint_close(struct tp_breakpoint *self)
{
	tp_perf_ring_unmap(&self->ring);
	self->system->close(self->fd);
	self->fd = -1;
}

size_t tp_breakpoint_drain(struct tp_breakpoint *self, tp_breakpoint_hit_fn *hit, void *context)
{
	static const struct tp_perf_layout layout = {0};
	struct tp_perf_record record;
	const void *bytes;
	size_t size;
	size_t n = 0;
	uint64_t n_broken = self->ring.n_broken;
	(void)tp_perf_ring_refresh(&self->ring);
	while ((bytes = tp_perf_ring_next(&self->ring, &size))) {
		if (!tp_perf_record_decode(&record, bytes, size, &layout))
			continue;
		if (record.type == PERF_RECORD_LOST) {
			self->n_lost += record.of.n_lost;
			self->n_hits += record.of.n_lost;
		} else if (record.type == PERF_RECORD_SAMPLE) {
			hit(context, record.time_ns, ++self->n_hits);
			n++;
		}
	}
	tp_perf_ring_consume(&self->ring);
	/* The number of dropped hits is unknown; skipping one number marks the loss. */
	if (self->ring.n_broken != n_broken) {
		self->n_lost++;
		self->n_hits++;
	}
	return n;
}

double tp_breakpoint_cost_ns(unsigned n, int *failure)
{
	static volatile uint64_t word;
	struct tp_breakpoint breakpoint;
	const struct tp_breakpoint_place place = {.address = (uint64_t)(uintptr_t)&word,
						  .len = sizeof(word)};
	*failure = tp_breakpoint_open(&breakpoint, &tp_breakpoint_kernel, &place);
	if (*failure)
		return 0;
	uint64_t began_ns = tp_clock_self_cpu_ns();
	for (uint64_t i = 0; i < n; i++)
		word = i;
	uint64_t cpu_ns = tp_clock_self_cpu_ns() - began_ns;
	uint64_t n_written = tp_perf_ring_refresh(&breakpoint.ring) > 0;
	tp_breakpoint_close(&breakpoint);
	/* A hypervisor may reserve the registers for itself without an error. */
	if (!n_written) {
		*failure = ENOENT;
		return 0;
	}
	return (double)cpu_ns / n;
}

const char *tp_breakpoint_failure_text(int failure)
{
	switch (failure) {
	case ENOSPC:
		return "all debug registers are taken, by a debugger or another profiler";
	case EACCES:
	case EPERM:
		return "the kernel does not allow hardware breakpoints here";
	default:
		return "the processor or kernel has no hardware breakpoints";
	}
}
