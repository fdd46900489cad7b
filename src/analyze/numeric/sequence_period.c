/* SPDX-License-Identifier: Apache-2.0 */
/* Scores lags at which a sequence of names repeats. */
#include "sequence_period.h"

#include "analyze/thresholds.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_CANDIDATES = 400,
	PROBES = 4096,               /* number of places compared before a lag is scored */
	WEIGHT_PER_SYMBOL = 1 << 20, /* total votes per symbol, however often it occurs */
	MAX_BACK = 8,
	MAX_COUNTED = 200000,
};

struct period_candidate {
	size_t lag;
	uint64_t n_votes;
};

static int compare_weight(const void *a, const void *b)
{
	const struct period_candidate *x = a;
	const struct period_candidate *y = b;
	if (x->n_votes != y->n_votes)
		return x->n_votes > y->n_votes ? -1 : 1;
	return (x->lag > y->lag) - (x->lag < y->lag);
}

static int compare_lag(const void *a, const void *b)
{
	size_t x = ((const struct period_candidate *)a)->lag;
	size_t y = ((const struct period_candidate *)b)->lag;
	return (x > y) - (x < y);
}

static size_t *count_symbols(const uint32_t *symbols, size_t n, size_t n_symbols)
{
	size_t *counts = tp_alloc((n_symbols + 1) * sizeof(*counts));
	for (size_t i = 0; i < n; i++)
		counts[symbols[i]]++;
	return counts;
}

/* The last MAX_BACK places of a symbol, a ring buffer; n counts all places so far. */
struct last_places {
	size_t places[MAX_BACK];
	size_t n;
};

static void count_lags(struct tp_map *votes, const struct last_places *last_places, size_t place,
		       size_t n, uint64_t weight)
{
	for (size_t i = 0; i < last_places->n && i < MAX_BACK; i++) {
		size_t lag = place - last_places->places[(last_places->n - 1 - i) % MAX_BACK];
		uint64_t n_votes = 0;
		if (lag > n / 2)
			break;
		(void)tp_map_get(votes, lag, &n_votes);
		tp_map_set(votes, lag, n_votes + weight);
	}
}

/* Candidates are the distances to the previous occurrences of the same symbol: for a symbol that
 * occurs k times per period, the k-th distance is the period. All symbols have the same total of
 * votes, so that one that occurs once per step counts as much as one that occurs a thousand
 * times. */
static struct period_candidate *find_candidates(const uint32_t *symbols, size_t n, size_t n_symbols,
						const size_t *counts, size_t *n_out)
{
	struct last_places *last_places = tp_alloc((n_symbols + 1) * sizeof(*last_places));
	struct tp_map votes = {0};
	size_t n_looked = n < MAX_COUNTED ? n : MAX_COUNTED;
	for (size_t i = 0; i < n_looked; i++) {
		struct last_places *seen = &last_places[symbols[i]];
		if (counts[symbols[i]] < 2)
			continue;
		count_lags(&votes, seen, i, n, WEIGHT_PER_SYMBOL / (counts[symbols[i]] - 1) + 1);
		seen->places[seen->n++ % MAX_BACK] = i;
	}
	struct period_candidate *list = tp_alloc((votes.n + 1) * sizeof(*list));
	size_t cursor = 0;
	uint64_t lag;
	uint64_t n_votes;
	*n_out = 0;
	while (tp_map_next(&votes, &cursor, &lag, &n_votes))
		list[(*n_out)++] = (struct period_candidate){lag, n_votes};
	tp_map_release(&votes);
	free(last_places);
	qsort(list, *n_out, sizeof(*list), compare_weight);
	if (*n_out > MAX_CANDIDATES)
		*n_out = MAX_CANDIDATES;
	qsort(list, *n_out, sizeof(*list), compare_lag);
	return list;
}

/* Scratch space for scoring, indexed by symbol. */
struct symbol_counts {
	uint32_t *n_seen;
	uint32_t *n_equal;
	size_t n_symbols;
};

/* Returns true if the lag is worth a score: most of some places in the middle equal the one a lag
 * later. */
static bool probe_lag(const uint32_t *symbols, size_t n, size_t lag)
{
	size_t n_places = n - lag < PROBES ? n - lag : PROBES;
	size_t from = (n - lag - n_places) / 2;
	size_t n_equal = 0;
	for (size_t i = from; i < from + n_places; i++)
		n_equal += symbols[i] == symbols[i + lag];
	return (double)n_equal >= TP_PERIOD_LOOK_MIN * (double)n_places;
}

