/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes GPU tracing windows, and measures their cost. */
#include "gpu_trace_windows.h"

#include "trainprof/base/clock.h"

#include <math.h>
#include <stdio.h>

/* The program has probably warmed up by then, and some steps are known. */
#define FIRST_NS     (3 * TP_NS_PER_S)
#define FIRST_MAX_NS (30 * TP_NS_PER_S)
enum { FIRST_STEPS = 10 };

/* A window that has not begun by then is abandoned. */
#define OPENING_MAX_NS (30 * TP_NS_PER_S)

/* After a window CUPTI delivers the rest and is released. */
#define FLUSH_NS (300 * TP_NS_PER_MS)
/* Length of the stretches before and after a window that it is compared with: this time, or this
 * many steps. */
#define ADJACENT_NS     (4 * TP_NS_PER_S)
#define ADJACENT_MAX_NS (30 * TP_NS_PER_S)
enum { ADJACENT_STEPS = 8 };

/* If steps are longer than two ticks, a window begins with a step. */
#define TICK_NS (100 * TP_NS_PER_MS)
/* Pause after a window that was skipped for lack of space. */
#define POSTPONE_NS (60 * TP_NS_PER_S)

/* A slowdown with a larger error counts as unknown. */
static const double SLOWDOWN_ERROR_MAX = 0.5;

void tp_gpu_trace_windows_init(struct tp_gpu_trace_windows *windows,
			       const struct tp_progress *progress, double max_overhead_ratio,
			       uint64_t seed)
{
	*windows = (struct tp_gpu_trace_windows){.progress = progress};
	tp_gpu_trace_governor_init(&windows->governor, max_overhead_ratio, seed);
	tp_gpu_trace_governor_next(&windows->governor, 0, 0, &windows->order);
}

/* ---- current steps -------------------------------------------------------------------------- */

/* Returns false if no source reports steps. */
static bool step_rate(const struct tp_gpu_trace_windows *windows, uint64_t now_ns,
		      struct tp_progress_rate *out)
{
	const struct tp_progress_series *steps = tp_progress_steps(windows->progress);
	uint64_t from_ns = now_ns > ADJACENT_MAX_NS ? now_ns - ADJACENT_MAX_NS : 0;
	return steps && tp_progress_typical_rate(steps, from_ns, now_ns, out);
}

static uint64_t step_ns(const struct tp_gpu_trace_windows *windows, uint64_t now_ns)
{
	struct tp_progress_rate pace;
	return step_rate(windows, now_ns, &pace) ? (uint64_t)pace.count_ns : 0;
}

/* The length of the stretches around a window. */
static uint64_t beside_ns(const struct tp_gpu_trace_windows *windows, uint64_t now_ns)
{
	uint64_t length_ns = ADJACENT_STEPS * step_ns(windows, now_ns);
	return length_ns < ADJACENT_NS       ? ADJACENT_NS
	       : length_ns > ADJACENT_MAX_NS ? ADJACENT_MAX_NS
					     : length_ns;
}

/* True if a step is about to begin, or if that cannot be known. */
static bool is_at_step_boundary(const struct tp_gpu_trace_windows *windows, uint64_t now_ns)
{
	const struct tp_progress_series *steps = tp_progress_steps(windows->progress);
	uint64_t length_ns = step_ns(windows, now_ns);
	if (length_ns < 2 * TICK_NS || now_ns < steps->last_ns)
		return true;
	uint64_t into_ns = now_ns - steps->last_ns;
	return into_ns > 2 * length_ns || length_ns - into_ns % length_ns <= TICK_NS;
}

/* ---- open and close ------------------------------------------------------------------------- */

static void open_window(struct tp_gpu_trace_windows *windows,
			const struct tp_gpu_agents_state *agents, uint64_t now_ns)
{
	windows->beside_ns = beside_ns(windows, now_ns);
	uint64_t from_ns = now_ns > windows->beside_ns ? now_ns - windows->beside_ns : 0;
	if (windows->n && from_ns < windows->closed_ns + FLUSH_NS)
		from_ns = windows->closed_ns + FLUSH_NS;
	for (size_t i = 0; i < windows->progress->n; i++) {
		const struct tp_progress_series *series = &windows->progress->series[i];
		struct tp_progress_rate *before = &windows->before[i];
		if (!tp_progress_typical_rate(series, from_ns, now_ns, before))
			*before = (struct tp_progress_rate){0};
		if (!windows->n)
			windows->first[i] = *before;
	}
	windows->state = TP_GPU_WINDOWS_OPEN;
	windows->asked_ns = now_ns;
	windows->opened_ns = 0;
	windows->n_events = agents->n_events;
}

