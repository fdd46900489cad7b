/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the order in which callees take turns, and counts how often this order restarts. */
#include "callee_order.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { NO_CALLEE = TP_MAX_CALLEES };

struct callee_order {
	const struct tp_loop_level *level;
	const struct tp_call_tree *tree;
	uint32_t waiter; /* the marker, if it mostly waits: then it may be missing from rounds
			    without a wait */
	bool takes[TP_MAX_CALLEES];
	uint32_t rank[TP_MAX_CALLEES]; /* position in the order, for callees that take turns */
	size_t follows[TP_MAX_CALLEES + 1][TP_MAX_CALLEES]; /* [a][b]: how often b followed a */
};

static uint32_t callee_at(const struct callee_order *callee_order, size_t sighting)
{
	uint32_t node = callee_order->tree->sightings[sighting].node;
	for (uint32_t i = 0; i < callee_order->level->n_callees; i++)
		if ((callee_order->takes[i] || i == callee_order->waiter) &&
		    tp_call_tree_is_within(callee_order->tree, node,
					   callee_order->level->callees[i].node))
			return i;
	return NO_CALLEE;
}

/* Finds the callees that take turns: all that return at least every other round. */
static size_t find_members(struct callee_order *callee_order)
{
	const struct tp_loop_level *level = callee_order->level;
	const struct tp_callee *marker = &level->callees[level->marker];
	size_t n = 0;
	callee_order->waiter = tp_call_tree_waits_most_times(callee_order->tree, marker->node)
				       ? level->marker
				       : NO_CALLEE;
	for (uint32_t i = 0; i < level->n_callees; i++) {
		const struct tp_callee *callee = &level->callees[i];
		callee_order->takes[i] = i != callee_order->waiter && !callee->is_special &&
					 callee->n >= TP_MIN_INTERVALS &&
					 callee->n * 2 >= marker->n;
		n += callee_order->takes[i];
	}
	return n;
}

static void count_next(struct callee_order *callee_order)
{
	uint32_t last = NO_CALLEE;        /* last callee that takes turns */
	uint32_t last_of_all = NO_CALLEE; /* last callee that takes turns or waits */
	for (size_t i = 0; i < callee_order->tree->n_sightings; i++) {
		uint32_t at = callee_at(callee_order, i);
		if (at == NO_CALLEE)
			continue;
		if (at != callee_order->waiter) {
			if (last != NO_CALLEE && at != last)
				callee_order->follows[last][at]++;
			if (last_of_all == callee_order->waiter)
				callee_order->follows[NO_CALLEE][at]++;
			last = at;
		}
		last_of_all = at;
	}
}

/* Returns the callee that usually follows; NO_CALLEE if none of them usually does. */
static uint32_t common_next(const struct callee_order *callee_order, uint32_t of)
{
	size_t all = 0;
	uint32_t best = 0;
	for (uint32_t i = 0; i < callee_order->level->n_callees; i++) {
		all += callee_order->follows[of][i];
		if (callee_order->follows[of][i] > callee_order->follows[of][best])
			best = i;
	}
	return all && (double)callee_order->follows[of][best] >= TP_TURN_FOLLOWED_MIN * (double)all
		       ? best
		       : NO_CALLEE;
}

/* Finds a cycle of all callees. It begins with the marker, or with the callee that follows its
 * wait. */
static bool find_order(struct callee_order *callee_order, size_t n_takers)
{
	uint32_t first = callee_order->waiter == NO_CALLEE ? callee_order->level->marker
							   : common_next(callee_order, NO_CALLEE);
	uint32_t at = first;
	for (uint32_t rank = 0; rank < n_takers; rank++) {
		if (at == NO_CALLEE || (rank && at == first))
			return false;
		callee_order->rank[at] = rank;
		at = common_next(callee_order, at);
	}
	return at == first;
}

struct round {
	uint64_t start_ns;
	uint64_t end_ns;
	size_t first;   /* index of its first hit */
	uint32_t piece; /* segment of that hit */
	size_t n_turns; /* number of callees that had a turn */
	double work_ns; /* CPU time until the next round */
};

struct order_rounds {
	struct round *items; /* heap */
	size_t n;
	size_t capacity;
};

