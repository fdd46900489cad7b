/* SPDX-License-Identifier: Apache-2.0 */
/* Decides how much detail the budget allows. */
#include "perf_governor.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define RATE_WINDOW_NS   (500 * TP_NS_PER_MS) /* a shorter burst is tolerated */
#define PROBE_WINDOW_NS  (100 * TP_NS_PER_MS)
#define NORMAL_PERIOD_NS (100 * TP_NS_PER_MS)
#define URGENT_PERIOD_NS (10 * TP_NS_PER_MS)
#define PAUSE_MIN_NS     TP_NS_PER_S
#define PAUSE_MAX_NS     (4 * TP_NS_PER_S)
#define BUDGET_WINDOW_NS (2 * TP_NS_PER_S)

/* Switch records make all times exact, so they may cost more than the rest; at the default limit of
 * 20000/s and 1 us per record they cost exactly that. */
#define RECORDS_SHARE  2.0
#define TOLERATED_ONCE 1.5

/* Limit for samples of threads that leave a CPU, per second; they come back below half of it. */
#define SWITCH_OUT_MAX_HZ 200.0

enum { QUIET_WINDOWS = 3, WINDOWS_MIN = 5 };

/* From full to least detail. First half the rate: 49 samples per second still distinguish phases.
 * Then some samples lose their callers, but keep their function and thread. Only then a lower rate,
 * because a few whole stacks say more about phases than many leaves. The first level that fits is
 * used, so detail that would save little is not given up. */
static const struct {
	unsigned keep_one_in;
	unsigned period_factor;
} levels[] = {{1, 1}, {1, 2}, {2, 2}, {4, 2}, {1, 4}, {2, 4}, {4, 4}, {8, 8}};

/* Detail is restored only if the expected cost stays below this share of the budget. */
static const double return_share = 0.8;

/* A level must save more than a tenth of what the least detail would cost to be worth the loss. */
static const double worth_ratio = 1.1;

static void begin_window(struct tp_perf_governor *governor, const struct tp_perf_usage *usage)
{
	memcpy(governor->counted, usage->n_switches, governor->n_cpus * sizeof(uint64_t));
	governor->leavings = usage->n_leavings;
	governor->had_leaves = false;
	governor->window_ns = usage->now_ns;
}

void tp_perf_governor_init(struct tp_perf_governor *governor, double max_switch_rate_hz,
			   double max_overhead_ratio, const struct tp_perf_cost *cost,
			   uint32_t n_cpus, const struct tp_perf_usage *start)
{
	*governor = (struct tp_perf_governor){
		.switch_limit_hz = max_switch_rate_hz,
		.max_ratio = max_overhead_ratio,
		.cost = *cost,
		.n_cpus = n_cpus,
		.has_switches = true,
		.keep_one_in = 1,
		.period_factor = 1,
		.pause_ns = PAUSE_MIN_NS,
		.budget_from = *start,
	};
	governor->counted = tp_alloc((n_cpus + 1) * sizeof(*governor->counted));
	begin_window(governor, start);
}

void tp_perf_governor_no_switches(struct tp_perf_governor *governor)
{
	governor->has_switches = false;
	governor->look_at_ns = UINT64_MAX;
}

void tp_perf_governor_release(struct tp_perf_governor *governor)
{
	free(governor->counted);
	*governor = (struct tp_perf_governor){0};
}

/* Computes the rates since the window began and begins a new window. */
static void count_rates(struct tp_perf_governor *governor, const struct tp_perf_usage *usage)
{
	double seconds = (double)(usage->now_ns - governor->window_ns) / (double)TP_NS_PER_S;
	uint64_t most = 0;
	uint64_t all = 0;
	for (uint32_t i = 0; i < governor->n_cpus; i++) {
		uint64_t n = usage->n_switches[i] - governor->counted[i];
		most = n > most ? n : most;
		all += n;
	}
	governor->switch_rate_hz = (double)most / seconds;
	governor->switches_all_hz = (double)all / seconds;
	begin_window(governor, usage);
}

/* Records of the busiest CPU since the window began, divided by the limit for a whole window. */
static double burst_ratio(const struct tp_perf_governor *governor,
			  const struct tp_perf_usage *usage, uint64_t window_ns)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < governor->n_cpus; i++) {
		uint64_t n = usage->n_switches[i] - governor->counted[i];
		most = n > most ? n : most;
	}
	double window_s = (double)window_ns / (double)TP_NS_PER_S;
	return (double)most / (governor->switch_limit_hz * window_s);
}