/* Two whole steps lie between three borders. */
static bool has_whole_steps(const struct tp_gpu_trace_windows *windows, uint64_t from_ns,
			    uint64_t now_ns)
{
	struct tp_progress_rate inside;
	const struct tp_progress_series *steps = tp_progress_steps(windows->progress);
	return !steps || tp_progress_typical_rate(steps, from_ns, now_ns, &inside);
}

/* Agents take milliseconds or many seconds to begin. */
static void check_opened(struct tp_gpu_trace_windows *windows,
			 const struct tp_gpu_agents_state *agents, uint64_t now_ns)
{
	if (agents->opened_ns >= windows->asked_ns && agents->opened_ns <= now_ns)
		windows->opened_ns = agents->opened_ns;
	else if (!windows->opened_ns && agents->is_collecting)
		windows->opened_ns = now_ns;
}

static bool is_time_to_close(const struct tp_gpu_trace_windows *windows,
			     const struct tp_gpu_agents_state *agents, uint64_t now_ns)
{
	if (!windows->opened_ns)
		return now_ns - windows->asked_ns >= OPENING_MAX_NS;
	uint64_t length_ns = now_ns - windows->opened_ns;
	if (length_ns >= windows->order.most_ns ||
	    agents->n_events - windows->n_events >= TP_GPU_WINDOW_EVENTS_MAX)
		return true;
	return length_ns >= windows->order.length_ns &&
	       has_whole_steps(windows, windows->opened_ns, now_ns);
}

/* ---- cost of a window ----------------------------------------------------------------------- */

struct window_estimate {
	bool is_known;
	enum tp_progress_kind by;
	struct tp_gpu_window_cost cost;
};

/* The speed outside is the mean of both sides; their difference limits its accuracy. */
struct adjacent_rates {
	double count_ns;
	double spread_ratio;
	double error; /* relative, of count_ns */
};

static void merge_rates(const struct tp_progress_rate *before, const struct tp_progress_rate *after,
			struct adjacent_rates *out)
{
	out->count_ns = (before->count_ns + after->count_ns) / 2;
	out->spread_ratio = (before->spread_ratio + after->spread_ratio) / 2;
	double chance = out->spread_ratio * sqrt(1 / before->n + 1 / after->n) / 2;
	double drift = fabs(before->count_ns - after->count_ns) / out->count_ns / 4;
	out->error = fmax(chance, drift);
}

/* Covers the time between the last count before the window was requested and the first one after
 * it. */
static bool estimate_loss(const struct tp_gpu_trace_windows *windows,
			  const struct tp_progress_series *series,
			  const struct adjacent_rates *adjacent_rates,
			  struct tp_gpu_window_cost *cost)
{
	struct tp_progress_rate all;
	if (!tp_progress_total_rate(series, windows->asked_ns, windows->closed_ns + FLUSH_NS, &all))
		return false;
	double usual_ns = all.n * adjacent_rates->count_ns;
	cost->lost_ns = (double)(all.to_ns - all.from_ns) - usual_ns;
	cost->lost_error_ns =
		usual_ns * hypot(adjacent_rates->error, adjacent_rates->spread_ratio / sqrt(all.n));
	return true;
}

/* If no whole count lies in the window, its total loss is treated as slowdown. */
static void estimate_slowdown(const struct tp_gpu_trace_windows *windows,
			      const struct tp_progress_series *series,
			      const struct adjacent_rates *adjacent_rates,
			      struct tp_gpu_window_cost *cost)
{
	struct tp_progress_rate inside;
	if (tp_progress_typical_rate(series, windows->opened_ns, windows->closed_ns, &inside)) {
		double ratio = inside.count_ns / adjacent_rates->count_ns;
		cost->slowdown = ratio - 1;
		cost->slowdown_error = ratio * hypot(adjacent_rates->error,
						     adjacent_rates->spread_ratio / sqrt(inside.n));
		return;
	}
	double length_ns = (double)cost->length_ns;
	double left_ns = fmax(length_ns - cost->lost_ns, length_ns / 10);
	cost->slowdown = cost->lost_ns / left_ns;
	cost->slowdown_error = cost->lost_error_ns / left_ns;
}

