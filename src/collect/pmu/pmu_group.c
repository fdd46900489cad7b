/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, reads and scales groups of hardware counters. */
#include "pmu_group.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_one(const struct tp_pmu_event *counter, int leader,
		    const struct tp_pmu_group_options *options)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = counter->type;
	attr.config = counter->config;
	attr.config1 = counter->config1;
	attr.read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.inherit = options->inherit;
	attr.exclude_kernel = options->without_kernel;
	attr.exclude_hv = options->without_kernel;
	/* Members are enabled with their leader. */
	attr.disabled = leader < 0;
	attr.enable_on_exec = leader < 0 && options->on_exec;
	return (int)syscall(SYS_perf_event_open, &attr, options->pid, -1, leader,
			    PERF_FLAG_FD_CLOEXEC);
}

/* Closes members first: without its leader a member would start to count alone. */
void tp_pmu_group_close(struct tp_pmu_group *counters)
{
	for (size_t i = counters->n; i-- > 0;) {
		if (counters->fds[i] >= 0)
			close(counters->fds[i]);
		counters->fds[i] = -1;
	}
}

static int open_group(struct tp_pmu_group *out, const struct tp_pmu_event *counters, size_t n,
		      const struct tp_pmu_group_options *options)
{
	struct tp_pmu_group group = {.n = n < TP_PMU_GROUP_MAX ? n : TP_PMU_GROUP_MAX};
	for (size_t i = 0; i < TP_PMU_GROUP_MAX; i++)
		group.fds[i] = -1;
	for (size_t i = 0; i < group.n; i++) {
		group.fds[i] = open_one(&counters[i], i ? group.fds[0] : -1, options);
		if (group.fds[i] < 0 && (i == 0 || i < options->n_required)) {
			int error = errno;
			tp_pmu_group_close(&group);
			return error;
		}
	}
	if (!options->on_exec)
		ioctl(group.fds[0], PERF_EVENT_IOC_ENABLE, 0);
	*out = group;
	return 0;
}

int tp_pmu_group_open(struct tp_pmu_group *out, const struct tp_pmu_event *counters, size_t n,
		      struct tp_pmu_group_options *options)
{
	int error = open_group(out, counters, n, options);
	if ((error == EACCES || error == EPERM) && !options->without_kernel) {
		options->without_kernel = true;
		error = open_group(out, counters, n, options);
	}
	return error;
}

bool tp_pmu_group_has(const struct tp_pmu_group *counters, size_t i)
{
	return i < counters->n && counters->fds[i] >= 0;
}

bool tp_pmu_group_read(const struct tp_pmu_group *counters, struct tp_pmu_counts *out)
{
	/* The kernel's format: members in the order in which they were opened. */
	struct {
		uint64_t n;
		uint64_t enabled_ns;
		uint64_t running_ns;
		uint64_t values[TP_PMU_GROUP_MAX];
	} read_group;
	memset(out, 0, sizeof(*out));
	ssize_t got = read(counters->fds[0], &read_group, sizeof(read_group));
	if (got < (ssize_t)(4 * sizeof(uint64_t)))
		return false;
	out->enabled_ns = read_group.enabled_ns;
	out->running_ns = read_group.running_ns;
	size_t next = 0;
	for (size_t i = 0; i < counters->n && next < read_group.n; i++) {
		if (counters->fds[i] >= 0)
			out->values[i] = read_group.values[next++];
	}
	return true;
}

/* A task is enabled on all kinds of cores at once: the time is the same for each. */
static struct tp_pmu_counts add_kinds(const struct tp_pmu_counts *now, size_t n_kinds,
				      size_t n_values)
{
	struct tp_pmu_counts total = {.enabled_ns = 0};
	for (size_t kind = 0; kind < n_kinds; kind++) {
		if (now[kind].enabled_ns > total.enabled_ns)
			total.enabled_ns = now[kind].enabled_ns;
		total.running_ns += now[kind].running_ns;
		for (size_t i = 0; i < n_values; i++)
			total.values[i] += now[kind].values[i];
	}
	return total;
}

void tp_pmu_counts_add(struct tp_pmu_counts_sum *sum, const struct tp_pmu_counts *now,
		       size_t n_kinds, size_t n_values)
{
	struct tp_pmu_counts total = add_kinds(now, n_kinds, n_values);
	/* It has not run since: skip this time; the next reading covers it. */
	if (total.running_ns <= sum->last.running_ns)
		return;
	double enabled_ns = (double)(total.enabled_ns - sum->last.enabled_ns);
	double running_ns = (double)(total.running_ns - sum->last.running_ns);
	double scale = enabled_ns > running_ns ? enabled_ns / running_ns : 1;
	for (size_t i = 0; i < n_values; i++) {
		uint64_t before = sum->last.values[i];
		uint64_t grown = total.values[i] > before ? total.values[i] - before : 0;
		sum->values[i] += (double)grown * scale;
	}
	sum->last = total;
}

double tp_pmu_counts_running_ratio(const struct tp_pmu_counts *now, size_t n_kinds)
{
	struct tp_pmu_counts total = add_kinds(now, n_kinds, 0);
	if (total.enabled_ns == 0)
		return 0;
	double ratio = (double)total.running_ns / (double)total.enabled_ns;
	return ratio < 1 ? ratio : 1;
}
