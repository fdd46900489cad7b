/* SPDX-License-Identifier: Apache-2.0 */
/* Compares steps in windows of GPU tracing with those around them. */
#include "trace_window_cost.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "rank_data.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>

/* A sum over steps. */
struct window_group {
	size_t n;
	double sum_ns;
	double squares;
};

struct window_steps {
	struct window_group inside;  /* completely inside */
	struct window_group touched; /* affected by opening, tracing or closing */
	struct window_group before;
	struct window_group after;
};

/* One value per window, and its uncertainty from the noise of steps. */
struct series {
	double *values; /* heap */
	size_t n;
	double variance; /* variance of the sum */
};

static void add_step(struct window_group *group, const struct tp_step *step)
{
	double length_ns = (double)(step->end_ns - step->start_ns);
	group->n++;
	group->sum_ns += length_ns;
	group->squares += length_ns * length_ns;
}

static double mean_of(const struct window_group *group)
{
	return group->sum_ns / (double)group->n;
}

static double variance_of(const struct window_group *group)
{
	double n = (double)group->n;
	double rest = group->squares - group->sum_ns * group->sum_ns / n;
	return n > 1 && rest > 0 ? rest / (n - 1) : 0;
}

/* Opening a window makes steps slow, and so do other programs: ALL includes slow steps, inside and
 * outside of the window. Evaluations are never compared. */
enum steps { REGULAR, ALL };

static bool is_compared(const struct tp_step *step, enum steps which)
{
	return which == ALL ? tp_step_is_training(step) : step->kind == TP_STEP_STEADY;
}

/* Returns the first step that ends after a time; steps ascend. */
static size_t first_after(const struct tp_profile *profile, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, profile->n_steps, profile->steps[at].end_ns > time_ns);
	return at;
}

/* End of the warm-up. The slow steps in it are no baseline for later steps. */
static uint64_t warmup_end_ns(const struct tp_profile *profile)
{
	for (size_t i = profile->n_steps; i--;)
		if (profile->steps[i].kind == TP_STEP_WARMUP)
			return profile->steps[i].end_ns;
	return 0;
}

/* Collects the steps of the window, and those on either side up to the adjacent windows. */
static void collect_steps(const struct tp_profile *profile, const struct tp_interval *window,
			  uint64_t from_ns, uint64_t until_ns, enum steps which,
			  struct window_steps *out)
{
	uint64_t begin_ns =
		window->start_ns > TP_WINDOW_LEAD_NS ? window->start_ns - TP_WINDOW_LEAD_NS : 0;
	uint64_t end_ns = window->end_ns + TP_WINDOW_SETTLE_NS;
	*out = (struct window_steps){0};
	size_t first = first_after(profile, from_ns < begin_ns ? from_ns : begin_ns);
	for (size_t i = first; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->start_ns >= end_ns &&
		    (step->start_ns >= until_ns || out->after.n >= TP_BESIDE_STEPS_MAX))
			break;
		if (!is_compared(step, which))
			continue;
		if (step->end_ns > begin_ns && step->start_ns < end_ns)
			add_step(&out->touched, step);
		if (step->start_ns >= window->start_ns && step->end_ns <= window->end_ns)
			add_step(&out->inside, step);
		if (step->start_ns >= end_ns && step->end_ns <= until_ns &&
		    out->after.n < TP_BESIDE_STEPS_MAX)
			add_step(&out->after, step);
	}
	for (size_t i = first_after(profile, begin_ns);
	     i-- > first && out->before.n < TP_BESIDE_STEPS_MAX;) {
		const struct tp_step *step = &profile->steps[i];
		if (is_compared(step, which) && step->end_ns <= begin_ns &&
		    step->start_ns >= from_ns)
			add_step(&out->before, step);
	}
}

static void push(struct series *series, double value, double variance)
{
	series->values[series->n++] = value;
	series->variance += variance;
}

/* The steps on both sides of a window. */
struct neighbors {
	double mean_ns;
	double variance;      /* of a step */
	double mean_variance; /* of the mean */
};

static bool measure_neighbors(const struct window_steps *window_steps, struct neighbors *out)
{
	if (window_steps->before.n < TP_BESIDE_STEPS_MIN ||
	    window_steps->after.n < TP_BESIDE_STEPS_MIN)
		return false;
	out->mean_ns = (mean_of(&window_steps->before) + mean_of(&window_steps->after)) / 2;
	out->variance =
		(variance_of(&window_steps->before) + variance_of(&window_steps->after)) / 2;
	out->mean_variance =
		out->variance *
		(1 / (double)window_steps->before.n + 1 / (double)window_steps->after.n) / 4;
	return true;
}

static void add_slow_ratio(struct series *slowdowns, const struct window_steps *window_steps)
{
	struct neighbors neighbors;
	if (!window_steps->inside.n || !measure_neighbors(window_steps, &neighbors))
		return;
	double variance =
		neighbors.variance / (double)window_steps->inside.n + neighbors.mean_variance;
	push(slowdowns, mean_of(&window_steps->inside) / neighbors.mean_ns - 1,
	     variance / (neighbors.mean_ns * neighbors.mean_ns));
}