static void estimate_residue(const struct tp_progress_rate *first,
			     const struct tp_progress_rate *after, struct tp_gpu_window_cost *cost)
{
	cost->first_error = 1;
	if (first->count_ns <= 0)
		return;
	cost->residue = after->count_ns / first->count_ns - 1;
	cost->residue_error = after->spread_ratio / sqrt(after->n);
	cost->first_error = first->spread_ratio / sqrt(first->n);
}

static void estimate_by_series(const struct tp_gpu_trace_windows *windows, size_t i,
			       uint64_t until_ns, struct window_estimate *out)
{
	const struct tp_progress_series *series = &windows->progress->series[i];
	struct tp_gpu_window_cost cost = {.length_ns = windows->closed_ns - windows->opened_ns};
	struct adjacent_rates adjacent_rates;
	struct tp_progress_rate after;
	if (windows->before[i].count_ns <= 0 ||
	    !tp_progress_typical_rate(series, windows->closed_ns + FLUSH_NS, until_ns, &after))
		return;
	merge_rates(&windows->before[i], &after, &adjacent_rates);
	if (!estimate_loss(windows, series, &adjacent_rates, &cost))
		return;
	estimate_slowdown(windows, series, &adjacent_rates, &cost);
	estimate_residue(&windows->first[i], &after, &cost);
	bool is_better = !out->is_known || cost.slowdown_error < out->cost.slowdown_error;
	if (out->is_known && out->by == TP_PROGRESS_STEPS)
		is_better = is_better && series->kind == TP_PROGRESS_STEPS;
	else if (series->kind == TP_PROGRESS_STEPS)
		is_better = true;
	if (is_better && cost.slowdown_error <= SLOWDOWN_ERROR_MAX)
		*out = (struct window_estimate){.is_known = true, .by = series->kind, .cost = cost};
}

static void estimate_window(struct tp_gpu_trace_windows *windows, uint64_t now_ns)
{
	struct window_estimate window_estimate = {0};
	for (size_t i = 0; i < windows->progress->n; i++)
		estimate_by_series(windows, i, now_ns, &window_estimate);
	if (window_estimate.is_known) {
		windows->measured_by = window_estimate.by;
		tp_gpu_trace_governor_add(&windows->governor, &window_estimate.cost);
	}
	windows->state = tp_gpu_trace_governor_has_residue(&windows->governor)
				 ? TP_GPU_WINDOWS_ENDED
				 : TP_GPU_WINDOWS_PAUSED;
	tp_gpu_trace_governor_next(&windows->governor, step_ns(windows, now_ns),
				   windows->closed_ns - windows->opened_ns, &windows->order);
}

/* A window that never began says nothing about costs; the next one still keeps its schedule. */
static void close_window(struct tp_gpu_trace_windows *windows, uint64_t now_ns)
{
	if (!windows->opened_ns) {
		windows->opened_ns = now_ns;
		windows->state = TP_GPU_WINDOWS_PAUSED;
		return;
	}
	windows->state = TP_GPU_WINDOWS_CLOSED;
	windows->closed_ns = now_ns;
	windows->n++;
}

/* Runs when the agents have reported its end and the program has continued for a while. */
static void check_after(struct tp_gpu_trace_windows *windows,
			const struct tp_gpu_agents_state *agents, uint64_t now_ns)
{
	if (agents->closed_ns > windows->opened_ns && agents->closed_ns < now_ns)
		windows->closed_ns = agents->closed_ns;
	windows->traced_ns += windows->closed_ns - windows->opened_ns;
	estimate_window(windows, now_ns);
}

/* ---- driver --------------------------------------------------------------------------------- */

static bool is_warm(const struct tp_gpu_trace_windows *windows, uint64_t now_ns)
{
	struct tp_progress_rate pace;
	if (now_ns < windows->seen_ns + FIRST_NS)
		return false;
	if (!tp_progress_steps(windows->progress) || now_ns >= windows->seen_ns + FIRST_MAX_NS)
		return true;
	return step_rate(windows, now_ns, &pace) && pace.n >= FIRST_STEPS;
}