static void start_round(struct order_rounds *rounds, const struct callee_order *callee_order,
			size_t sighting)
{
	const struct tp_call_hit *s = &callee_order->tree->sightings[sighting];
	TP_ARRAY_PUSH(rounds->items, rounds->n, rounds->capacity) =
		(struct round){.start_ns = s->start_ns, .first = sighting, .piece = s->piece};
}

static void collect_rounds(struct order_rounds *rounds, const struct callee_order *callee_order)
{
	uint32_t last = NO_CALLEE;
	for (size_t i = 0; i < callee_order->tree->n_sightings; i++) {
		uint32_t at = callee_at(callee_order, i);
		if (at == NO_CALLEE)
			continue;
		bool is_wait = at == callee_order->waiter;
		bool had_turn = last != NO_CALLEE && last != callee_order->waiter;
		if (!rounds->n ||
		    (had_turn && (is_wait || callee_order->rank[at] < callee_order->rank[last])))
			start_round(rounds, callee_order, i);
		struct round *round = &rounds->items[rounds->n - 1];
		round->n_turns += !is_wait && (at != last || round->n_turns == 0);
		round->end_ns = callee_order->tree->sightings[i].end_ns;
		last = at;
	}
}

static double median_work_ns(const struct order_rounds *rounds)
{
	double *work = tp_alloc((rounds->n + 1) * sizeof(*work));
	for (size_t i = 0; i + 1 < rounds->n; i++)
		work[i] = rounds->items[i].work_ns;
	double median = tp_stats_median(work, rounds->n - 1);
	free(work);
	return median;
}

/* A single call out of turn splits a round in two: one of them lacks a callee, and both together do
 * the work of one. */
static void join_split_rounds(struct order_rounds *rounds, size_t n_takers)
{
	double usual_ns = median_work_ns(rounds);
	size_t kept = 0;
	for (size_t i = 1; i < rounds->n; i++) {
		struct round *before = &rounds->items[kept];
		const struct round *round = &rounds->items[i];
		bool is_part = before->n_turns < n_takers || round->n_turns < n_takers;
		double both_ns = before->work_ns + round->work_ns;
		if (is_part && i + 1 < rounds->n &&
		    fabs(both_ns - usual_ns) <= TP_TURN_WORK_APART_MAX * usual_ns) {
			before->work_ns = both_ns;
			before->end_ns = round->end_ns;
			before->n_turns = n_takers;
		} else {
			rounds->items[++kept] = *round;
		}
	}
	rounds->n = kept + 1;
}

static struct tp_callee_interval *intervals_of(const struct order_rounds *rounds)
{
	struct tp_callee_interval *stays = tp_alloc(rounds->n * sizeof(*stays));
	for (size_t i = 0; i < rounds->n; i++) {
		const struct round *round = &rounds->items[i];
		stays[i] = (struct tp_callee_interval){.start_ns = round->start_ns,
						       .end_ns = round->end_ns,
						       .gap_work = i ? round[-1].work_ns : 0,
						       .first = round->first,
						       .piece = round->piece};
	}
	return stays;
}

bool tp_callee_order_find(struct tp_callee *out, const struct tp_loop_level *level,
			  const struct tp_call_tree *tree)
{
	struct callee_order callee_order = {.level = level, .tree = tree};
	size_t n_takers = find_members(&callee_order);
	if (n_takers < 2)
		return false;
	count_next(&callee_order);
	if (!find_order(&callee_order, n_takers))
		return false;
	struct order_rounds rounds = {0};
	collect_rounds(&rounds, &callee_order);
	if (!rounds.items)
		return false;
	/* Compare rounds by their work, which does not depend on how long they wait. */
	for (size_t i = 0; i + 1 < rounds.n; i++)
		rounds.items[i].work_ns = tp_call_tree_work_ns(tree, rounds.items[i].piece,
							       rounds.items[i + 1].piece);
	join_split_rounds(&rounds, n_takers);
	struct tp_callee found;
	tp_callee_init_rounds(&found, level->callees[level->marker].node, intervals_of(&rounds),
			      rounds.n);
	free(rounds.items);
	if (found.n < TP_MIN_INTERVALS || found.regularity < TP_TURN_ALIKE_MIN ||
	    found.missed > TP_TURN_TOGETHER_MAX) {
		tp_callee_release(&found);
		return false;
	}
	*out = found;
	return true;
}
