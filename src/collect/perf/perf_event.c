/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the kernel's events, requests less if refused, and controls them. */
#include "perf_event.h"

#include "collect/machine/cpu_list.h"
#include "collect/machine/fd_limit.h"
#include "perf_attr.h"
#include "perf_period.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/host_info.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	RING_PAGES_MIN = 16,
	STACK_SHARE = 8, /* a copied stack takes at most this share of a ring */
};

#define HEADROOM_NS (75 * TP_NS_PER_MS)

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Opens an event that writes to the ring of another event of the same CPU; returns -1 with
 * errno. */
static int event_open_into(struct perf_event_attr *attr, pid_t pid, int cpu, int ring_fd)
{
	int fd = event_open(attr, pid, cpu);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) == 0)
		return fd;
	int failure = errno;
	close(fd);
	errno = failure;
	return -1;
}

struct tp_perf_layout tp_perf_events_layout(const struct tp_perf_setup *setup)
{
	return (struct tp_perf_layout){.has_chain = setup->has_kernel,
				       .has_stack = setup->stack_bytes > 0,
				       .has_event = tp_perf_has_event_id(setup)};
}

/* An inherited event can have a ring only if it is bound to a CPU. */
static int open_self(struct perf_event_attr *attr, int cpu)
{
	attr->disabled = attr->enable_on_exec = 0;
	attr->inherit = cpu >= 0;
	return event_open(attr, 0, cpu);
}

int tp_perf_open_sampler_self(const struct tp_perf_setup *setup, uint64_t period_ns, int cpu)
{
	struct perf_event_attr attr = tp_perf_attr_sampler(setup, period_ns);
	return open_self(&attr, cpu);
}

int tp_perf_open_switches_self(int cpu)
{
	const struct tp_perf_setup setup = {0};
	struct perf_event_attr attr = tp_perf_attr_switches(&setup);
	return open_self(&attr, cpu);
}

int tp_perf_open_idle(pid_t tid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	return event_open(&attr, tid, -1);
}

int tp_perf_open_thread(pid_t tid, const struct tp_perf_setup *setup, uint64_t period_ns)
{
	struct perf_event_attr attr = tp_perf_attr_sampler(setup, period_ns);
	attr.disabled = attr.enable_on_exec = attr.inherit = 0;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
	attr.watermark = 0;
	attr.wakeup_events = 1;
	return event_open(&attr, tid, -1);
}

