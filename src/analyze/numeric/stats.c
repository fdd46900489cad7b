/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates with confidence intervals for correlated series; all are deterministic. */
#include "stats.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCHES = 10,    /* batches of the batch-means interval */
	MIN_BATCHES = 5, /* if there are fewer than two steps for each of ten batches */
	MAX_LAG = 200,   /* of autocorrelations; a run that needs more drifts anyway */
	MSER_BATCH = 5,
};

double tp_stats_t975(size_t df)
{
	static const double exact[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646,
				       2.3060,  2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448};
	static const double z = 1.959964;
	if (df < 1)
		df = 1;
	if (df <= TP_ARRAY_LEN(exact))
		return exact[df - 1];
	/* Cornish-Fisher expansion, Abramowitz and Stegun 26.7.5. */
	double v = (double)df;
	double z3 = z * z * z;
	double z5 = z3 * z * z;
	double z7 = z5 * z * z;
	return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

static int double_order(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;
	return (*x > *y) - (*x < *y);
}

void tp_stats_sort(double *x, size_t n)
{
	if (n)
		qsort(x, n, sizeof(*x), double_order);
}

static double *sorted_copy(const double *x, size_t n)
{
	double *copy = tp_alloc((n + 1) * sizeof(*copy));
	if (n)
		memcpy(copy, x, n * sizeof(*copy));
	tp_stats_sort(copy, n);
	return copy;
}

double tp_stats_quantile(const double *sorted, size_t n, double q)
{
	if (!n)
		return 0;
	double at = q * (double)(n - 1);
	if (at <= 0)
		return sorted[0];
	size_t i = (size_t)at;
	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (sorted[i + 1] - sorted[i]) * (at - (double)i);
}

/* Splits [*left, *right] at a value of its middle: smaller values come before larger ones. Keeps
 * the part that holds index k, or nothing if the value there is in its place. */
static void keep_part(double *x, ptrdiff_t *left, ptrdiff_t *right, ptrdiff_t k)
{
	double pivot = x[*left + (*right - *left) / 2];
	ptrdiff_t i = *left;
	ptrdiff_t j = *right;
	while (i <= j) {
		while (x[i] < pivot)
			i++;
		while (pivot < x[j])
			j--;
		if (i > j)
			break;
		double other = x[i];
		x[i++] = x[j];
		x[j--] = other;
	}
	if (j < k)
		*left = i;
	if (k < i)
		*right = j;
}

/* Moves the value that is at index k of the sorted array to its place: none before it is larger,
 * none after it is smaller (C. A. R. Hoare, Find). An order of values that would make this slow is
 * sorted instead. */
static void select_value(double *x, size_t n, size_t k)
{
	enum { ROUNDS_MAX = 100 };
	ptrdiff_t left = 0;
	ptrdiff_t right = (ptrdiff_t)n - 1;
	for (size_t round = 0; left < right && round < ROUNDS_MAX; round++)
		keep_part(x, &left, &right, (ptrdiff_t)k);
	if (left < right)
		tp_stats_sort(x + left, (size_t)(right - left + 1));
}

double tp_stats_median(const double *x, size_t n)
{
	if (!n)
		return 0;
	double *copy = tp_alloc(n * sizeof(*copy));
	memcpy(copy, x, n * sizeof(*copy));
	size_t lower = (n - 1) / 2;
	select_value(copy, n, lower);
	double median = copy[lower];
	if (n % 2 == 0) {
		double next = copy[lower + 1];
		for (size_t i = lower + 2; i < n; i++)
			next = copy[i] < next ? copy[i] : next;
		median += (next - median) * 0.5;
	}
	free(copy);
	return median;
}

void tp_stats_local_medians(const double *x, size_t n, size_t n_together, double *medians)
{
	size_t n_block = n < n_together ? n : n_together;
	for (size_t i = 0; i < n; i += n_block) {
		size_t end = i + n_block < n ? i + n_block : n;
		double median = tp_stats_median(x + end - n_block, n_block);
		for (size_t k = i; k < end; k++)
			medians[k] = median;
	}
}

double tp_stats_mad(const double *x, size_t n, double center)
{
	double *distance = tp_alloc((n + 1) * sizeof(*distance));
	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(x[i] - center);
	double mad = tp_stats_median(distance, n);
	free(distance);
	return mad;
}

static double sum_of(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* Returns the autocorrelation at a lag, times n times the variance, of a series whose mean is
 * `mean`. */
static double lagged_sum(const double *x, size_t n, double mean, size_t lag)
{
	double sum = 0;
	for (size_t i = lag; i < n; i++)
		sum += (x[i] - mean) * (x[i - lag] - mean);
	return sum;
}

double tp_stats_effective_n(const double *x, size_t n)
{
	if (n < 2)
		return (double)n;
	double mean = sum_of(x, n) / (double)n;
	double variance = lagged_sum(x, n, mean, 0);
	if (variance <= 0 || variance < 1e-18 * mean * mean * (double)n)
		return (double)n;
	size_t max_lag = n / 2 < MAX_LAG ? n / 2 : MAX_LAG;
	double rho = 0;
	/* Sums of adjacent pairs are positive in theory; the first one that is not is noise. */
	for (size_t lag = 1; lag + 1 <= max_lag; lag += 2) {
		double pair = lagged_sum(x, n, mean, lag) + lagged_sum(x, n, mean, lag + 1);
		if (pair <= 0)
			break;
		rho += pair / variance;
	}
	double effective = (double)n / (1 + 2 * rho);
	return effective < 1 ? 1 : effective;
}

/* With n < 10 nothing is better than the measured range. */
static void range_only(const double *x, const double *w, size_t n, struct tp_estimate *out)
{
	out->is_few = true;
	out->low = INFINITY;
	out->high = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		double value = w[i] > 0 ? x[i] / w[i] : 0;
		out->low = fmin(out->low, value);
		out->high = fmax(out->high, value);
	}
}

/* Ratio of sums with its batch-means interval. All n steps are in a batch; batch lengths differ by
 * at most one step. */
static void ratio_of_sums(const double *x, const double *w, size_t n, struct tp_estimate *out)
{
	*out = (struct tp_estimate){.n = n};
	double total = sum_of(w, n);
	if (!n || total <= 0)
		return;
	double p = sum_of(x, n) / total;
	out->value = p;
	double *residual = tp_alloc(n * sizeof(*residual));
	for (size_t i = 0; i < n; i++)
		residual[i] = x[i] - p * w[i];
	out->effective_n = tp_stats_effective_n(residual, n);
	if (n < TP_INTERVAL_VALUES_MIN) {
		range_only(x, w, n, out);
	} else {
		size_t m = BATCHES;
		if (n / 2 < BATCHES)
			m = n / 2 > MIN_BATCHES ? n / 2 : MIN_BATCHES;
		double squares = 0;
		for (size_t j = 0; j < m; j++) {
			size_t from = j * n / m;
			double r = sum_of(residual + from, (j + 1) * n / m - from);
			squares += r * r;
		}
		double batches = (double)m;
		double error = sqrt(squares / (batches * (batches - 1))) / (total / batches);
		out->n_batches = m;
		out->low = p - tp_stats_t975(m - 1) * error;
		out->high = p + tp_stats_t975(m - 1) * error;
		out->is_drifting = out->effective_n < (double)TP_INTERVAL_VALUES_MIN;
	}
	free(residual);
}

void tp_stats_ratio(const double *x, const double *w, size_t n, struct tp_estimate *out)
{
	ratio_of_sums(x, w, n, out);
	out->low = fmax(0, fmin(1, out->low));
	out->high = fmax(0, fmin(1, out->high));
}

/* Variance of a ratio of sums over groups of unequal size, by linear expansion (Cochran, Sampling
 * Techniques, 1977, 6.3). */
void tp_stats_ratio_groups(const double *x, const double *w, const size_t *group, size_t n,
			   struct tp_estimate *out)
{
	*out = (struct tp_estimate){.n = n, .high = 1};
	double total = sum_of(w, n);
	if (!n || total <= 0)
		return;
	out->value = sum_of(x, n) / total;
	double squares = 0;
	double residual = 0;
	for (size_t i = 0; i < n; i++) {
		residual += x[i] - out->value * w[i];
		if (i + 1 < n && group[i + 1] == group[i])
			continue;
		squares += residual * residual;
		residual = 0;
		out->n_batches++;
	}
	out->effective_n = (double)out->n_batches;
	if (out->n_batches < 2)
		return;
	double groups = (double)out->n_batches;
	double half =
		tp_stats_t975(out->n_batches - 1) * sqrt(squares * groups / (groups - 1)) / total;
	out->low = fmax(0, out->value - half);
	out->high = fmin(1, out->value + half);
}

void tp_stats_mean(const double *x, size_t n, struct tp_estimate *out)
{
	double *ones = tp_alloc((n + 1) * sizeof(*ones));
	for (size_t i = 0; i < n; i++)
		ones[i] = 1;
	ratio_of_sums(x, ones, n, out);
	free(ones);
}

/* Woodruff's interval: the share of values not above the median is a mean, so it has a batch-means
 * interval; the quantiles at the ends of that interval bracket the median. */
static void median_interval(const double *x, const double *sorted, size_t n, struct tp_stat *out)
{
	if (n < TP_INTERVAL_VALUES_MIN) {
		out->median_low = out->min;
		out->median_high = out->max;
		return;
	}
	double *below = tp_alloc(n * sizeof(*below));
	for (size_t i = 0; i < n; i++)
		below[i] = x[i] < out->median ? 1 : x[i] > out->median ? 0 : 0.5;
	struct tp_estimate share;
	tp_stats_mean(below, n, &share);
	free(below);
	double half = share.high - share.value;
	/* Add half a rank on each side, since a quantile lies between two values. */
	half += 0.5 / (double)n;
	out->median_low = tp_stats_quantile(sorted, n, 0.5 - half);
	out->median_high = tp_stats_quantile(sorted, n, 0.5 + half);
}

void tp_stats_describe(const double *x, size_t n, struct tp_stat *out)
{
	*out = (struct tp_stat){.n = n};
	if (!n)
		return;
	double *sorted = sorted_copy(x, n);
	out->mean = sum_of(x, n) / (double)n;
	out->min = sorted[0];
	out->max = sorted[n - 1];
	out->median = tp_stats_quantile(sorted, n, 0.5);
	out->p05 = tp_stats_quantile(sorted, n, 0.05);
	out->p95 = tp_stats_quantile(sorted, n, 0.95);
	out->p99 = tp_stats_quantile(sorted, n, 0.99);
	out->mad = tp_stats_mad(x, n, out->median);
	median_interval(x, sorted, n, out);
	free(sorted);
}

size_t tp_stats_mser5(const double *x, size_t n)
{
	size_t batches = n / MSER_BATCH;
	if (batches < 4)
		return 0;
	double best = INFINITY;
	size_t best_start = 0;
	double sum = 0;
	double squares = 0;
	/* From the end, so that each truncation adds one batch to the running sums. */
	for (size_t i = batches; i-- > 0;) {
		double y = sum_of(x + i * MSER_BATCH, MSER_BATCH) / MSER_BATCH;
		sum += y;
		squares += y * y;
		double left = (double)(batches - i);
		double score = (squares - sum * sum / left) / (left * left);
		if (i <= batches / 2 && score <= best) {
			best = score;
			best_start = i;
		}
	}
	return best_start * MSER_BATCH;
}

/* ---- level shifts ----------------------------------------------------------- */

struct level_search {
	const double *x;
	const double *sums;    /* prefix sums */
	const double *squares; /* prefix sums of squares */
	size_t min_length;
	double min_shift;
	size_t *starts;
	size_t n_levels;
	size_t capacity;
};

/* Returns the difference of means divided by its standard error, for a split of [from, to) before
 * `at`. */
static double split_t(const struct level_search *search, size_t from, size_t at, size_t to,
		      double *shift)
{
	double n1 = (double)(at - from);
	double n2 = (double)(to - at);
	double s1 = search->sums[at] - search->sums[from];
	double s2 = search->sums[to] - search->sums[at];
	double within = search->squares[to] - search->squares[from] - s1 * s1 / n1 - s2 * s2 / n2;
	*shift = fabs(s1 / n1 - s2 / n2);
	/* Prevents that rounding turns a perfect fit into a negative variance. */
	double variance = fmax(within, 1e-12) / (n1 + n2 - 2);
	return *shift / sqrt(variance * (1 / n1 + 1 / n2));
}

/* Returns t for the effective number of independent values on both sides. */
static double corrected_t(const struct level_search *search, size_t from, size_t at, size_t to,
			  double t)
{
	size_t n = to - from;
	double *residual = tp_alloc(n * sizeof(*residual));
	double m1 = (search->sums[at] - search->sums[from]) / (double)(at - from);
	double m2 = (search->sums[to] - search->sums[at]) / (double)(to - at);
	for (size_t i = from; i < to; i++)
		residual[i - from] = search->x[i] - (i < at ? m1 : m2);
	double share = tp_stats_effective_n(residual, n) / (double)n;
	free(residual);
	return t * sqrt(share);
}

/* Splits [from, to) recursively. Keeps a split only if the two adjacent levels alone differ,
 * because more distant values may belong to other levels and would look like correlation. Returns
 * the end of the first level and the start of the last one in `first_end` and `last_start`. */
static void split_levels(struct level_search *search, size_t from, size_t to, size_t *first_end,
			 size_t *last_start)
{
	size_t best = 0;
	double best_t = 0;
	double shift;
	for (size_t at = from + search->min_length; at + search->min_length <= to; at++) {
		double t = split_t(search, from, at, to, &shift);
		if (t > best_t) {
			best_t = t;
			best = at;
		}
	}
	*first_end = to;
	*last_start = from;
	if (best_t < TP_SHIFT_T_MIN)
		return;
	size_t left_start;
	size_t right_end;
	size_t before = search->n_levels;
	split_levels(search, from, best, first_end, &left_start);
	size_t between = search->n_levels;
	split_levels(search, best, to, &right_end, last_start);
	double t = split_t(search, left_start, best, right_end, &shift);
	t = corrected_t(search, left_start, best, right_end, t);
	if (shift >= search->min_shift && t >= TP_SHIFT_T_MIN &&
	    search->n_levels < search->capacity) {
		memmove(search->starts + between + 1, search->starts + between,
			(search->n_levels - between) * sizeof(*search->starts));
		search->starts[between] = best;
		search->n_levels++;
		return;
	}
	if (between == before)
		*first_end = right_end;
	if (search->n_levels == between)
		*last_start = left_start;
}

size_t tp_stats_levels(const double *x, size_t n, size_t min_length, double min_shift,
		       size_t *starts, size_t capacity)
{
	if (!n || !capacity)
		return 0;
	double *sums = tp_alloc((n + 1) * sizeof(*sums));
	double *squares = tp_alloc((n + 1) * sizeof(*squares));
	/* Subtract the first value: squares of large numbers would lose significant digits. */
	for (size_t i = 0; i < n; i++) {
		sums[i + 1] = sums[i] + (x[i] - x[0]);
		squares[i + 1] = squares[i] + (x[i] - x[0]) * (x[i] - x[0]);
	}
	double *centered = tp_alloc(n * sizeof(*centered));
	for (size_t i = 0; i < n; i++)
		centered[i] = x[i] - x[0];
	struct level_search search = {.x = centered,
				      .sums = sums,
				      .squares = squares,
				      .min_length = min_length < 2 ? 2 : min_length,
				      .min_shift = min_shift,
				      .starts = starts,
				      .n_levels = 1,
				      .capacity = capacity};
	starts[0] = 0;
	size_t first_end;
	size_t last_start;
	split_levels(&search, 0, n, &first_end, &last_start);
	free(sums);
	free(squares);
	free(centered);
	return search.n_levels;
}
