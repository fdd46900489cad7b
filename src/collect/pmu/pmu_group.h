/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of hardware counters on a task and its future children. Needs the kernel and the C library
 * only, so that the very code can run as the first program of an emulated machine.
 */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_GROUP_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One event, as perf_event_open() takes it. */
struct tp_pmu_event {
	uint32_t type;
	uint64_t config;
	uint64_t config1;
};

enum { TP_PMU_GROUP_MAX = 8 };

/* On the CPU together or not at all, so that ratios between members make sense. */
struct tp_pmu_group {
	int fds[TP_PMU_GROUP_MAX]; /* -1: not supported here */
	size_t n;
};

struct tp_pmu_group_options {
	pid_t pid;    /* 0: ourselves */
	bool inherit; /* children and threads that start later count too */
	bool on_exec; /* from the exec on; else from now on */
	bool without_kernel;
	size_t n_required; /* the first ones; others may be missing */
};

/* Counts since the opening, summed over the children. */
struct tp_pmu_counts {
	uint64_t values[TP_PMU_GROUP_MAX]; /* 0 where the counter is not supported */
	uint64_t enabled_ns;
	uint64_t running_ns; /* less than enabled: the hardware was shared with other groups */
};

/*
 * Open a group; the first one leads. What of the kernel's part may not be counted is left out, and
 * options->without_kernel says so in the end. 0, or the errno of a required one and nothing is
 * open.
 */
int tp_pmu_group_open(struct tp_pmu_group *out, const struct tp_pmu_event *counters, size_t n,
		      struct tp_pmu_group_options *options);
void tp_pmu_group_close(struct tp_pmu_group *counters);
bool tp_pmu_group_has(const struct tp_pmu_group *counters, size_t i);
bool tp_pmu_group_read(const struct tp_pmu_group *counters, struct tp_pmu_counts *out);

/*
 * Counts of the same group on each kind of core, growing to an estimate of the whole. What was
 * counted while running stands for all of the enabled time between two readings; on CPUs with two
 * kinds of core the kinds' running times add up.
 */
struct tp_pmu_counts_sum {
	double values[TP_PMU_GROUP_MAX]; /* never shrink */
	struct tp_pmu_counts last;       /* taken over into values; sums over the kinds */
};

void tp_pmu_counts_add(struct tp_pmu_counts_sum *sum, const struct tp_pmu_counts *now,
		       size_t n_kinds, size_t n_values);
/* Part of the time in which one of the kinds really counted, 0..1; 0 when none ever did. */
double tp_pmu_counts_running_ratio(const struct tp_pmu_counts *now, size_t n_kinds);

/* Below this part of the time an estimate is refused; perf stat's users are told the same. */
#define TP_PMU_COUNTS_RUNNING_MIN 0.05

#endif
