/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of series that were measured step by step. Adjacent values are correlated, so nothing
 * here assumes that they are independent. Nothing uses random numbers: the same recording gives the
 * same digits. Sources and simulated coverage: docs/design/steps.md#intervals. */
#ifndef TRAINPROF_SRC_ANALYZE_NUMERIC_STATS_H
#define TRAINPROF_SRC_ANALYZE_NUMERIC_STATS_H

#include "trainprof/model/profile.h"

#include <stdbool.h>
#include <stddef.h>

/* An estimate with its 95 % interval. */
struct tp_estimate {
	double value;
	double low;
	double high;
	size_t n;
	size_t n_batches;   /* 0 if is_few */
	double effective_n; /* equivalent number of independent values, <= n */
	bool is_few;        /* n < 10: low and high are the smallest and the largest value */
	bool is_drifting;   /* effective_n < 10: the interval is a lower bound */
};

/* Quantile 0.975 of Student's t; exact to 1e-3 for every df >= 1. */
double tp_stats_t975(size_t df);

/* Ratio sum(x)/sum(w) over n steps, with an interval by batch means, clipped to 0..1. All fields
 * are 0 if n or sum(w) is 0. */
void tp_stats_ratio(const double *x, const double *w, size_t n, struct tp_estimate *out);
/* The same for steps that were measured in groups; group[i] is ascending. The interval comes from
 * the differences between groups, n_batches is the number of groups, and a single group gives
 * 0..1. */
void tp_stats_ratio_groups(const double *x, const double *w, const size_t *group, size_t n,
			   struct tp_estimate *out);
/* Mean of x, with an interval by batch means, not clipped. */
void tp_stats_mean(const double *x, size_t n, struct tp_estimate *out);

/* Sets all fields of `out` from n values; n = 0 gives zeros. The interval of the median inverts the
 * batch-means interval of the share of values below it: this keeps its level on correlated series
 * better than a block bootstrap and costs one sort. */
void tp_stats_describe(const double *x, size_t n, struct tp_stat *out);

void tp_stats_sort(double *x, size_t n); /* ascending */
/* Quantile by linear interpolation between the sorted values; 0 if n is 0. */
double tp_stats_quantile(const double *sorted, size_t n, double q);
double tp_stats_median(const double *x, size_t n);
/* Sets medians[i] to the median of the `n_together` consecutive values that x[i] is among: what is
 * usual may change while a program runs. Odd numbers, because the median of an even number of
 * values of two kinds is neither. Fewer values are compared with the median of all. */
void tp_stats_local_medians(const double *x, size_t n, size_t n_together, double *medians);
/* Median of the absolute deviations from `center`. */
double tp_stats_mad(const double *x, size_t n, double center);

/* n / (1 + 2 * sum of autocorrelations), by Geyer's initial positive sequence; 1..n. */
double tp_stats_effective_n(const double *x, size_t n);

/* MSER-5: returns how many initial values to drop so that the mean of the rest is most precise; at
 * most half of them, 0 below 20 values. Pure noise also gives a number, so test the result. */
size_t tp_stats_mser5(const double *x, size_t n);

/*
 * Splits the series where its level shifts: binary segmentation by Student's t. A split is kept if
 * each side has min_length values and the adjacent levels differ by min_shift and by t >= 6,
 * corrected for correlation (false alarms: 0 to 2 % on AR(1) noise up to 0.8, simulated).
 * starts  out: first index of each level, ascending, starts[0] = 0; at most capacity of them.
 * Returns the number of levels; 1 if nothing shifts, 0 if n is 0.
 */
size_t tp_stats_levels(const double *x, size_t n, size_t min_length, double min_shift,
		       size_t *starts, size_t capacity);

#endif