static void add_cost(struct series *losses, const struct window_steps *window_steps)
{
	struct neighbors neighbors;
	double n = (double)window_steps->touched.n;
	if (window_steps->touched.n && measure_neighbors(window_steps, &neighbors))
		push(losses, window_steps->touched.sum_ns - n * neighbors.mean_ns,
		     n * neighbors.variance + n * n * neighbors.mean_variance);
}

/* The interval is from the differences between windows or, if that is larger or there is only one
 * window, from the noise of steps. */
static void set_fact(struct tp_profile *profile, enum tp_fact fact, const struct series *series,
		     double scale, double coverage)
{
	struct tp_quantity *out = &profile->facts[fact];
	double n = (double)series->n;
	double sum = 0;
	double squares = 0;
	if (!series->n) {
		tp_profile_set_missing(profile, fact, "no window has steps on both sides");
		return;
	}
	for (size_t i = 0; i < series->n; i++)
		sum += series->values[i];
	double mean = sum / n;
	for (size_t i = 0; i < series->n; i++)
		squares += (series->values[i] - mean) * (series->values[i] - mean);
	double between =
		series->n > 1 ? tp_stats_t975(series->n - 1) * sqrt(squares / (n - 1) / n) : 0;
	double half = fmax(between, 1.96 * sqrt(series->variance) / n);
	tp_profile_set(profile, fact, scale * mean, TP_ORIGIN_MEASURED, coverage);
	out->n = series->n;
	out->has_interval = true;
	out->low = scale * (mean - half);
	out->high = scale * (mean + half);
}

/* Lists the intervals between untraced ones, from the first work to the last. */
static size_t list_windows(const struct tp_rank_analysis *ranks, struct tp_interval *out)
{
	uint64_t at_ns = tp_ranks_first_work(ranks);
	uint64_t last_ns = 0;
	size_t n = 0;
	for (size_t i = 0; i < ranks->n_devices; i++) {
		const struct tp_device_work *device = &ranks->devices[i];
		if (device->n_ops && device->ops[device->n_ops - 1].start_ns > last_ns)
			last_ns = device->ops[device->n_ops - 1].start_ns;
	}
	for (size_t i = 0; i < ranks->shut.n; i++) {
		const struct tp_interval *shut = &ranks->shut.items[i];
		if (shut->start_ns > at_ns)
			out[n++] = (struct tp_interval){at_ns, shut->start_ns};
		at_ns = shut->end_ns;
	}
	if (at_ns < last_ns)
		out[n++] = (struct tp_interval){at_ns, last_ns};
	return n;
}

static double length_of(const struct tp_interval *windows, size_t n)
{
	double sum_ns = 0;
	for (size_t i = 0; i < n; i++)
		sum_ns += (double)(windows[i].end_ns - windows[i].start_ns);
	return sum_ns;
}

void tp_trace_window_cost_set(struct tp_analysis *analysis)
{
	const struct tp_rank_analysis *ranks = analysis->ranks;
	struct tp_profile *profile = analysis->profile;
	double run_ns = (double)analysis->trace->end_ns;
	if (!ranks->shut.n || run_ns <= 0)
		return;
	struct tp_interval *windows = tp_alloc((ranks->shut.n + 1) * sizeof(*windows));
	struct series slowdowns = {.values = tp_alloc((ranks->shut.n + 1) * sizeof(double))};
	struct series losses = {.values = tp_alloc((ranks->shut.n + 1) * sizeof(double))};
	size_t n = list_windows(ranks, windows);
	uint64_t begun_ns = warmup_end_ns(profile);
	for (size_t i = 0; i < n; i++) {
		struct window_steps usual;
		struct window_steps all;
		uint64_t from_ns = i ? windows[i - 1].end_ns + TP_WINDOW_SETTLE_NS : 0;
		uint64_t until_ns =
			i + 1 < n ? windows[i + 1].start_ns - TP_WINDOW_LEAD_NS : UINT64_MAX;
		from_ns = from_ns > begun_ns ? from_ns : begun_ns;
		collect_steps(profile, &windows[i], from_ns, until_ns, REGULAR, &usual);
		collect_steps(profile, &windows[i], from_ns, until_ns, ALL, &all);
		add_slow_ratio(&slowdowns, usual.inside.n ? &usual : &all);
		add_cost(&losses, &all);
	}
	double coverage = n ? (double)losses.n / (double)n : 1;
	tp_profile_set(profile, TP_FACT_WINDOWS_COUNT, (double)n, TP_ORIGIN_MEASURED, 1);
	tp_profile_set(profile, TP_FACT_WINDOWS_TRACED, length_of(windows, n) / run_ns,
		       TP_ORIGIN_MEASURED, 1);
	set_fact(profile, TP_FACT_WINDOWS_SLOWDOWN, &slowdowns, 1, coverage);
	set_fact(profile, TP_FACT_WINDOWS_COST, &losses, (double)n / run_ns, coverage);
	free(windows);
	free(slowdowns.values);
	free(losses.values);
}
