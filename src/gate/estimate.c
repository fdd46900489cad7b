/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates differences between groups of runs, with intervals from the variation between runs. */
#include "trainprof/gate/gate.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

struct tp_run_value tp_run_value_of(const struct tp_quantity *quantity)
{
	double half = quantity->has_interval ? (quantity->high - quantity->low) / 2 : 0;
	return (struct tp_run_value){quantity->value, half / 2};
}

struct moments {
	double mean;
	double variance; /* variance of the sample; 0 for fewer than two values */
};

/* A spread below `spread_min` is chance, or runs that are copies of each other. */
static struct moments sample_stats(const struct tp_run_value *values, size_t n, double spread_min)
{
	struct moments out = {0};
	for (size_t i = 0; i < n; i++)
		out.mean += values[i].value / (double)n;
	for (size_t i = 0; i < n && n > 1; i++)
		out.variance += pow(values[i].value - out.mean, 2) / (double)(n - 1);
	if (n > 1)
		out.variance = fmax(out.variance, spread_min * spread_min);
	return out;
}

static void set_interval(struct tp_gate_estimate *out, double half)
{
	out->low = out->value - half;
	out->high = out->value + half;
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* One way to explain the values of pairs: the difference of both sides, and what is left. */
struct pair_fit {
	double value;
	double residuals; /* sum of squares */
	double df;
	double factor; /* variance of the value, in variances of one run */
};

/* Anything that both runs of a pair have in common cancels out. */
static struct pair_fit fit_pairs(const struct tp_run_value *base, const struct tp_run_value *now,
				 size_t n)
{
	struct pair_fit out = {.df = (double)(n - 1), .factor = 2 / (double)n};
	for (size_t i = 0; i < n; i++)
		out.value += (now[i].value - base[i].value) / (double)n;
	for (size_t i = 0; i < n; i++)
		out.residuals += pow(now[i].value - base[i].value - out.value, 2) / 2;
	return out;
}

/* Least squares of the 2 n runs in their order on the side and on a straight line in time: a drift
 * of the machine is taken out, and more degrees of freedom are left than pairs have. */
static struct pair_fit fit_drift(const struct tp_run_value *base, const struct tp_run_value *now,
				 size_t n, const bool *is_now_first)
{
	double middle = 0;
	double sides = (double)n / 2; /* sums of squares and products: side is -0.5 or 0.5 */
	double times = 0;
	double sides_times = 0;
	double sides_values = 0;
	double times_values = 0;
	double values = 0;
	for (size_t i = 0; i < n; i++)
		middle += (base[i].value + now[i].value) / (2 * (double)n);
	for (size_t i = 0; i < 2 * n; i++) {
		bool is_now = (i % 2 == 0) == is_now_first[i / 2];
		double side = is_now ? 0.5 : -0.5;
		double time = (double)i - ((double)(2 * n) - 1) / 2;
		double value = (is_now ? now : base)[i / 2].value - middle;
		times += time * time;
		sides_times += side * time;
		sides_values += side * value;
		times_values += time * value;
		values += value * value;
	}
	double determinant = sides * times - sides_times * sides_times;
	double difference = (sides_values * times - times_values * sides_times) / determinant;
	double slope = (sides * times_values - sides_times * sides_values) / determinant;
	return (struct pair_fit){
		.value = difference,
		.residuals = fmax(values - difference * sides_values - slope * times_values, 0),
		.df = (double)(2 * n) - 3,
		.factor = times / determinant};
}

/* Returns true if runs of a pair resemble each other by more than a straight line explains: then
 * the machine wanders, and only differences within pairs are free of it. */
static bool are_pairs_similar(const struct pair_fit *pairs, const struct pair_fit *drift)
{
	double gained = drift->residuals - pairs->residuals;
	double n_gained = drift->df - pairs->df;
	if (!(gained > 0))
		return false;
	return tp_fisher_tail(gained / n_gained / (pairs->residuals / pairs->df), n_gained,
			      pairs->df) < TP_GATE_PAIRS_ALIKE;
}

static void estimate_paired(struct tp_gate_estimate *out, const struct tp_run_value *base,
			    const struct tp_run_value *now, size_t n,
			    const struct tp_gate_design *design, double p)
{
	struct pair_fit fit = fit_pairs(base, now, n);
	if (design->is_now_first && n >= TP_PAIRS_LEAST) {
		const struct pair_fit drift = fit_drift(base, now, n, design->is_now_first);
		if (!are_pairs_similar(&fit, &drift))
			fit = drift;
	}
	out->value = fit.value;
	out->spread = fmax(sqrt(fit.residuals / fit.df), design->spread_min);
	set_interval(out, tp_student_quantile(p, fit.df) * out->spread * sqrt(fit.factor));
}

/* ---- groups ------------------------------------------------------------------------------ */

/* Welch's interval. A side with one run has no spread of its own: that of the other side is
 * used. */
static void estimate_groups(struct tp_gate_estimate *out, const struct tp_run_value *base,
			    size_t n_base, const struct tp_run_value *now, size_t n_now,
			    const struct tp_gate_design *design, double p)
{
	struct moments a = sample_stats(base, n_base, design->spread_min);
	struct moments b = sample_stats(now, n_now, design->spread_min);
	out->value = b.mean - a.mean;
	double df;
	double of_a = a.variance / (double)n_base;
	double of_b = b.variance / (double)n_now;
	if (n_base > 1 && n_now > 1) {
		double sum = of_a + of_b;
		df = sum > 0 ? sum * sum /
				       (of_a * of_a / (double)(n_base - 1) +
					of_b * of_b / (double)(n_now - 1))
			     : (double)(n_base + n_now - 2);
		out->spread = sqrt((a.variance + b.variance) / 2);
	} else {
		double variance = n_base > 1 ? a.variance : b.variance;
		df = (double)(n_base > 1 ? n_base : n_now) - 1;
		of_a = variance / (double)n_base;
		of_b = variance / (double)n_now;
		out->spread = sqrt(variance);
	}
	set_interval(out, tp_student_quantile(p, df) * sqrt(of_a + of_b));
}

/* The variation between runs is unknown: uses the assumed noise and the error that the steps
 * leave. */
static void estimate_assumed(struct tp_gate_estimate *out, const struct tp_run_value *base,
			     const struct tp_run_value *now, const struct tp_gate_design *design,
			     double p)
{
	double variance = 2 * design->noise * design->noise + base->error * base->error +
			  now->error * now->error;
	out->value = now->value - base->value;
	out->spread = design->noise;
	out->is_assumed = true;
	set_interval(out, tp_student_quantile(p, 1e6) * sqrt(variance));
}

void tp_gate_estimate_make(struct tp_gate_estimate *out, const struct tp_run_value *base,
			   size_t n_base, const struct tp_run_value *now, size_t n_now,
			   const struct tp_gate_design *design)
{
	double p = 1 - (1 - design->confidence) / 2;
	*out = (struct tp_gate_estimate){0};
	if (n_base == 1 && n_now == 1)
		estimate_assumed(out, base, now, design, p);
	else if (design->is_paired)
		estimate_paired(out, base, now, n_base, design, p);
	else
		estimate_groups(out, base, n_base, now, n_now, design, p);
}

static struct tp_run_value *log_values(const struct tp_run_value *values, size_t n)
{
	struct tp_run_value *out = tp_alloc(n * sizeof(*out));
	for (size_t i = 0; i < n; i++)
		out[i] = (struct tp_run_value){.value = log(values[i].value),
					       .error = values[i].error / values[i].value};
	return out;
}

void tp_gate_ratio_make(struct tp_gate_estimate *out, const struct tp_run_value *base,
			size_t n_base, const struct tp_run_value *now, size_t n_now,
			const struct tp_gate_design *design)
{
	struct tp_run_value *a = log_values(base, n_base);
	struct tp_run_value *b = log_values(now, n_now);
	tp_gate_estimate_make(out, a, n_base, b, n_now, design);
	free(a);
	free(b);
	out->value = exp(out->value);
	out->low = exp(out->low);
	out->high = exp(out->high);
}

enum tp_gate_answer tp_gate_verdict(const struct tp_gate_estimate *ratio, double margin)
{
	if (ratio->low > 1 && ratio->value > 1 + margin)
		return TP_GATE_FAIL;
	return ratio->high < 1 + margin ? TP_GATE_PASS : TP_GATE_UNDECIDED;
}
