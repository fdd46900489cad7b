/* SPDX-License-Identifier: Apache-2.0 */
/* Opens per-CPU events if they are allowed and fit. */
#include "perf_system_wide.h"

#include "collect/machine/host_file.h"
#include "collect/machine/host_stat.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

static bool read_busy(uint64_t *busy_ns, const struct tp_host *host)
{
	struct tp_buf text = {0};
	struct tp_cpu_list all;
	struct tp_host_stat_cpu cpu;
	memset(&all, 0xff, sizeof(all));
	bool is_read = tp_host_file_read(&text, host, "/proc/stat") &&
		       tp_host_stat_cpu(&cpu, text.data, &all, (uint64_t)sysconf(_SC_CLK_TCK));
	tp_buf_release(&text);
	if (is_read)
		*busy_ns = cpu.busy_ns;
	return is_read;
}

uint64_t tp_perf_system_wide_used_ns(const struct tp_task_tree *tree)
{
	uint64_t used_ns = 0;
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor))) {
		clockid_t clock;
		struct timespec t;
		if (task->info.tid == task->info.pid &&
		    clock_getcpuclockid(task->info.pid, &clock) == 0 &&
		    clock_gettime(clock, &t) == 0)
			used_ns += (uint64_t)t.tv_sec * TP_NS_PER_S + (uint64_t)t.tv_nsec;
	}
	return used_ns;
}

bool tp_perf_system_wide_fits(struct tp_perf_system_wide *wide, const struct tp_host *host,
			      uint64_t target_ns)
{
	uint64_t busy_ns;
	if (!read_busy(&busy_ns, host))
		return false;
	/* Processes that have ended are missing from the new total. */
	uint64_t used_ns = target_ns > wide->target_ns ? target_ns - wide->target_ns : 0;
	bool fits = busy_ns - wide->busy_ns <= 2 * used_ns;
	wide->busy_ns = busy_ns;
	wide->target_ns = target_ns;
	return fits;
}

/* The arrays by CPU were allocated for the events of threads, and a smaller stack is less
 * detail. */
static bool is_as_good(const struct tp_perf_events *wide, const struct tp_perf_events *threads)
{
	const struct tp_perf_setup *got = &wide->setup;
	const struct tp_perf_setup *had = &threads->setup;
	return wide->cpu_limit == threads->cpu_limit && got->has_switches == had->has_switches &&
	       got->ring_pages == had->ring_pages && got->stack_bytes == had->stack_bytes;
}

bool tp_perf_system_wide_open(struct tp_perf_system_wide *wide, struct tp_perf_events *out,
			      const struct tp_host *host, const struct tp_perf_events *threads,
			      uint64_t *seed)
{
	struct tp_perf_events events;
	struct tp_perf_setup setup = threads->setup;
	struct tp_error err = {0};
	setup.is_wide = true;
	setup.is_attaching = setup.has_leaves = false;
	wide->is_refused = true;
	if (tp_perf_events_open(&events, host, -1, &setup, seed, &err)) {
		tp_info("no events of CPUs: %s", err.text);
		return false;
	}
	if (!is_as_good(&events, threads)) {
		tp_info("system-wide events have less detail");
		tp_perf_events_close(&events);
		return false;
	}
	wide->is_refused = false;
	tp_perf_events_samples(&events, true);
	*out = events;
	return true;
}
