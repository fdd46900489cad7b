/* Finds the order in which callees take turns, and counts how often it begins anew. */
#include "callee_order.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { NOBODY = TP_MAX_CALLEES };

struct turns {
	const struct tp_level *level;
	const struct tp_calltree *tree;
	uint32_t waiter; /* the marker, where it mostly waits: unseen when there is no wait */
	bool takes[TP_MAX_CALLEES];
	uint32_t rank[TP_MAX_CALLEES];                      /* of those that take turns */
	size_t follows[TP_MAX_CALLEES + 1][TP_MAX_CALLEES]; /* [a][b]: how often b came after a */
};

static uint32_t callee_at(const struct turns *turns, size_t sighting)
{
	uint32_t node = turns->tree->sightings[sighting].node;
	for (uint32_t i = 0; i < turns->level->n_callees; i++)
		if ((turns->takes[i] || i == turns->waiter) &&
		    tp_calltree_is_below(turns->tree, node, turns->level->callees[i].node))
			return i;
	return NOBODY;
}

/* Who takes turns: all that come back at least every other round. */
static size_t find_takers(struct turns *turns)
{
	const struct tp_level *level = turns->level;
	const struct tp_callee *marker = &level->callees[level->marker];
	size_t n = 0;
	turns->waiter =
		tp_calltree_mostly_waits(turns->tree, marker->node) ? level->marker : NOBODY;
	for (uint32_t i = 0; i < level->n_callees; i++) {
		const struct tp_callee *callee = &level->callees[i];
		turns->takes[i] = i != turns->waiter && !callee->is_special &&
				  callee->n >= TP_MIN_STAYS && callee->n * 2 >= marker->n;
		n += turns->takes[i];
	}
	return n;
}

static void count_successors(struct turns *turns)
{
	uint32_t last = NOBODY;        /* that takes turns */
	uint32_t last_of_all = NOBODY; /* or waits */
	for (size_t i = 0; i < turns->tree->n_sightings; i++) {
		uint32_t at = callee_at(turns, i);
		if (at == NOBODY)
			continue;
		if (at != turns->waiter) {
			if (last != NOBODY && at != last)
				turns->follows[last][at]++;
			if (last_of_all == turns->waiter)
				turns->follows[NOBODY][at]++;
			last = at;
		}
		last_of_all = at;
	}
}

/* Who follows; NOBODY when that is not one of them as a rule. */
static uint32_t successor(const struct turns *turns, uint32_t of)
{
	size_t all = 0;
	uint32_t best = 0;
	for (uint32_t i = 0; i < turns->level->n_callees; i++) {
		all += turns->follows[of][i];
		if (turns->follows[of][i] > turns->follows[of][best])
			best = i;
	}
	return all && (double)turns->follows[of][best] >= TP_TURN_FOLLOWED_LEAST * (double)all
		       ? best
		       : NOBODY;
}

/* A ring that holds everyone, with the marker, or who comes after its wait, in front. */
static bool find_order(struct turns *turns, size_t n_takers)
{
	uint32_t first = turns->waiter == NOBODY ? turns->level->marker : successor(turns, NOBODY);
	uint32_t at = first;
	for (uint32_t rank = 0; rank < n_takers; rank++) {
		if (at == NOBODY || (rank && at == first))
			return false;
		turns->rank[at] = rank;
		at = successor(turns, at);
	}
	return at == first;
}

struct round {
	uint64_t start_ns;
	uint64_t end_ns;
	size_t first;   /* sighting */
	uint32_t piece; /* of that */
	size_t n_turns; /* those who had one */
	double work_ns; /* on a CPU, up to the next one */
};

struct rounds {
	struct round *items; /* heap */
	size_t n;
	size_t capacity;
};

static void begin_round(struct rounds *rounds, const struct turns *turns, size_t sighting)
{
	const struct tp_sighting *s = &turns->tree->sightings[sighting];
	TP_ARRAY_PUSH(rounds->items, rounds->n, rounds->capacity) =
		(struct round){.start_ns = s->start_ns, .first = sighting, .piece = s->piece};
}