static void score(struct tp_period *out, const uint32_t *symbols, size_t n, size_t lag,
		  struct symbol_counts *symbol_counts)
{
	memset(symbol_counts->n_seen, 0, symbol_counts->n_symbols * sizeof(*symbol_counts->n_seen));
	memset(symbol_counts->n_equal, 0,
	       symbol_counts->n_symbols * sizeof(*symbol_counts->n_equal));
	size_t n_equal = 0;
	for (size_t i = 0; i + lag < n; i++) {
		bool is_equal = symbols[i] == symbols[i + lag];
		symbol_counts->n_seen[symbols[i]]++;
		symbol_counts->n_equal[symbols[i]] += is_equal;
		n_equal += is_equal;
	}
	size_t n_distinct = 0;
	double sum = 0;
	for (size_t i = 0; i < symbol_counts->n_symbols; i++) {
		if (!symbol_counts->n_seen[i])
			continue;
		n_distinct++;
		sum += (double)symbol_counts->n_equal[i] / symbol_counts->n_seen[i];
	}
	out->lag = lag;
	out->plain = (double)n_equal / (double)(n - lag);
	out->rare = n_distinct ? sum / (double)n_distinct : 0;
}

/* Returns how irregular the times between occurrences are: relative mean deviation from the
 * mean. */
static double time_spread(const uint32_t *symbols, const uint64_t *times_ns, size_t n,
			  uint32_t symbol, size_t count)
{
	uint64_t first = 0;
	uint64_t last = 0;
	size_t met = 0;
	for (size_t i = 0; i < n; i++) {
		if (symbols[i] != symbol)
			continue;
		first = met++ ? first : times_ns[i];
		last = times_ns[i];
	}
	double mean = (double)(last - first) / (double)(count - 1);
	double sum = 0;
	uint64_t before = first;
	for (size_t i = 0, k = 0; i < n && mean > 0; i++) {
		if (symbols[i] != symbol)
			continue;
		double distance = (double)(times_ns[i] - before) - mean;
		sum += k++ ? (distance < 0 ? -distance : distance) : 0;
		before = times_ns[i];
	}
	return mean > 0 ? sum / mean / (double)(count - 1) : 1;
}

/* Chooses the most regular symbol of those that occur once per period; without any, the rarest
 * one. */
static void choose_cut(struct tp_period *out, const uint32_t *symbols, const uint64_t *times_ns,
		       size_t n, size_t n_symbols, const size_t *counts)
{
	enum { MAX_TRIED = 64 };
	size_t n_periods = n / out->lag;
	size_t rarest = SIZE_MAX;
	size_t n_tried = 0;
	double best = 2;
	for (uint32_t symbol = 0; symbol < n_symbols && n_tried < MAX_TRIED; symbol++) {
		size_t count = counts[symbol];
		if (count < n_periods || count < 2)
			continue;
		size_t rounded = count > n_periods + 1 ? count : n_periods;
		if (rounded > rarest)
			continue;
		double now = time_spread(symbols, times_ns, n, symbol, count);
		n_tried++;
		if (rounded < rarest || now < best) {
			rarest = rounded;
			best = now;
			out->cut = symbol;
		}
	}
	out->first = 0;
	while (out->first < n && symbols[out->first] != out->cut)
		out->first++;
}

bool tp_period_find(struct tp_period *out, const uint32_t *symbols, const uint64_t *times_ns,
		    size_t n, size_t n_symbols, size_t at_least)
{
	*out = (struct tp_period){0};
	if (n < 2)
		return false;
	size_t *counts = count_symbols(symbols, n, n_symbols);
	size_t n_candidates;
	struct period_candidate *candidates =
		find_candidates(symbols, n, n_symbols, counts, &n_candidates);
	struct symbol_counts symbol_counts = {.n_symbols = n_symbols};
	symbol_counts.n_seen = tp_alloc((n_symbols + 1) * sizeof(*symbol_counts.n_seen));
	symbol_counts.n_equal = tp_alloc((n_symbols + 1) * sizeof(*symbol_counts.n_equal));
	bool is_found = false;
	for (size_t i = 0; i < n_candidates && !is_found; i++) {
		if (candidates[i].lag < at_least || !probe_lag(symbols, n, candidates[i].lag))
			continue;
		score(out, symbols, n, candidates[i].lag, &symbol_counts);
		is_found = out->plain >= TP_PERIOD_SCORE_MIN && out->rare >= TP_PERIOD_SCORE_MIN;
	}
	if (is_found)
		choose_cut(out, symbols, times_ns, n, n_symbols, counts);
	else
		*out = (struct tp_period){0};
	free(symbol_counts.n_seen);
	free(symbol_counts.n_equal);
	free(candidates);
	free(counts);
	return is_found;
}
