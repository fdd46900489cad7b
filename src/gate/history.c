/* SPDX-License-Identifier: Apache-2.0 */
/* Finds change points in a series of saves: points at which the level of the time differs by more
 * than chance. */
#include "trainprof/gate/history.h"

#include "trainprof/base/memory.h"
#include "trainprof/gate/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The unit is the save: runs of one night resemble each other more than those of two nights. */
static double log_time(const struct tp_history_save *save)
{
	double sum = 0;
	for (size_t i = 0; i < save->n_times; i++)
		sum += log(save->time_ns[i]);
	return sum / (double)save->n_times;
}

static double mean(const double *v, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum / (double)n;
}

static double squares(const double *v, size_t n)
{
	double m = mean(v, n);
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - m) * (v[i] - m);
	return sum;
}

/* Returns Student's t of the difference between both sides of k. */
static double t_statistic(const double *v, size_t n, size_t k)
{
	double df = (double)(n - 2);
	double spread = sqrt((squares(v, k) + squares(v + k, n - k)) / df);
	spread = fmax(spread, TP_GATE_SPREAD_MIN);
	return fabs(mean(v, k) - mean(v + k, n - k)) /
	       (spread * sqrt(1 / (double)k + 1 / (double)(n - k)));
}

/* Returns the index at which a series changes; 0 = it does not change. Each index is one test, so
 * each gets its share of TP_HISTORY_ALARM. */
static size_t find_change(const double *v, size_t n)
{
	size_t at = 0;
	double most = 0;
	if (n < TP_HISTORY_SAVES_MIN)
		return 0;
	for (size_t k = TP_HISTORY_LEVEL_MIN; k + TP_HISTORY_LEVEL_MIN <= n; k++) {
		double t = t_statistic(v, n, k);
		if (t > most) {
			most = t;
			at = k;
		}
	}
	double n_tries = (double)n + 1 - 2.0 * TP_HISTORY_LEVEL_MIN;
	double limit = tp_student_quantile(1 - TP_HISTORY_ALARM / (2 * n_tries), (double)(n - 2));
	return most > limit ? at : 0;
}

static void add_levels(struct tp_history_result *out, const double *v, size_t first, size_t n)
{
	size_t k = out->n_levels + 2 <= TP_HISTORY_LEVELS_MAX ? find_change(v + first, n) : 0;
	if (k) {
		add_levels(out, v, first, k);
		add_levels(out, v, first + k, n - k);
	} else if (out->n_levels < TP_HISTORY_LEVELS_MAX) {
		out->levels[out->n_levels++] =
			(struct tp_history_level){first, n, exp(mean(v + first, n))};
	} else {
		out->levels[out->n_levels - 1].n += n;
	}
}

static void find_levels(struct tp_history_result *out, const double *v)
{
	out->n_levels = 0;
	add_levels(out, v, out->n_left_out, out->history->n - out->n_left_out);
}

/* A straight line in time that levels have in common, fitted by least squares. A program that
 * changed at some commits is flat in between. */
struct line {
	double slope;  /* per save */
	double times;  /* sum of squares of times within the levels */
	double spread; /* of the saves around it */
	double df;     /* below 1: nothing else is known */
};

static struct line fit_line(const struct tp_history_level *levels, size_t n_levels, const double *v)
{
	double times_values = 0;
	double values = 0;
	struct line out = {.df = -(double)n_levels - 1};
	for (size_t i = 0; i < n_levels; i++) {
		const struct tp_history_level *level = &levels[i];
		double middle = ((double)level->n - 1) / 2;
		values += squares(v + level->first, level->n);
		out.df += (double)level->n;
		for (size_t k = 0; k < level->n; k++) {
			out.times += ((double)k - middle) * ((double)k - middle);
			times_values += ((double)k - middle) * v[level->first + k];
		}
	}
	if (out.df < 1)
		return out;
	out.slope = times_values / out.times;
	out.spread = sqrt(fmax(values - out.slope * times_values, 0) / out.df);
	out.spread = fmax(out.spread, TP_GATE_SPREAD_MIN);
	return out;
}

/* A clock that sinks, or data that grow, look like a row of levels. Where levels have a slope in
 * common, it is taken out, and they are looked for again. */
static void remove_drift(struct tp_history_result *out, double *v)
{
	const struct line line = fit_line(out->levels, out->n_levels, v);
	if (out->n_levels < 2 || line.df < 1 ||
	    fabs(line.slope) <= tp_student_quantile(1 - TP_HISTORY_DRIFT / 2, line.df) *
					line.spread / sqrt(line.times))
		return;
	out->drift_ratio = exp(line.slope) - 1;
	for (size_t i = out->n_left_out; i < out->history->n; i++)
		v[i] -= line.slope * (double)(i - out->n_left_out);
	find_levels(out, v);
}

static bool is_comparable(const struct tp_history_save *a, const struct tp_history_save *b)
{
	bool is_same_machine = !a->machine || !b->machine || strcmp(a->machine, b->machine) == 0;
	return is_same_machine && a->is_of_steps == b->is_of_steps;
}

