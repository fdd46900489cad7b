/* SPDX-License-Identifier: Apache-2.0 */
/* Length and frequency of GPU tracing windows. */
#include "gpu_trace_governor.h"

#include "collect/perf/perf_period.h"

#include "trainprof/base/clock.h"

#include <math.h>

/* Our share of the budget; the rest is a reserve. */
static const double BUDGET_SHARE = 0.8;
static const double FIXED_BUDGET_SHARE = 0.2;
/* Traced time per budget: 5 % at --max-overhead=1%. More adds hardly any information. */
static const double TRACED_PER_BUDGET_MAX = 5;
static const double TRACED_RATIO_MAX = 0.5;

/* Assumptions before the first measurement; see the header. The cost of opening and closing is a
 * guess. */
static const double PRIOR_SLOWDOWN = 1.8;
#define PRIOR_FIXED_NS (50 * (double)TP_NS_PER_MS)

#define PERIOD_MIN_NS      (5 * TP_NS_PER_S)
#define PERIOD_TARGET_NS   (20 * TP_NS_PER_S) /* three windows per minute if the budget allows \ */
#define LENGTH_MIN_NS      (TP_NS_PER_S / 4)
#define LENGTH_NO_STEPS_NS TP_NS_PER_S /* without steps: several of them must fit \ */
#define LENGTH_MAX_NS      (2 * TP_NS_PER_S)
#define LENGTH_LIMIT_NS    (20 * TP_NS_PER_S)

/* A window that is three steps long contains two whole steps wherever it begins. */
enum { STEPS_MIN = 2, STEPS_MAX = 3, RESIDUE_WINDOWS = 3 };

/* Limits how fast windows become more frequent, and how small a change of their distance is
 * applied. */
static const double SHORTEN_MAX = 2;
static const double CHANGE_MIN = 0.2;
/* Fraction of the period that is added at random, so that windows are not synchronous with
 * anything. */
static const double PHASE = 0.25;

static double square(double x)
{
	return x * x;
}

double tp_gpu_mean_value(const struct tp_gpu_mean *mean)
{
	return mean->n ? mean->sum / (double)mean->n : 0;
}

double tp_gpu_mean_error(const struct tp_gpu_mean *mean)
{
	double n = (double)mean->n;
	if (!mean->n)
		return 0;
	double own = sqrt(mean->error_squares) / n;
	double rest = mean->squares - n * square(tp_gpu_mean_value(mean));
	double between = mean->n > 1 && rest > 0 ? sqrt(rest / (n - 1) / n) : 0;
	return fmax(own, between);
}

static void add(struct tp_gpu_mean *mean, double value, double error)
{
	mean->n++;
	mean->sum += value;
	mean->squares += square(value);
	mean->error_squares += square(error);
}

void tp_gpu_trace_governor_init(struct tp_gpu_trace_governor *governor, double max_overhead_ratio,
				uint64_t seed)
{
	/* 0 would mean never; it is treated as the smallest budget. */
	*governor = (struct tp_gpu_trace_governor){.budget = fmax(max_overhead_ratio, 1e-4),
						   .seed = seed};
}

void tp_gpu_trace_governor_add(struct tp_gpu_trace_governor *governor,
			       const struct tp_gpu_window_cost *cost)
{
	double length_ns = (double)cost->length_ns;
	/* The part of a window's length by which it slows the program down. */
	double inside_ns = length_ns * (1 - 1 / (1 + fmax(cost->slowdown, -0.5)));
	add(&governor->slowdown, cost->slowdown, cost->slowdown_error);
	add(&governor->fixed_ns, cost->lost_ns - inside_ns, cost->lost_error_ns);
	add(&governor->lost_ns, cost->lost_ns, cost->lost_error_ns);
	add(&governor->residue, cost->residue, cost->residue_error);
	governor->first_error = fmax(governor->first_error, cost->first_error);
}