static void collect_rounds(struct rounds *rounds, const struct turns *turns)
{
	uint32_t last = NOBODY;
	for (size_t i = 0; i < turns->tree->n_sightings; i++) {
		uint32_t at = callee_at(turns, i);
		if (at == NOBODY)
			continue;
		bool is_wait = at == turns->waiter;
		bool had_turn = last != NOBODY && last != turns->waiter;
		if (!rounds->n || (had_turn && (is_wait || turns->rank[at] < turns->rank[last])))
			begin_round(rounds, turns, i);
		struct round *round = &rounds->items[rounds->n - 1];
		round->n_turns += !is_wait && (at != last || round->n_turns == 0);
		round->end_ns = turns->tree->sightings[i].end_ns;
		last = at;
	}
}

static double usual_work_ns(const struct rounds *rounds)
{
	double *work = tp_alloc((rounds->n + 1) * sizeof(*work));
	for (size_t i = 0; i + 1 < rounds->n; i++)
		work[i] = rounds->items[i].work_ns;
	double median = tp_stats_median(work, rounds->n - 1);
	free(work);
	return median;
}

/* One call out of turn parts a round in two: one lacks somebody, and both do the work of one. */
static void join_parts(struct rounds *rounds, size_t n_takers)
{
	double usual_ns = usual_work_ns(rounds);
	size_t kept = 0;
	for (size_t i = 1; i < rounds->n; i++) {
		struct round *before = &rounds->items[kept];
		const struct round *round = &rounds->items[i];
		bool is_part = before->n_turns < n_takers || round->n_turns < n_takers;
		double both_ns = before->work_ns + round->work_ns;
		if (is_part && i + 1 < rounds->n &&
		    fabs(both_ns - usual_ns) <= TP_TURN_WORK_APART_MOST * usual_ns) {
			before->work_ns = both_ns;
			before->end_ns = round->end_ns;
			before->n_turns = n_takers;
		} else {
			rounds->items[++kept] = *round;
		}
	}
	rounds->n = kept + 1;
}

static struct tp_stay *stays_of(const struct rounds *rounds)
{
	struct tp_stay *stays = tp_alloc(rounds->n * sizeof(*stays));
	for (size_t i = 0; i < rounds->n; i++) {
		const struct round *round = &rounds->items[i];
		stays[i] = (struct tp_stay){.start_ns = round->start_ns,
					    .end_ns = round->end_ns,
					    .gap_work = i ? round[-1].work_ns : 0,
					    .first = round->first,
					    .piece = round->piece};
	}
	return stays;
}

bool tp_turns_find(struct tp_callee *out, const struct tp_level *level,
		   const struct tp_calltree *tree)
{
	struct turns turns = {.level = level, .tree = tree};
	size_t n_takers = find_takers(&turns);
	if (n_takers < 2)
		return false;
	count_successors(&turns);
	if (!find_order(&turns, n_takers))
		return false;
	struct rounds rounds = {0};
	collect_rounds(&rounds, &turns);
	if (!rounds.items)
		return false;
	/* What a round is known by, however long it waits. */
	for (size_t i = 0; i + 1 < rounds.n; i++)
		rounds.items[i].work_ns =
			tp_calltree_work_ns(tree, rounds.items[i].piece, rounds.items[i + 1].piece);
	join_parts(&rounds, n_takers);
	struct tp_callee found;
	tp_callee_init_rounds(&found, level->callees[level->marker].node, stays_of(&rounds),
			      rounds.n);
	free(rounds.items);
	if (found.n < TP_MIN_STAYS || found.regularity < TP_TURN_ALIKE_LEAST ||
	    found.missed > TP_TURN_TOGETHER_MOST) {
		tp_callee_release(&found);
		return false;
	}
	*out = found;
	return true;
}