static unsigned switch_off(struct tp_perf_governor *governor, uint64_t now_ns)
{
	bool was_looking = governor->is_looking;
	governor->has_switches = false;
	governor->look_at_ns = now_ns + governor->pause_ns;
	governor->pause_ns *= 2;
	if (governor->pause_ns > PAUSE_MAX_NS)
		governor->pause_ns = PAUSE_MAX_NS;
	governor->is_looking = governor->is_hurried = false;
	return TP_PERF_SWITCHES_OFF | (was_looking ? TP_PERF_GO_SYSTEM_WIDE : 0);
}

static unsigned govern_switches(struct tp_perf_governor *governor,
				const struct tp_perf_usage *usage)
{
	uint64_t now_ns = usage->now_ns;
	if (!governor->has_switches) {
		if (now_ns < governor->look_at_ns)
			return 0;
		governor->has_switches = governor->is_looking = governor->is_hurried = true;
		begin_window(governor, usage);
		return TP_PERF_SWITCHES_ON;
	}
	if (now_ns <= governor->window_ns)
		return 0; /* nothing was counted yet */
	uint64_t window_ns = governor->is_looking ? PROBE_WINDOW_NS : RATE_WINDOW_NS;
	double burst = burst_ratio(governor, usage, window_ns);
	double elapsed_ns = (double)(now_ns - governor->window_ns);
	/* At this rate the limit will be exceeded before the next normal tick. */
	bool is_soon = burst * (elapsed_ns + NORMAL_PERIOD_NS) > elapsed_ns;
	governor->is_hurried = governor->is_looking || is_soon;
	/* Once the limit is exceeded, nothing is gained by waiting for the end of the window. */
	if (elapsed_ns < (double)window_ns && burst <= 1)
		return 0;
	count_rates(governor, usage);
	if (governor->switch_rate_hz > governor->switch_limit_hz)
		return switch_off(governor, now_ns);
	if (!governor->is_looking)
		governor->pause_ns = PAUSE_MIN_NS; /* a whole window was calm */
	governor->is_looking = governor->is_hurried = false;
	return 0;
}

/* Cost of measuring in a window, by what reduces it. */
struct window_cost {
	double samples_ns; /* in the target; reduced by a lower rate */
	double stacks_ns;  /* reduced by a lower rate and by unwinding fewer stacks */
	double rest_ns;    /* reduced by no level */
};

/* Returns what the same window would have cost at another level. */
static double estimate_ns(const struct tp_perf_governor *governor, const struct window_cost *cost,
			  unsigned level)
{
	double rate = (double)governor->period_factor / levels[level].period_factor;
	double kept = (double)governor->keep_one_in / levels[level].keep_one_in;
	return cost->rest_ns + (cost->samples_ns + cost->stacks_ns * kept) * rate;
}

/* Returns the level with most detail that fits. If none fits, detail that would save little is
 * kept, because no level reduces the rest of the cost. */
static unsigned level_for(const struct tp_perf_governor *governor, const struct window_cost *cost,
			  double limit_ns)
{
	unsigned last = TP_ARRAY_LEN(levels) - 1;
	double least_ns = estimate_ns(governor, cost, last) * worth_ratio;
	double most_ns = limit_ns > least_ns ? limit_ns : least_ns;
	unsigned level = 0;
	while (level < last && estimate_ns(governor, cost, level) > most_ns)
		level++;
	return level;
}

static unsigned set_level(struct tp_perf_governor *governor, unsigned level)
{
	governor->n_calm = 0;
	governor->was_over = false;
	if (level == governor->level)
		return 0;
	governor->level = level;
	governor->keep_one_in = levels[level].keep_one_in;
	governor->period_factor = levels[level].period_factor;
	return TP_PERF_DETAIL;
}

/* Detail comes back slowly, so a single window a little above the budget is tolerated: now and then
 * code runs for the first time. */
static bool is_over_budget(struct tp_perf_governor *governor)
{
	bool was_over = governor->was_over;
	governor->was_over = true;
	governor->n_calm = 0;
	return was_over || governor->last_ratio > TOLERATED_ONCE * governor->max_ratio;
}

/* True if the level has less detail and keeps the budget, or at least comes closer to it. */
static bool is_better(const struct tp_perf_governor *governor, const struct window_cost *cost,
		      unsigned level, double limit_ns)
{
	double ns = estimate_ns(governor, cost, level);
	return level > governor->level &&
	       (ns <= limit_ns || ns * worth_ratio <= estimate_ns(governor, cost, governor->level));
}

