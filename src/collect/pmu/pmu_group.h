/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of hardware counters on a task and its future children. Needs only the kernel and the C
 * library, so that this code can run as the first program of an emulated machine. */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_GROUP_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One event in the form that perf_event_open() expects. */
struct tp_pmu_event {
	uint32_t type;
	uint64_t config;
	uint64_t config1;
};

enum { TP_PMU_GROUP_MAX = 8 };

/* Its members are on the CPU together or not at all, so that ratios between them are valid. */
struct tp_pmu_group {
	int fds[TP_PMU_GROUP_MAX]; /* -1 = not supported here */
	size_t n;
};

struct tp_pmu_group_options {
	pid_t pid;    /* 0 = the calling process */
	bool inherit; /* also counts children and threads that start later */
	bool on_exec; /* from the exec on; otherwise from now on */
	bool without_kernel;
	size_t n_required; /* the first ones; others may be missing */
};

/* Counts since it was opened, summed over the children. */
struct tp_pmu_counts {
	uint64_t values[TP_PMU_GROUP_MAX]; /* 0 if the counter is not supported */
	uint64_t enabled_ns;
	uint64_t running_ns; /* less than enabled_ns if the hardware was shared with other groups */
};

/* Opens a group; the first event is the leader. If the kernel part may not be counted, it is left
 * out and options->without_kernel is set. Returns 0, or the errno of a required event, and nothing
 * is open. */
int tp_pmu_group_open(struct tp_pmu_group *out, const struct tp_pmu_event *counters, size_t n,
		      struct tp_pmu_group_options *options);
void tp_pmu_group_close(struct tp_pmu_group *counters);
bool tp_pmu_group_has(const struct tp_pmu_group *counters, size_t i);
bool tp_pmu_group_read(const struct tp_pmu_group *counters, struct tp_pmu_counts *out);

/* Counts of the same group on each kind of core, accumulated to an estimate of the total. The
 * counts while running are scaled to the enabled time between two readings; on CPUs with two kinds
 * of cores the running times of both are added. */
struct tp_pmu_counts_sum {
	double values[TP_PMU_GROUP_MAX]; /* never decrease */
	struct tp_pmu_counts last;       /* already included in values; sums over the kinds */
};

void tp_pmu_counts_add(struct tp_pmu_counts_sum *sum, const struct tp_pmu_counts *now,
		       size_t n_kinds, size_t n_values);
/* Returns the share of the time in which one of the kinds really counted, 0..1; 0 if none ever
 * did. */
double tp_pmu_counts_running_ratio(const struct tp_pmu_counts *now, size_t n_kinds);

/* Below this share of the time an estimate is rejected; perf stat recommends the same to its
 * users. */
#define TP_PMU_COUNTS_RUNNING_MIN 0.05

#endif