/* Checks memory before a window that is due. */
static bool has_memory(struct tp_gpu_trace_windows *windows,
		       const struct tp_gpu_agents_state *agents, uint64_t now_ns)
{
	if (now_ns < windows->put_off_ns)
		return false;
	if (!agents->lacks_room)
		return true;
	windows->n_left_out++;
	windows->put_off_ns = now_ns + POSTPONE_NS;
	return false;
}

bool tp_gpu_trace_windows_tick(struct tp_gpu_trace_windows *windows,
			       const struct tp_gpu_agents_state *agents, uint64_t now_ns)
{
	if (!agents->is_there)
		return false;
	if (!windows->seen_ns)
		windows->seen_ns = now_ns;
	switch (windows->state) {
	case TP_GPU_WINDOWS_WAITING:
		if (!is_warm(windows, now_ns) || !has_memory(windows, agents, now_ns) ||
		    !is_at_step_boundary(windows, now_ns))
			break;
		tp_gpu_trace_governor_next(&windows->governor, step_ns(windows, now_ns), 0,
					   &windows->order);
		open_window(windows, agents, now_ns);
		break;
	case TP_GPU_WINDOWS_OPEN:
		check_opened(windows, agents, now_ns);
		if (is_time_to_close(windows, agents, now_ns))
			close_window(windows, now_ns);
		break;
	case TP_GPU_WINDOWS_CLOSED:
		if (now_ns >= windows->closed_ns + FLUSH_NS + windows->beside_ns)
			check_after(windows, agents, now_ns);
		break;
	case TP_GPU_WINDOWS_PAUSED:
		if (now_ns >= windows->opened_ns + windows->order.start_ns &&
		    has_memory(windows, agents, now_ns) && is_at_step_boundary(windows, now_ns))
			open_window(windows, agents, now_ns);
		break;
	case TP_GPU_WINDOWS_ENDED:
		break;
	}
	return windows->state == TP_GPU_WINDOWS_OPEN;
}

void tp_gpu_trace_windows_finish(struct tp_gpu_trace_windows *windows,
				 const struct tp_gpu_agents_state *agents, uint64_t now_ns)
{
	if (windows->state == TP_GPU_WINDOWS_OPEN) {
		check_opened(windows, agents, now_ns);
		close_window(windows, now_ns);
	}
	if (windows->state == TP_GPU_WINDOWS_CLOSED)
		check_after(windows, agents, now_ns);
}

bool tp_gpu_trace_windows_lost(const struct tp_gpu_trace_windows *windows, double *lost_ns,
			       double *error_ns)
{
	const struct tp_gpu_mean *lost = &windows->governor.lost_ns;
	*lost_ns = (double)windows->n * tp_gpu_mean_value(lost);
	*error_ns = (double)windows->n * tp_gpu_mean_error(lost);
	return lost->n > 0;
}

void tp_gpu_trace_windows_describe(const struct tp_gpu_trace_windows *windows, double seconds,
				   char *out, size_t size)
{
	double lost_ns;
	double error_ns;
	double percent = seconds > 0 ? 100e-9 / seconds : 0;
	bool is_known = tp_gpu_trace_windows_lost(windows, &lost_ns, &error_ns);
	const char *plural = windows->n == 1 ? "" : "s";
	if (!windows->n && windows->asked_ns)
		snprintf(out, size, "no window began: the agent did not come to collect");
	else if (!windows->n)
		snprintf(out, size, "the program ended before the first window");
	else if (windows->state == TP_GPU_WINDOWS_ENDED)
		snprintf(out, size,
			 "ended after %zu windows: the program stayed %.2g %% slower between them",
			 windows->n, 100 * tp_gpu_mean_value(&windows->governor.residue));
	else if (is_known)
		snprintf(out, size,
			 "traced in %zu window%s, %.2g %% of the time, which cost %.2g %% "
			 "± %.1g %% by %s",
			 windows->n, plural, percent * (double)windows->traced_ns,
			 percent * lost_ns, percent * error_ns,
			 tp_progress_name(windows->measured_by));
	else
		snprintf(out, size,
			 "traced in %zu window%s, %.2g %% of the time; slowdown not "
			 "measured",
			 windows->n, plural, percent * (double)windows->traced_ns);
}