static unsigned govern_level(struct tp_perf_governor *governor, const struct window_cost *cost,
			     double base_ns)
{
	double limit_ns = governor->max_ratio * base_ns;
	if (governor->last_ratio > governor->max_ratio) {
		unsigned level = level_for(governor, cost, limit_ns);
		bool is_over = is_over_budget(governor);
		return is_over && is_better(governor, cost, level, limit_ns)
			       ? set_level(governor, level)
			       : 0;
	}
	governor->was_over = false;
	unsigned level = level_for(governor, cost, limit_ns * return_share);
	if (level >= governor->level)
		governor->n_calm = 0;
	else if (++governor->n_calm >= QUIET_WINDOWS)
		return set_level(governor, level);
	return 0;
}

static double at_most(double value, double most)
{
	return value < most ? value : most;
}

/* Compares the cost of measuring since `from` with the CPU time of the target in that time. A
 * target that mostly waits is compared with one whole CPU, which it could have used. */
static unsigned govern_budget(struct tp_perf_governor *governor, const struct tp_perf_usage *usage)
{
	const struct tp_perf_usage *from = &governor->budget_from;
	double elapsed_ns = (double)(usage->now_ns - from->now_ns);
	if (elapsed_ns < BUDGET_WINDOW_NS)
		return 0;
	double target_ns = (double)(usage->target_cpu_ns - from->target_cpu_ns);
	double base_ns = target_ns > elapsed_ns ? target_ns : elapsed_ns;
	double self_ns = (double)(usage->self_cpu_ns - from->self_cpu_ns);
	double stacks_ns = at_most((double)(usage->stacks_ns - from->stacks_ns), self_ns);
	const struct window_cost cost = {
		.samples_ns =
			(double)(usage->n_samples - from->n_samples) * governor->cost.sample_ns,
		.stacks_ns = stacks_ns,
		.rest_ns = self_ns - stacks_ns,
	};
	double records_ns = governor->has_switches
				    ? governor->switches_all_hz * elapsed_ns / (double)TP_NS_PER_S *
					      governor->cost.record_ns
				    : 0;
	governor->budget_from = *usage;
	governor->last_ratio = (self_ns + cost.samples_ns) / base_ns;
	if (!governor->is_warm) {
		governor->is_warm = true;
		return 0;
	}
	governor->n_windows++;
	if (governor->last_ratio > governor->max_ratio) {
		governor->n_over++;
		governor->over_sum += governor->last_ratio;
	}
	double records_ratio = records_ns / base_ns;
	if (records_ratio > RECORDS_SHARE * governor->max_ratio)
		governor->switch_limit_hz = governor->switch_rate_hz * RECORDS_SHARE *
					    governor->max_ratio / records_ratio;
	return govern_level(governor, &cost, base_ns);
}

bool tp_perf_governor_has_failed(const struct tp_perf_governor *governor, double *ratio)
{
	*ratio = governor->n_over ? governor->over_sum / governor->n_over : 0;
	return governor->n_windows >= WINDOWS_MIN && 2 * governor->n_over > governor->n_windows;
}

bool tp_perf_governor_switch_out(struct tp_perf_governor *governor, unsigned every)
{
	double rate_hz = governor->switches_all_hz / every;
	double most_hz = governor->has_leaves ? SWITCH_OUT_MAX_HZ : SWITCH_OUT_MAX_HZ / 2;
	governor->has_leaves = governor->has_switches && !governor->is_looking &&
			       !governor->had_leaves && rate_hz <= most_hz;
	return governor->has_leaves;
}

/* Applies the limit of a whole window at once: each such sample copies a stack, so the end of the
 * window is not awaited. */
static unsigned govern_switch_out(struct tp_perf_governor *governor,
				  const struct tp_perf_usage *usage)
{
	double most = SWITCH_OUT_MAX_HZ * RATE_WINDOW_NS / TP_NS_PER_S;
	if (!governor->has_leaves || (double)(usage->n_leavings - governor->leavings) <= most)
		return 0;
	governor->has_leaves = false;
	governor->had_leaves = true;
	return TP_PERF_SWITCH_OUT_OFF;
}

unsigned tp_perf_governor_tick(struct tp_perf_governor *governor, const struct tp_perf_usage *usage)
{
	unsigned orders = govern_switch_out(governor, usage) | govern_switches(governor, usage);
	return orders | govern_budget(governor, usage);
}

uint64_t tp_perf_governor_period_ns(const struct tp_perf_governor *governor)
{
	return governor->is_hurried ? URGENT_PERIOD_NS : NORMAL_PERIOD_NS;
}

void tp_perf_governor_switches_on(struct tp_perf_governor *governor, uint64_t now_ns)
{
	governor->window_ns = now_ns;
}
