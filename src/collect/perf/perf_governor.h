/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the cost of measuring below the requested limit: decides from counts when switch records
 * are disabled and enabled again, how many stacks are unwound and how often samples are taken. The
 * cost of each level of detail is predicted from the cost of samples, stacks and the rest so far,
 * and the first level that fits is used. Makes no system calls; the collector supplies the counts
 * and carries out the orders.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_GOVERNOR_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_GOVERNOR_H

#include "perf_cost.h"

#include <stdbool.h>
#include <stdint.h>

/* Counts since the start. */
struct tp_perf_usage {
	uint64_t now_ns;            /* time up to which events were counted */
	const uint64_t *n_switches; /* switches out, per CPU */
	uint64_t n_samples;         /* of all kinds */
	uint64_t n_leavings;        /* those of threads that leave a CPU */
	uint64_t self_cpu_ns;   /* of this process, except for work that no order here reduces */
	uint64_t stacks_ns;     /* approximate part of it for unwinding and naming stacks */
	uint64_t target_cpu_ns; /* of the target, as sampled */
};

enum tp_perf_command {
	TP_PERF_SWITCHES_OFF = 1,
	TP_PERF_SWITCHES_ON = 2,    /* also for a short check whether they are still too many */
	TP_PERF_DETAIL = 4,         /* keep_one_in or period_factor have changed */
	TP_PERF_SWITCH_OUT_OFF = 8, /* too many samples of threads that leave a CPU */
	TP_PERF_GO_SYSTEM_WIDE =
		16, /* a check has found too many again: events must no longer slow switches down */
};

struct tp_perf_governor {
	double switch_limit_hz; /* per CPU */
	double max_ratio;
	struct tp_perf_cost cost;
	uint32_t n_cpus;

	/* currently enabled */
	bool has_switches;
	bool has_leaves;      /* threads are sampled as they leave a CPU */
	unsigned keep_one_in; /* 1 = every stack is unwound */
	unsigned period_factor;
	double last_ratio; /* cost of samples and of trainprof over CPU time, in the last window */
	double switch_rate_hz;  /* per CPU, of the busiest one, at the last count */
	double switches_all_hz; /* of all CPUs */

	uint64_t *counted; /* n_switches at the start of the window */
	uint64_t leavings; /* n_leavings at that time */
	bool had_leaves;   /* too many of them since then */
	uint64_t window_ns;
	bool is_looking; /* switch records are enabled for a check */
	bool is_hurried; /* they may be disabled at any moment */
	uint64_t pause_ns;
	uint64_t look_at_ns;
	struct tp_perf_usage budget_from;
	bool is_warm;  /* loading of symbols and unwind tables has finished */
	bool was_over; /* the last window was too expensive, which was tolerated */
	unsigned level;
	unsigned n_calm;
	unsigned n_windows; /* of the budget, after the warm-up */
	unsigned n_over;    /* windows in which measuring cost more than the budget */
	double over_sum;    /* sum of last_ratio in those */
};

void tp_perf_governor_init(struct tp_perf_governor *governor, double max_switch_rate_hz,
			   double max_overhead_ratio, const struct tp_perf_cost *cost,
			   uint32_t n_cpus, const struct tp_perf_usage *start);
/* True if most windows of a run with enough of them exceeded the budget, although all detail that
 * could be reduced was reduced: *ratio is then their average cost. */
bool tp_perf_governor_has_failed(const struct tp_perf_governor *governor, double *ratio);
/* Switch records are not available. */
void tp_perf_governor_no_switches(struct tp_perf_governor *governor);
void tp_perf_governor_release(struct tp_perf_governor *governor);

/* Called at least once per second. Returns true if threads shall be sampled from now on as they
 * leave a CPU; one of `every` switches has such a sample. tp_perf_governor_tick() ends a burst of
 * them. */
bool tp_perf_governor_switch_out(struct tp_perf_governor *governor, unsigned every);

/* Evaluates the counts; called every tp_perf_governor_period_ns(). Returns TP_PERF_… orders to
 * carry out. */
unsigned tp_perf_governor_tick(struct tp_perf_governor *governor,
			       const struct tp_perf_usage *usage);
/* Confirms TP_PERF_SWITCHES_ON: records exist since then. */
void tp_perf_governor_switches_on(struct tp_perf_governor *governor, uint64_t now_ns);
/* Time until the next tick; short while the rate of records is unknown or close to the limit. */
uint64_t tp_perf_governor_period_ns(const struct tp_perf_governor *governor);

#endif
