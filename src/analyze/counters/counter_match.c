/* SPDX-License-Identifier: Apache-2.0 */
/* Compares counters by their numbers: an argument of a function that the loop calls has the number
 * of the round, but only while the function runs. */
#include "counter_match.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

static int difference_order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Returns how many of the sorted differences are the most frequent one or the next higher: of two
 * numbers that change together one is read first. */
static size_t n_common(const int64_t *differences, size_t n)
{
	size_t most = 0;
	for (size_t first = 0, end = 0; first < n; first++) {
		while (end < n && differences[end] <= differences[first] + 1)
			end++;
		most = end - first > most ? end - first : most;
	}
	return most;
}

bool tp_counter_series_match(const struct tp_counter_series *a, const struct tp_counter_series *b)
{
	const struct tp_counter_series *sparse = a->n < b->n ? a : b;
	const struct tp_counter_series *dense = a->n < b->n ? b : a;
	int64_t *differences = tp_alloc((sparse->n + 1) * sizeof(*differences));
	size_t n = 0;
	size_t next = 0;
	for (size_t i = 0; i < sparse->n; i++) {
		while (next < dense->n &&
		       dense->readings[next].mark_ns <= sparse->readings[i].mark_ns)
			next++;
		if (next > 0)
			differences[n++] = (int64_t)dense->readings[next - 1].value -
					   (int64_t)sparse->readings[i].value;
	}
	if (n)
		qsort(differences, n, sizeof(*differences), difference_order);
	bool agree = n > TP_LOOP_ROUNDS_MIN &&
		     (double)n_common(differences, n) >= TP_COUNTER_MATCH_MIN * (double)n;
	free(differences);
	return agree;
}
