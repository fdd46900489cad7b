/* SPDX-License-Identifier: Apache-2.0 */
#include "counter_stride.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Returns the growths between readings, sorted; heap. */
static uint64_t *sorted_growths(const struct tp_counter_series *series, size_t *n)
{
	uint64_t *growths = tp_alloc((series->n + 1) * sizeof(*growths));
	*n = 0;
	for (size_t i = 1; i < series->n; i++)
		if (series->readings[i].value > series->readings[i - 1].value)
			growths[(*n)++] = series->readings[i].value - series->readings[i - 1].value;
	qsort(growths, *n, sizeof(*growths), compare);
	return growths;
}

/* Returns the most frequent number other than `except`; 0 = there is none. */
static uint64_t most_frequent(const uint64_t *sorted, size_t n, uint64_t except)
{
	uint64_t best = 0;
	size_t n_best = 0;
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && sorted[end] == sorted[first];)
			end++;
		if (sorted[first] == except || end - first <= n_best)
			continue;
		best = sorted[first];
		n_best = end - first;
	}
	return best;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static bool are_multiples(const uint64_t *growths, size_t n, uint64_t of)
{
	size_t n_multiples = 0;
	for (size_t i = 0; i < n; i++)
		n_multiples += growths[i] % of == 0;
	return (double)n_multiples >= (1 - TP_COUNTER_ODD_MAX) * (double)n;
}

/* Returns true if most values were read more than once: a round is longer than the time between two
 * readings. */
static bool are_rounds_long(const struct tp_counter_series *series)
{
	size_t n = 0;
	for (size_t i = 0; i < series->n; i++)
		n += series->readings[i].seen_ns > series->readings[i].time_ns;
	return 2 * n > series->n;
}

/* Where rounds are longer than the time between readings, the most frequent growth is that of one
 * round; where they are shorter, two growths have it in common. There a small number may as well be
 * the number of rounds between two readings. */
static uint64_t find_stride(const struct tp_counter_series *series)
{
	size_t n;
	uint64_t stride = 1;
	uint64_t *growths = sorted_growths(series, &n);
	if (n >= TP_COUNTER_STEADY_READINGS) {
		uint64_t first = most_frequent(growths, n, 0);
		uint64_t second = most_frequent(growths, n, first);
		uint64_t common = greatest_common_divisor(first, second);
		bool is_large = common > TP_COUNTER_GROWTH_MAX;
		if (are_rounds_long(series) && are_multiples(growths, n, first))
			stride = first;
		else if (second && is_large && are_multiples(growths, n, common))
			stride = common;
	}
	free(growths);
	return stride;
}

void tp_counter_stride_divide(struct tp_counter_series *series)
{
	uint64_t stride = find_stride(series);
	if (stride == 1)
		return;
	struct tp_counter_reading *r = series->readings;
	uint64_t rest = r[0].value % stride;
	uint64_t before = 0; /* not divided */
	bool is_smaller = false;
	for (size_t i = 0; i < series->n; i++) {
		uint64_t value = r[i].value;
		if (i > 0 && value > before) {
			/* It went on after a smaller batch, or several in one growth. */
			series->n_unknown += is_smaller;
			r[i].value = r[i - 1].value + (value - before - 1) / stride + 1;
			is_smaller = (value - before) % stride != 0;
		} else if (i == 0 || value < before) {
			r[i].value = value > rest ? (value - rest - 1) / stride + 1 : 0;
			is_smaller = false;
		} else {
			r[i].value = r[i - 1].value;
		}
		before = value;
	}
}
