/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates differences between groups of runs, with intervals from the variation between runs. */
#include "trainprof/gate/gate.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

struct moments {
	double mean;
	double variance; /* variance of the sample; 0 for fewer than two values */
};

static struct moments sample_stats(const struct tp_run_value *values, size_t n)
{
	struct moments out = {0};
	for (size_t i = 0; i < n; i++)
		out.mean += values[i].value / (double)n;
	for (size_t i = 0; i < n && n > 1; i++)
		out.variance += pow(values[i].value - out.mean, 2) / (double)(n - 1);
	return out;
}

static void set_interval(struct tp_gate_estimate *out, double half)
{
	out->low = out->value - half;
	out->high = out->value + half;
}

/* The differences of pairs are the sample: effects that both runs of a pair have in common cancel
 * out. */
static void estimate_paired(struct tp_gate_estimate *out, const struct tp_run_value *base,
			    const struct tp_run_value *now, size_t n, double p)
{
	struct tp_run_value *differences = tp_alloc(n * sizeof(*differences));
	for (size_t i = 0; i < n; i++)
		differences[i] = (struct tp_run_value){.value = now[i].value - base[i].value};
	struct moments m = sample_stats(differences, n);
	free(differences);
	out->value = m.mean;
	out->spread = sqrt(m.variance / 2);
	set_interval(out, tp_student_quantile(p, (double)(n - 1)) * sqrt(m.variance / (double)n));
}

/* Welch's interval. A side with one run has no spread of its own: that of the other side is
 * used. */
static void estimate_groups(struct tp_gate_estimate *out, const struct tp_run_value *base,
			    size_t n_base, const struct tp_run_value *now, size_t n_now, double p)
{
	struct moments a = sample_stats(base, n_base);
	struct moments b = sample_stats(now, n_now);
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
		estimate_paired(out, base, now, n_base, p);
	else
		estimate_groups(out, base, n_base, now, n_now, p);
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