/* Saves before the last one that are not comparable with it, and all earlier ones, do not count. */
static size_t count_left_out(const struct tp_run_history *history)
{
	size_t first = history->n - 1;
	while (first && is_comparable(&history->saves[first - 1], &history->saves[history->n - 1]))
		first--;
	return first;
}

static void set_change(struct tp_history_result *out, const double *v)
{
	const struct tp_history_level *best = &out->levels[out->best];
	const struct tp_history_level *last = &out->levels[out->n_levels - 1];
	const struct tp_gate_design design = {.confidence = TP_GATE_CONFIDENCE,
					      .noise = TP_GATE_ASSUMED_NOISE,
					      .spread_min = TP_GATE_SPREAD_MIN};
	struct tp_run_value *values = tp_alloc((best->n + last->n) * sizeof(*values));
	struct tp_gate_estimate e;
	for (size_t i = 0; i < best->n; i++)
		values[i].value = v[best->first + i];
	for (size_t i = 0; i < last->n; i++)
		values[best->n + i].value = v[last->first + i];
	tp_gate_estimate_make(&e, values, best->n, values + best->n, last->n, &design);
	free(values);
	out->change = (struct tp_change){.is_known = true,
					 .base = best->time_ns,
					 .now = last->time_ns,
					 .difference = exp(e.value),
					 .low = exp(e.low),
					 .high = exp(e.high),
					 .is_sure = e.low > 0 || e.high < 0};
}

/* Returns true if the last save alone is so slow that one more like it would be a change. */
static bool is_last_outlier(const double *v, const struct tp_history_level *level, double margin)
{
	size_t n = level->n - 1;
	if (n < TP_HISTORY_LEVEL_MIN)
		return false;
	const double *before = v + level->first;
	double excess = before[n] - mean(before, n);
	double spread = fmax(sqrt(squares(before, n) / (double)(n - 1)), TP_GATE_SPREAD_MIN);
	double limit = tp_student_quantile(1 - TP_HISTORY_ALARM / 2, (double)(n - 1));
	return excess > log(1 + margin) && excess > limit * spread * sqrt(1 + 1 / (double)n);
}

/* Returns true if training became slower at once at that level, also if the saves since the best
 * level drift. Only two stretches are compared: levels that were found in a drift are cut where
 * chance makes them look flat. */
static bool is_step(const struct tp_history_result *r, const double *v, size_t level)
{
	size_t first = r->levels[r->best].first;
	size_t at = r->levels[level].first;
	const struct tp_history_level sides[] = {{.first = first, .n = at - first},
						 {.first = at, .n = r->history->n - at}};
	const struct line line = fit_line(sides, 2, v);
	if (line.df < 1)
		return false;
	double distance = (double)(r->history->n - first) / 2;
	double step =
		mean(v + at, sides[1].n) - mean(v + first, sides[0].n) - line.slope * distance;
	double variance =
		1 / (double)sides[0].n + 1 / (double)sides[1].n + distance * distance / line.times;
	return step > tp_student_quantile(1 - TP_HISTORY_ALARM / 2, line.df) * line.spread *
			      sqrt(variance);
}

static void set_verdict(struct tp_history_result *out, const double *v)
{
	const struct tp_history_level *last = &out->levels[out->n_levels - 1];
	double limit = out->levels[out->best].time_ns * (1 + out->margin_ratio);
	out->answer = TP_GATE_PASS;
	if (last->time_ns > limit && out->change.low > 1) {
		out->culprit = out->n_levels - 1;
		while (out->levels[out->culprit - 1].time_ns > limit)
			out->culprit--;
		out->answer = TP_GATE_FAIL;
		if (!is_step(out, v, out->culprit)) {
			out->answer = TP_GATE_UNDECIDED;
			out->undecided_because = "it became slower, at once or little by little: "
						 "more saves decide";
		}
	} else if (is_last_outlier(v, last, out->margin_ratio)) {
		out->answer = TP_GATE_UNDECIDED;
		out->undecided_because = "the last save alone is slower: one more decides";
	} else if (pow(1 + out->drift_ratio, (double)(out->history->n - out->n_left_out - 1)) >
		   1 + out->margin_ratio) {
		out->answer = TP_GATE_UNDECIDED;
		out->undecided_because = "it becomes slower little by little, at no single save: "
					 "the machine, growing data or the program";
	}
}

void tp_history_judge(struct tp_history_result *out, const struct tp_run_history *history,
		      double margin_ratio)
{
	*out = (struct tp_history_result){.history = history,
					  .margin_ratio = margin_ratio,
					  .n_left_out = count_left_out(history)};
	double *v = tp_alloc(history->n * sizeof(*v));
	for (size_t i = 0; i < history->n; i++)
		v[i] = log_time(&history->saves[i]);
	find_levels(out, v);
	remove_drift(out, v);
	for (size_t i = 1; i < out->n_levels; i++)
		if (out->levels[i].time_ns < out->levels[out->best].time_ns)
			out->best = i;
	set_change(out, v);
	_Static_assert(TP_HISTORY_SAVES_MIN == 5, "the sentence says five");
	if (history->n - out->n_left_out < TP_HISTORY_SAVES_MIN) {
		out->answer = TP_GATE_UNDECIDED;
		out->undecided_because = "fewer than five saves";
	} else {
		set_verdict(out, v);
	}
	free(v);
}
