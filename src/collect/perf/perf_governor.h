/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the cost of measuring below what was asked for: decides, from what was counted, when switch
 * records go off and on again, how many stacks are unwound and how often is sampled. What each
 * level of detail would cost is predicted from what samples, stacks and the rest have cost, and the
 * first level that fits is taken. No system call is made here; the collector reports counts and
 * carries orders out.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_GOVERNOR_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_GOVERNOR_H

#include "perf_cost.h"

#include <stdbool.h>
#include <stdint.h>

/* Counted since the start. */
struct tp_perf_usage {
	uint64_t now_ns;            /* until when was counted */
	const uint64_t *n_switches; /* ways out, per CPU */
	uint64_t n_samples;         /* of all kinds */
	uint64_t n_leavings;        /* of them, those of threads that leave a CPU */
	uint64_t self_cpu_ns;       /* of this process, but for what no order here makes less */
	uint64_t stacks_ns;         /* about so much of it for unwinding stacks and naming them */
	uint64_t target_cpu_ns;     /* of the target, as sampled */
};

enum tp_perf_command {
	TP_PERF_SWITCHES_OFF = 1,
	TP_PERF_SWITCHES_ON = 2,    /* also for a short look whether they are still too many */
	TP_PERF_DETAIL = 4,         /* keep_one_in or period_factor have changed */
	TP_PERF_SWITCH_OUT_OFF = 8, /* samples of threads that leave are too many */
	TP_PERF_GO_SYSTEM_WIDE =
		16, /* a look has found too many again: no event is to cost switches */
};

struct tp_perf_governor {
	double switch_limit_hz; /* per CPU */
	double max_ratio;
	struct tp_perf_cost cost;
	uint32_t n_cpus;

	/* what is in force */
	bool has_switches;
	bool has_leaves;      /* threads are sampled as they leave a CPU */
	unsigned keep_one_in; /* 1 = every stack is unwound */
	unsigned period_factor;
	double last_ratio;      /* cost of samples and of us over CPU time, in the last window */
	double switch_rate_hz;  /* per CPU, of the busiest, when last counted */
	double switches_all_hz; /* of all CPUs */

	uint64_t *counted; /* n_switches when the window began */
	uint64_t leavings; /* n_leavings then */
	bool had_leaves;   /* too many of them since */
	uint64_t window_ns;
	bool is_looking; /* switch records are on for a look */
	bool is_hurried; /* they may go off at any moment */
	uint64_t pause_ns;
	uint64_t look_at_ns;
	struct tp_perf_usage budget_from;
	bool is_warm;  /* loading symbols and unwind tables is over */
	bool was_over; /* the last window cost too much and was borne */
	unsigned level;
	unsigned n_calm;
	unsigned n_windows; /* of the budget, once warm */
	unsigned n_over;    /* of them, those in which measuring took more than the budget */
	double over_sum;    /* of last_ratio, in those */
};

void tp_perf_governor_init(struct tp_perf_governor *governor, double max_switch_rate_hz,
			   double max_overhead_ratio, const struct tp_perf_cost *cost,
			   uint32_t n_cpus, const struct tp_perf_usage *start);
/* In most windows of a run that had enough of them the budget was not kept, though all was given up
 * that would have helped: *ratio is what measuring took then. */
bool tp_perf_governor_has_failed(const struct tp_perf_governor *governor, double *ratio);
/* There are no switch records to be had. */
void tp_perf_governor_no_switches(struct tp_perf_governor *governor);
void tp_perf_governor_release(struct tp_perf_governor *governor);

/* At least once a second: whether threads are to be sampled as they leave a CPU from now on; one of
 * `every` switches has such a sample. A burst of them ends by an order of the tick. */
bool tp_perf_governor_switch_out(struct tp_perf_governor *governor, unsigned every);

/* Look at the counts, as often as tp_perf_governor_period_ns() says. Returns TP_PERF_… to be
 * carried out. */
unsigned tp_perf_governor_tick(struct tp_perf_governor *governor,
			       const struct tp_perf_usage *usage);
/* TP_PERF_SWITCHES_ON was carried out: there are records since then. */
void tp_perf_governor_switches_on(struct tp_perf_governor *governor, uint64_t now_ns);
/* Until the next tick; short where records cost most while they are not yet known to be too many.
 */
uint64_t tp_perf_governor_period_ns(const struct tp_perf_governor *governor);

#endif