/* An upper estimate: one standard error above the mean. */
static double bound(const struct tp_gpu_mean *mean, double prior)
{
	if (!mean->n)
		return prior;
	return fmax(0, tp_gpu_mean_value(mean) + tp_gpu_mean_error(mean));
}

static double clamp(double value, double least, double most)
{
	return fmax(least, fmin(most, value));
}

static double steady_period(struct tp_gpu_trace_governor *governor, double period_ns)
{
	double before_ns = (double)governor->period_ns;
	if (!governor->slowdown.n)
		return period_ns;
	if (governor->period_ns && period_ns < before_ns) {
		period_ns = fmax(period_ns, before_ns / SHORTEN_MAX);
		if (period_ns > (1 - CHANGE_MIN) * before_ns)
			period_ns = before_ns;
	}
	governor->period_ns = (uint64_t)period_ns;
	return period_ns;
}

/* The shortest period between windows of this length that the budget allows. */
static double allowed_period_ns(const struct tp_gpu_trace_governor *governor, double length_ns)
{
	double budget = governor->budget;
	double slowdown = bound(&governor->slowdown, PRIOR_SLOWDOWN);
	double fixed_ns = bound(&governor->fixed_ns, PRIOR_FIXED_NS);
	double period_ns = length_ns / fmin(TRACED_PER_BUDGET_MAX * budget, TRACED_RATIO_MAX);
	period_ns = fmax(period_ns, (length_ns * slowdown + fixed_ns) / (BUDGET_SHARE * budget));
	period_ns = fmax(period_ns, fixed_ns / (FIXED_BUDGET_SHARE * budget));
	return fmax(period_ns, (double)PERIOD_MIN_NS);
}

/* d of the header times the desired period. */
static double target_length_ns(const struct tp_gpu_trace_governor *governor)
{
	double slowdown = bound(&governor->slowdown, PRIOR_SLOWDOWN);
	double fixed_ns = bound(&governor->fixed_ns, PRIOR_FIXED_NS);
	double room = BUDGET_SHARE * governor->budget - fixed_ns / (double)PERIOD_TARGET_NS;
	double most = fmin(TRACED_PER_BUDGET_MAX * governor->budget, TRACED_RATIO_MAX);
	double duty = slowdown > 0 ? clamp(room / slowdown, 0, most) : most;
	return duty * (double)PERIOD_TARGET_NS;
}

void tp_gpu_trace_governor_next(struct tp_gpu_trace_governor *governor, uint64_t step_ns,
				uint64_t last_ns, struct tp_gpu_window_schedule *out)
{
	double step = (double)step_ns;
	double most_ns =
		fmin(fmax((double)LENGTH_MAX_NS, STEPS_MAX * step), (double)LENGTH_LIMIT_NS);
	double least_ns = step_ns ? fmax((double)LENGTH_MIN_NS, STEPS_MIN * step)
				  : (double)LENGTH_NO_STEPS_NS;
	double length_ns = clamp(target_length_ns(governor), fmin(least_ns, most_ns), most_ns);
	double period_ns = allowed_period_ns(governor, fmax(length_ns, (double)last_ns));
	period_ns = steady_period(governor, period_ns);
	double phase = (double)(tp_perf_random(&governor->seed) >> 11) * 0x1p-53;
	*out = (struct tp_gpu_window_schedule){.length_ns = (uint64_t)length_ns,
					       .most_ns = (uint64_t)most_ns,
					       .period_ns = (uint64_t)period_ns,
					       .start_ns =
						       (uint64_t)(period_ns * (1 + PHASE * phase))};
}

bool tp_gpu_trace_governor_has_residue(const struct tp_gpu_trace_governor *governor)
{
	const struct tp_gpu_mean *residue = &governor->residue;
	double error = hypot(tp_gpu_mean_error(residue), governor->first_error);
	return residue->n >= RESIDUE_WINDOWS &&
	       tp_gpu_mean_value(residue) - 2 * error > governor->budget / 2;
}
