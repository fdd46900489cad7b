/* Decides how much detail the budget allows. */
#include "perf_governor.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define RATE_WINDOW_NS   (500 * TP_NS_PER_MS) /* a burst shorter than this is borne */
#define LOOK_WINDOW_NS   (100 * TP_NS_PER_MS)
#define PAUSE_FIRST_NS   TP_NS_PER_S
#define PAUSE_LAST_NS    (8 * TP_NS_PER_S)
#define BUDGET_WINDOW_NS (2 * TP_NS_PER_S)

/* Switch records make all times exact, so they may take more than the rest; at the default limit
 * of 20000/s and 1 us each they take just that. */
#define RECORDS_SHARE 2.0
#define BORNE_ONCE    1.5

enum { CALM_WINDOWS = 3 };

/* The rate first: few whole stacks say more about phases than many leaves without a caller. */
static const struct {
	unsigned keep_one_in;
	unsigned period_factor;
} levels[] = {{1, 1}, {1, 2}, {1, 4}, {2, 4}, {4, 4}, {8, 8}};

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
		.window_ns = start->now_ns,
		.pause_ns = PAUSE_FIRST_NS,
		.budget_from = *start,
	};
	governor->counted = tp_alloc((n_cpus + 1) * sizeof(*governor->counted));
	memcpy(governor->counted, start->n_switches, n_cpus * sizeof(uint64_t));
}

void tp_perf_governor_never_look(struct tp_perf_governor *governor)
{
	governor->has_switches = false;
	governor->look_at_ns = UINT64_MAX;
}

void tp_perf_governor_release(struct tp_perf_governor *governor)
{
	free(governor->counted);
	*governor = (struct tp_perf_governor){0};
}

/* Rates since the window began; begins a new one. */
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
	memcpy(governor->counted, usage->n_switches, governor->n_cpus * sizeof(uint64_t));
	governor->window_ns = usage->now_ns;
}

/* As many records as the limit allows in a whole window: nothing is gained by waiting for its end.
 */
static bool has_had_its_burst(const struct tp_perf_governor *governor,
			      const struct tp_perf_usage *usage)
{
	double most = governor->switch_limit_hz * RATE_WINDOW_NS / TP_NS_PER_S;
	for (uint32_t i = 0; i < governor->n_cpus; i++)
		if ((double)(usage->n_switches[i] - governor->counted[i]) > most)
			return true;
	return false;
}

static unsigned switch_off(struct tp_perf_governor *governor, uint64_t now_ns)
{
	governor->has_switches = false;
	governor->look_at_ns = now_ns + governor->pause_ns;
	governor->pause_ns *= 2;
	if (governor->pause_ns > PAUSE_LAST_NS)
		governor->pause_ns = PAUSE_LAST_NS;
	governor->is_looking = false;
	return TP_PERF_SWITCHES_OFF;
}

static unsigned govern_switches(struct tp_perf_governor *governor,
				const struct tp_perf_usage *usage)
{
	uint64_t now_ns = usage->now_ns;
	if (!governor->has_switches) {
		if (now_ns < governor->look_at_ns)
			return 0;
		governor->has_switches = governor->is_looking = true;
		memcpy(governor->counted, usage->n_switches, governor->n_cpus * sizeof(uint64_t));
		governor->window_ns = now_ns;
		return TP_PERF_SWITCHES_ON;
	}
	uint64_t window_ns = governor->is_looking ? LOOK_WINDOW_NS : RATE_WINDOW_NS;
	if (now_ns - governor->window_ns < window_ns && !has_had_its_burst(governor, usage))
		return 0;
	count_rates(governor, usage);
	if (governor->switch_rate_hz > governor->switch_limit_hz)
		return switch_off(governor, now_ns);
	if (!governor->is_looking)
		governor->pause_ns = PAUSE_FIRST_NS; /* a whole window was calm */
	governor->is_looking = false;
	return 0;
}

/* Another level, if there is one. */
static unsigned change_level(struct tp_perf_governor *governor, int step)
{
	int level = (int)governor->level + step;
	governor->n_calm = 0;
	governor->was_over = false;
	if (level < 0 || level >= (int)TP_ARRAY_LEN(levels))
		return 0;
	governor->level = (unsigned)level;
	governor->keep_one_in = levels[level].keep_one_in;
	governor->period_factor = levels[level].period_factor;
	return TP_PERF_DETAIL;
}

/* Detail comes back slowly, so one window a little above the budget is borne: code is seen for the
 * first time now and then. */
static bool is_too_dear(struct tp_perf_governor *governor)
{
	bool was_over = governor->was_over;
	governor->was_over = true;
	governor->n_calm = 0;
	return was_over || governor->last_ratio > BORNE_ONCE * governor->max_ratio;
}

/*
 * What measuring took since `from`, over what the target computed meanwhile; a target that mostly
 * waits is compared with one CPU, of which it could have used all.
 */
static unsigned govern_budget(struct tp_perf_governor *governor, const struct tp_perf_usage *usage)
{
	const struct tp_perf_usage *from = &governor->budget_from;
	double elapsed_ns = (double)(usage->now_ns - from->now_ns);
	if (elapsed_ns < BUDGET_WINDOW_NS)
		return 0;
	double target_ns = (double)(usage->target_cpu_ns - from->target_cpu_ns);
	double base_ns = target_ns > elapsed_ns ? target_ns : elapsed_ns;
	double detail_ns = (double)(usage->self_cpu_ns - from->self_cpu_ns) +
			   (double)(usage->n_samples - from->n_samples) * governor->cost.sample_ns;
	double records_ns = governor->has_switches
				    ? governor->switches_all_hz * elapsed_ns / (double)TP_NS_PER_S *
					      governor->cost.record_ns
				    : 0;
	governor->budget_from = *usage;
	governor->last_ratio = detail_ns / base_ns;
	if (!governor->is_warm) {
		governor->is_warm = true;
		return 0;
	}
	double records_ratio = records_ns / base_ns;
	if (records_ratio > RECORDS_SHARE * governor->max_ratio)
		governor->switch_limit_hz = governor->switch_rate_hz * RECORDS_SHARE *
					    governor->max_ratio / records_ratio;
	if (governor->last_ratio > governor->max_ratio)
		return is_too_dear(governor) ? change_level(governor, 1) : 0;
	governor->was_over = false;
	if (governor->last_ratio > governor->max_ratio / 2 || governor->level == 0)
		governor->n_calm = 0;
	else if (++governor->n_calm >= CALM_WINDOWS)
		return change_level(governor, -1);
	return 0;
}

unsigned tp_perf_governor_tick(struct tp_perf_governor *governor, const struct tp_perf_usage *usage)
{
	unsigned orders = govern_switches(governor, usage);
	return orders | govern_budget(governor, usage);
}