int tp_perf_test_open(bool with_kernel)
{
	struct tp_perf_setup setup = {.has_kernel = with_kernel, .stack_bytes = 1024};
	struct perf_event_attr attr = tp_perf_attr_sampler(&setup, TP_NS_PER_S);
	int fd = event_open(&attr, 0, 0);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void list_cpus(const struct tp_host *host, struct tp_cpu_list *out)
{
	char path[4096];
	char text[4096];
	struct tp_cpu_list possible;
	tp_host_path(host, path, sizeof(path), "/sys/devices/system/cpu/online");
	if (tp_file_peek(path, text, sizeof(text)) <= 0 || !tp_cpu_list_parse(out, text) ||
	    tp_cpu_list_count(out) == 0)
		(void)tp_cpu_list_parse(out, "0"); /* without /sys: CPU 0 always exists */
	tp_host_path(host, path, sizeof(path), "/sys/devices/system/cpu/possible");
	if (tp_file_peek(path, text, sizeof(text)) > 0 && tp_cpu_list_parse(&possible, text))
		tp_cpu_list_intersect(out, &possible);
}

static void events_alloc(struct tp_perf_events *out, const struct tp_host *host)
{
	struct tp_cpu_list list;
	list_cpus(host, &list);
	uint32_t n = tp_cpu_list_count(&list);
	out->cpus = tp_alloc(n * sizeof(*out->cpus));
	out->sample_fds = tp_alloc(n * sizeof(*out->sample_fds));
	out->switch_fds = tp_alloc(n * sizeof(*out->switch_fds));
	out->leave_fds = tp_alloc(n * sizeof(*out->leave_fds));
	out->rings = tp_alloc(n * sizeof(*out->rings));
	for (uint32_t cpu = 0; cpu < TP_CPU_LIST_MAX && out->n_cpus < n; cpu++)
		if (tp_cpu_list_has(&list, cpu))
			out->cpus[out->n_cpus++] = cpu;
	out->cpu_limit = out->n_cpus ? out->cpus[out->n_cpus - 1] + 1 : 0;
	for (uint32_t i = 0; i < n; i++)
		out->sample_fds[i] = out->switch_fds[i] = out->leave_fds[i] = -1;
}

static void fds_close(struct tp_perf_fds *fds)
{
	for (size_t i = 0; i < fds->n; i++)
		close(fds->items[i]);
	free(fds->items);
	*fds = (struct tp_perf_fds){0};
}

static void cpu_close(struct tp_perf_events *events, uint32_t i)
{
	if (events->rings[i].page)
		tp_perf_ring_unmap(&events->rings[i]);
	if (events->leave_fds[i] >= 0)
		close(events->leave_fds[i]);
	if (events->switch_fds[i] >= 0)
		close(events->switch_fds[i]);
	if (events->sample_fds[i] >= 0)
		close(events->sample_fds[i]);
	events->sample_fds[i] = events->switch_fds[i] = events->leave_fds[i] = -1;
}

static void events_close_all(struct tp_perf_events *events)
{
	fds_close(&events->joined_switches);
	fds_close(&events->joined_samplers);
	for (uint32_t i = 0; i < events->n_cpus; i++)
		cpu_close(events, i);
}

void tp_perf_events_close(struct tp_perf_events *events)
{
	events_close_all(events);
	free(events->cpus);
	free(events->sample_fds);
	free(events->switch_fds);
	free(events->leave_fds);
	tp_map_release(&events->leave_ids);
	free(events->rings);
	*events = (struct tp_perf_events){0};
}

/* Late enough to be rare, early enough that the rest of the ring lasts a while: a busy thread
 * produces one sample per period, and we may have to wait for a CPU. */
static double choose_watermark(const struct tp_perf_setup *setup, size_t ring_bytes)
{
	double filled = (double)setup->stack_bytes * (double)HEADROOM_NS /
			(double)(setup->period_ns + 1) / (double)ring_bytes;
	double share = 1 - filled;
	return share < 0.25 ? 0.25 : share > 0.5 ? 0.5 : share;
}

/* Records the event's id. */
static void register_listener(int fd, pid_t tid, struct tp_map *listeners)
{
	uint64_t id;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
		tp_map_set(listeners, id, (uint64_t)tid);
}

/* Returns 0 or an errno. */
static int open_switch_out(struct tp_perf_events *events, uint32_t i, pid_t target)
{
	struct perf_event_attr attr = tp_perf_attr_switch_out(&events->setup);
	int fd = event_open_into(&attr, target, (int)events->cpus[i], events->sample_fds[i]);
	if (fd < 0)
		return events->leaves_failure = errno;
	events->leave_fds[i] = fd;
	register_listener(fd, target, &events->leave_ids);
	return 0;
}

/* Opens one CPU's events and ring. Returns 0, ENODEV if the CPU is gone, or another errno. */
static int cpu_open(struct tp_perf_events *events, uint32_t i, pid_t target, uint64_t period_ns)
{
	const struct tp_perf_setup *setup = &events->setup;
	struct perf_event_attr attr = tp_perf_attr_sampler(setup, period_ns);
	size_t ring_bytes = (size_t)setup->ring_pages * (size_t)sysconf(_SC_PAGESIZE);
	events->wakeup_share = choose_watermark(setup, ring_bytes);
	attr.wakeup_watermark = (uint32_t)((double)ring_bytes * events->wakeup_share);
	events->sample_fds[i] = event_open(&attr, target, (int)events->cpus[i]);
	if (events->sample_fds[i] < 0)
		return errno;
	int failure = tp_perf_ring_map(&events->rings[i], events->sample_fds[i], setup->ring_pages);
	events->rings[i].has_events = tp_perf_has_event_id(setup);
	if (failure || !setup->has_switches || setup->is_wide)
		return failure;
	attr = tp_perf_attr_switches(setup);
	attr.enable_on_exec = !setup->is_attaching && !setup->switches_start_off;
	events->switch_fds[i] =
		event_open_into(&attr, target, (int)events->cpus[i], events->sample_fds[i]);
	if (events->switch_fds[i] < 0)
		return errno;
	return setup->has_leaves ? open_switch_out(events, i, target) : 0;
}

/* Removes a CPU that went offline meanwhile: closes the gap in the arrays. */
static void cpu_drop(struct tp_perf_events *events, uint32_t i)
{
	cpu_close(events, i);
	events->leaves_failure = 0;
	events->n_cpus--;
	for (; i < events->n_cpus; i++)
		events->cpus[i] = events->cpus[i + 1];
}

static int open_all(struct tp_perf_events *events, pid_t target, uint64_t seed)
{
	uint32_t i = 0;
	while (i < events->n_cpus) {
		uint64_t period_ns = tp_perf_period(events->setup.period_ns, seed, i);
		int failure = cpu_open(events, i, target, period_ns);
		if (failure == ENODEV && events->n_cpus > 1) {
			cpu_drop(events, i);
			continue;
		}
		if (failure)
			return failure;
		i++;
	}
	return 0;
}

/* Requests less after `failure`; false if nothing is left to give up. */
static bool reduce_setup(struct tp_perf_events *events, int failure)
{
	struct tp_perf_setup *setup = &events->setup;
	bool is_short = failure == EMFILE || failure == ENFILE;
	if (setup->has_leaves && (events->leaves_failure || is_short)) {
		setup->has_leaves = false;
		events->leaves_failure = failure;
		return true;
	}
	if (is_short) {
		bool had_switches = setup->has_switches;
		setup->has_switches = false;
		return had_switches;
	}
	/* The user's locked memory is exhausted. */
	if ((failure != EPERM && failure != ENOMEM) || setup->ring_pages <= RING_PAGES_MIN)
		return false;
	setup->ring_pages /= 2;
	return true;
}

/* Gives up what there are too few descriptors for. Returns 0 or EMFILE. */
static int fit_descriptors(struct tp_perf_events *events)
{
	struct tp_perf_setup *setup = &events->setup;
	uint64_t left = tp_fd_limit_left(TP_PERF_FDS_RESERVED);
	if (setup->has_leaves && left < 3 * (uint64_t)events->n_cpus) {
		setup->has_leaves = false;
		events->leaves_failure = EMFILE;
	}
	if (left < 2 * (uint64_t)events->n_cpus)
		setup->has_switches = false;
	return left < events->n_cpus ? EMFILE : 0;
}

static enum tp_status explain_failure(int failure, struct tp_error *err)
{
	if (failure == ENOMEM)
		return tp_fail(err, TP_BUSY, "no memory for perf rings");
	if (failure != EMFILE && failure != ENFILE)
		return tp_fail_errno(err, failure, "perf_event_open");
	(void)tp_fail(err, TP_BUSY, "too few file descriptors for one event per CPU");
	if (failure == EMFILE)
		tp_error_next_more_files(err);
	return TP_BUSY;
}

enum tp_status tp_perf_events_open(struct tp_perf_events *out, const struct tp_host *host,
				   pid_t target, const struct tp_perf_setup *setup, uint64_t *seed,
				   struct tp_error *err)
{
	struct tp_perf_events events = {.setup = *setup};
	events_alloc(&events, host);
	uint64_t first = tp_perf_random(seed);
	int failure = fit_descriptors(&events);
	while (!failure) {
		struct tp_perf_setup *now = &events.setup;
		uint64_t ring_bytes = (uint64_t)now->ring_pages * (uint64_t)sysconf(_SC_PAGESIZE);
		if (now->stack_bytes > ring_bytes / STACK_SHARE)
			now->stack_bytes = (uint32_t)(ring_bytes / STACK_SHARE);
		failure = open_all(&events, target, first);
		if (!failure)
			break;
		events_close_all(&events);
		if (reduce_setup(&events, failure))
			failure = 0;
	}
	if (failure) {
		tp_perf_events_close(&events);
		return explain_failure(failure, err);
	}
	*out = events;
	return TP_OK;
}

/* Opens one CPU's events for a thread. Returns 0 or an errno. */
static int join_cpu(struct tp_perf_events *events, uint32_t i, pid_t tid, uint64_t period_ns,
		    struct tp_map *listeners)
{
	int cpu = (int)events->cpus[i];
	struct perf_event_attr attr = tp_perf_attr_sampler(&events->setup, period_ns);
	int fd = event_open_into(&attr, tid, cpu, events->sample_fds[i]);
	if (fd < 0)
		return errno;
	TP_ARRAY_PUSH(events->joined_samplers.items, events->joined_samplers.n,
		      events->joined_samplers.capacity) = fd;
	register_listener(fd, tid, listeners);
	if (!events->setup.has_switches)
		return 0;
	attr = tp_perf_attr_switches(&events->setup);
	fd = event_open_into(&attr, tid, cpu, events->sample_fds[i]);
	if (fd < 0)
		return errno;
	TP_ARRAY_PUSH(events->joined_switches.items, events->joined_switches.n,
		      events->joined_switches.capacity) = fd;
	register_listener(fd, tid, listeners);
	return 0;
}

static void fds_truncate(struct tp_perf_fds *fds, size_t n)
{
	while (fds->n > n)
		close(fds->items[--fds->n]);
}

static void enable(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int tp_perf_events_join(struct tp_perf_events *events, pid_t tid, bool is_first, uint64_t *seed,
			struct tp_map *listeners)
{
	struct tp_perf_fds *samplers = &events->joined_samplers;
	struct tp_perf_fds *switches = &events->joined_switches;
	size_t n_samplers = samplers->n;
	size_t n_switches = switches->n;
	uint64_t first = tp_perf_random(seed);
	for (uint32_t i = 0; i < events->n_cpus; i++) {
		if (is_first) {
			register_listener(events->sample_fds[i], tid, listeners);
			if (events->switch_fds[i] >= 0)
				register_listener(events->switch_fds[i], tid, listeners);
			enable(events->sample_fds[i]);
			continue;
		}
		uint64_t period_ns = tp_perf_period(events->setup.period_ns, first, i);
		int failure = join_cpu(events, i, tid, period_ns, listeners);
		if (failure == ENODEV)
			continue; /* a CPU that went offline meanwhile */
		if (failure) {
			fds_truncate(samplers, n_samplers);
			fds_truncate(switches, n_switches);
			return failure;
		}
	}
	/* All at once: a child born between two of them would inherit only a part. */
	for (size_t i = n_samplers; i < samplers->n; i++)
		enable(samplers->items[i]);
	return 0;
}

static void set_on(int fd, bool is_on)
{
	ioctl(fd, is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void tp_perf_events_samples(const struct tp_perf_events *events, bool is_on)
{
	for (uint32_t i = 0; i < events->n_cpus; i++)
		set_on(events->sample_fds[i], is_on);
	for (size_t i = 0; i < events->joined_samplers.n; i++)
		set_on(events->joined_samplers.items[i], is_on);
}

static void close_switches(const struct tp_perf_events *events)
{
	for (uint32_t i = 0; i < events->n_cpus; i++) {
		if (events->switch_fds[i] >= 0)
			close(events->switch_fds[i]);
		events->switch_fds[i] = -1;
	}
}

bool tp_perf_events_prepare_switches(const struct tp_perf_events *events)
{
	struct perf_event_attr attr = tp_perf_attr_switches(&events->setup);
	for (uint32_t i = 0; events->setup.is_wide && i < events->n_cpus; i++) {
		int *fd = &events->switch_fds[i];
		if (*fd < 0)
			*fd = event_open_into(&attr, -1, (int)events->cpus[i],
					      events->sample_fds[i]);
		if (*fd < 0 && errno != ENODEV) {
			close_switches(events);
			return false;
		}
	}
	return true;
}

void tp_perf_events_switches(const struct tp_perf_events *events, bool is_on)
{
	for (uint32_t i = 0; i < events->n_cpus; i++)
		if (events->switch_fds[i] >= 0)
			set_on(events->switch_fds[i], is_on);
	for (size_t i = 0; i < events->joined_switches.n; i++)
		set_on(events->joined_switches.items[i], is_on);
	if (!is_on && events->setup.is_wide)
		close_switches(events);
}

void tp_perf_events_switch_out(const struct tp_perf_events *events, bool is_on)
{
	for (uint32_t i = 0; i < events->n_cpus; i++)
		if (events->leave_fds[i] >= 0)
			set_on(events->leave_fds[i], is_on);
}

void tp_perf_events_set_period(const struct tp_perf_events *events, uint32_t i, uint64_t period_ns)
{
	ioctl(events->sample_fds[i], PERF_EVENT_IOC_PERIOD, &period_ns);
}

void tp_perf_events_set_joined_period(const struct tp_perf_events *events, uint64_t period_ns)
{
	for (size_t i = 0; i < events->joined_samplers.n; i++)
		ioctl(events->joined_samplers.items[i], PERF_EVENT_IOC_PERIOD, &period_ns);
}
