/* Scores lags at which a sequence of names repeats. */
#include "sequence_period.h"

#include "analyze/thresholds.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	CANDIDATES_MOST = 400,
	LOOK = 4096,     /* places that are looked at before a lag is scored */
	VOTES = 1 << 20, /* of one symbol, whatever it counts */
	BACK_MOST = 8,
	VOTERS_MOST = 200000,
};

struct candidate {
	size_t lag;
	uint64_t n_votes;
};

static int by_votes(const void *a, const void *b)
{
	const struct candidate *x = a;
	const struct candidate *y = b;
	if (x->n_votes != y->n_votes)
		return x->n_votes > y->n_votes ? -1 : 1;
	return (x->lag > y->lag) - (x->lag < y->lag);
}

static int by_lag(const void *a, const void *b)
{
	size_t x = ((const struct candidate *)a)->lag;
	size_t y = ((const struct candidate *)b)->lag;
	return (x > y) - (x < y);
}

static size_t *count_symbols(const uint32_t *symbols, size_t n, size_t n_symbols)
{
	size_t *counts = tp_alloc((n_symbols + 1) * sizeof(*counts));
	for (size_t i = 0; i < n; i++)
		counts[symbols[i]]++;
	return counts;
}

/* Where a symbol was met last, and before; plus one. */
struct sights {
	size_t places[BACK_MOST];
	size_t n;
};

static void vote(struct tp_map *votes, const struct sights *sights, size_t place, size_t n,
		 uint64_t weight)
{
	for (size_t i = 0; i < sights->n && i < BACK_MOST; i++) {
		size_t lag = place - sights->places[(sights->n - 1 - i) % BACK_MOST];
		uint64_t n_votes = 0;
		if (lag > n / 2)
			break;
		(void)tp_map_get(votes, lag, &n_votes);
		tp_map_set(votes, lag, n_votes + weight);
	}
}

/* Distances to the last occurrences of the same symbol: of one that comes k times in a period the
 * k-th is the period. All symbols have the same number of votes, so that what comes once in a step
 * says as much as what comes a thousand times. */
static struct candidate *find_candidates(const uint32_t *symbols, size_t n, size_t n_symbols,
					 const size_t *counts, size_t *n_out)
{
	struct sights *sights = tp_alloc((n_symbols + 1) * sizeof(*sights));
	struct tp_map votes = {0};
	size_t n_looked = n < VOTERS_MOST ? n : VOTERS_MOST;
	for (size_t i = 0; i < n_looked; i++) {
		struct sights *seen = &sights[symbols[i]];
		if (counts[symbols[i]] < 2)
			continue;
		vote(&votes, seen, i, n, VOTES / (counts[symbols[i]] - 1) + 1);
		seen->places[seen->n++ % BACK_MOST] = i;
	}
	struct candidate *list = tp_alloc((votes.n + 1) * sizeof(*list));
	size_t cursor = 0;
	uint64_t lag;
	uint64_t n_votes;
	*n_out = 0;
	while (tp_map_next(&votes, &cursor, &lag, &n_votes))
		list[(*n_out)++] = (struct candidate){lag, n_votes};
	tp_map_release(&votes);
	free(sights);
	qsort(list, *n_out, sizeof(*list), by_votes);
	if (*n_out > CANDIDATES_MOST)
		*n_out = CANDIDATES_MOST;
	qsort(list, *n_out, sizeof(*list), by_lag);
	return list;
}

/* Room for scoring, by symbol. */
struct tally {
	uint32_t *n_seen;
	uint32_t *n_equal;
	size_t n_symbols;
};

/* Whether the lag is worth a score: of some places in the middle most equal the one a lag later. */
static bool looks_right(const uint32_t *symbols, size_t n, size_t lag)
{
	size_t n_places = n - lag < LOOK ? n - lag : LOOK;
	size_t from = (n - lag - n_places) / 2;
	size_t n_equal = 0;
	for (size_t i = from; i < from + n_places; i++)
		n_equal += symbols[i] == symbols[i + lag];
	return (double)n_equal >= TP_PERIOD_LOOK_LEAST * (double)n_places;
}

static void score(struct tp_period *out, const uint32_t *symbols, size_t n, size_t lag,
		  struct tally *tally)
{
	memset(tally->n_seen, 0, tally->n_symbols * sizeof(*tally->n_seen));
	memset(tally->n_equal, 0, tally->n_symbols * sizeof(*tally->n_equal));
	size_t n_equal = 0;
	for (size_t i = 0; i + lag < n; i++) {
		bool is_equal = symbols[i] == symbols[i + lag];
		tally->n_seen[symbols[i]]++;
		tally->n_equal[symbols[i]] += is_equal;
		n_equal += is_equal;
	}
	size_t n_distinct = 0;
	double sum = 0;
	for (size_t i = 0; i < tally->n_symbols; i++) {
		if (!tally->n_seen[i])
			continue;
		n_distinct++;
		sum += (double)tally->n_equal[i] / tally->n_seen[i];
	}
	out->lag = lag;
	out->plain = (double)n_equal / (double)(n - lag);
	out->rare = n_distinct ? sum / (double)n_distinct : 0;
}

/* How irregular the times between occurrences are: relative mean distance from their mean. */
static double irregularity(const uint32_t *symbols, const uint64_t *times_ns, size_t n,
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

/* Of the symbols that come once in a period the most regular one; without any, the rarest. */
static void choose_cut(struct tp_period *out, const uint32_t *symbols, const uint64_t *times_ns,
		       size_t n, size_t n_symbols, const size_t *counts)
{
	enum { TRIED_MOST = 64 };
	size_t n_periods = n / out->lag;
	size_t rarest = SIZE_MAX;
	size_t n_tried = 0;
	double best = 2;
	for (uint32_t symbol = 0; symbol < n_symbols && n_tried < TRIED_MOST; symbol++) {
		size_t count = counts[symbol];
		if (count < n_periods || count < 2)
			continue;
		size_t rounded = count > n_periods + 1 ? count : n_periods;
		if (rounded > rarest)
			continue;
		double now = irregularity(symbols, times_ns, n, symbol, count);
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
	struct candidate *candidates =
		find_candidates(symbols, n, n_symbols, counts, &n_candidates);
	struct tally tally = {.n_symbols = n_symbols};
	tally.n_seen = tp_alloc((n_symbols + 1) * sizeof(*tally.n_seen));
	tally.n_equal = tp_alloc((n_symbols + 1) * sizeof(*tally.n_equal));
	bool is_found = false;
	for (size_t i = 0; i < n_candidates && !is_found; i++) {
		if (candidates[i].lag < at_least || !looks_right(symbols, n, candidates[i].lag))
			continue;
		score(out, symbols, n, candidates[i].lag, &tally);
		is_found =
			out->plain >= TP_PERIOD_SCORE_LEAST && out->rare >= TP_PERIOD_SCORE_LEAST;
	}
	if (is_found)
		choose_cut(out, symbols, times_ns, n, n_symbols, counts);
	else
		*out = (struct tp_period){0};
	free(tally.n_seen);
	free(tally.n_equal);
	free(candidates);
	free(counts);
	return is_found;
}
