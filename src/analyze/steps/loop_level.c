/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the callee whose intervals count the rounds of a loop. Among regular ones the one with
 * most intervals wins, so that an evaluation every fifty steps does not; but a function that each
 * round calls several times (layers, micro-batches, samples) loses to the function that encloses
 * it. */
#include "loop_level.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "callee_order.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

static bool is_marker(const struct tp_callee *callee, double regularity)
{
	return callee->n >= TP_MIN_INTERVALS && !callee->is_special &&
	       tp_callee_is_resolved(callee) && callee->regularity >= regularity;
}

static bool is_about(size_t a, size_t b)
{
	size_t larger = a > b ? a : b;
	size_t difference = a > b ? a - b : b - a;
	return difference * 20 <= larger || difference <= 1;
}

/* Less than twice as many intervals are the same loop, with some intervals missed. */
static bool is_same_loop(const struct tp_callee *a, const struct tp_callee *b)
{
	return a->n * 9 <= b->n * 16 && b->n * 9 <= a->n * 16;
}

/* Returns how many intervals of `inner` each period of `outer` contains, if nearly all contain
 * equally many; else 0. */
static size_t intervals_per_period(const struct tp_callee *inner, const struct tp_callee *outer)
{
	size_t n = outer->n - 1;
	double *counts = tp_alloc((n + 1) * sizeof(*counts));
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		while (at < inner->n && inner->stays[at].start_ns < outer->stays[i].start_ns)
			at++;
		size_t from = at;
		while (at < inner->n && inner->stays[at].start_ns < outer->stays[i + 1].start_ns)
			at++;
		counts[i] = (double)(at - from);
	}
	double median = tp_stats_median(counts, n);
	double tolerance = median / 10 > 1 ? median / 10 : 1;
	if (median < 3)
		tolerance = 0.5;
	size_t equal = 0;
	for (size_t i = 0; i < n; i++)
		equal += fabs(counts[i] - median) <= tolerance;
	free(counts);
	return equal * 10 >= n * 9 ? (size_t)(median + 0.5) : 0;
}

/* Returns true if `outer` recurs once per step and `inner` is a part that each step executes
 * several times (a layer, a micro-batch, a sample). A rare extra, for instance an evaluation
 * without a known name, looks similar; but a step has several callees, or one that is known to be
 * work on the model, or few parts. */
static bool contains_rounds(const struct tp_loop_level *level, const struct tp_call_tree *tree,
			    const struct tp_callee *outer, const struct tp_callee *inner)
{
	if (outer->regularity < TP_LEVEL_ALIKE_SURE || outer->n > inner->n ||
	    is_same_loop(outer, inner))
		return false;
	size_t inside = intervals_per_period(inner, outer);
	if (inside < 2)
		return false;
	size_t companions = 0;
	for (size_t i = 0; i < level->n_callees; i++)
		companions +=
			!level->callees[i].is_special && is_about(level->callees[i].n, outer->n);
	const struct tp_call_node *node = &tree->nodes[outer->node];
	bool is_work = node->compute_ns > node->ns / 2;
	return companions >= 2 || inside <= TP_LEVEL_INNER_MAX ||
	       (is_work && inside <= TP_LEVEL_INNER_WORK_MAX);
}

static void choose_marker(struct tp_loop_level *level, const struct tp_call_tree *tree,
			  double regularity)
{
	uint32_t best = TP_MAX_CALLEES;
	for (uint32_t i = 0; i < level->n_callees; i++) {
		const struct tp_callee *callee = &level->callees[i];
		if (!is_marker(callee, regularity))
			continue;
		const struct tp_callee *old = best == TP_MAX_CALLEES ? NULL : &level->callees[best];
		if (!old || (is_same_loop(callee, old) ? callee->regularity > old->regularity
						       : callee->n > old->n))
			best = i;
	}
	for (bool changed = best != TP_MAX_CALLEES; changed;) {
		changed = false;
		for (uint32_t i = 0; i < level->n_callees && !changed; i++) {
			if (i == best || !is_marker(&level->callees[i], regularity) ||
			    !contains_rounds(level, tree, &level->callees[i],
					     &level->callees[best]))
				continue;
			best = i;
			changed = true;
		}
	}
	level->marker = best;
}

bool tp_loop_level_is_too_fast(const struct tp_loop_level *level, const struct tp_call_tree *tree)
{
	uint64_t coarse_ns = 0;
	for (size_t i = 0; i < level->n_callees; i++)
		if (tree->nodes[level->callees[i].node].parent == level->node &&
		    level->callees[i].n >= TP_MIN_INTERVALS &&
		    !tp_callee_is_resolved(&level->callees[i]))
			coarse_ns += tree->nodes[level->callees[i].node].ns;
	return coarse_ns > tree->nodes[level->node].ns / 2;
}

/* Steps are easier to read if they start where the loop body of the program starts: chooses the
 * earliest callee of those that are equally good. */
static void rotate_marker(struct tp_loop_level *level)
{
	if (level->marker == TP_MAX_CALLEES)
		return;
	const struct tp_callee *marker = &level->callees[level->marker];
	for (uint32_t i = 0; i < level->n_callees; i++) {
		const struct tp_callee *callee = &level->callees[i];
		const struct tp_callee *chosen = &level->callees[level->marker];
		size_t difference =
			callee->n > marker->n ? callee->n - marker->n : marker->n - callee->n;
		if (is_marker(callee, TP_LEVEL_ALIKE_MIN) && difference <= 1 &&
		    callee->regularity >= marker->regularity - TP_LEVEL_ALIKE_SLACK &&
		    callee->stays[0].start_ns < chosen->stays[0].start_ns)
			level->marker = i;
	}
}

static void add_callee(struct tp_loop_level *level, const struct tp_call_tree *tree, uint32_t node)
{
	if (level->n_callees == TP_MAX_CALLEES ||
	    (double)tree->nodes[node].ns < TP_LEVEL_SHARE_MIN * (double)tree->nodes[level->node].ns)
		return;
	tp_callee_init(&level->callees[level->n_callees++], tree, level->node, node);
}

/* Callees with equally many intervals may take turns. */
static void compare_orders(struct tp_loop_level *level)
{
	for (size_t i = 0; i < level->n_callees; i++) {
		const struct tp_callee *others[TP_MAX_CALLEES];
		size_t n = 0;
		for (size_t j = 0; j < level->n_callees; j++)
			if (j != i && !level->callees[j].is_special &&
			    tp_callee_is_resolved(&level->callees[j]) &&
			    is_about(level->callees[j].n, level->callees[i].n))
				others[n++] = &level->callees[j];
		tp_callee_compare_order(&level->callees[i], others, n);
	}
}

/* If samples do not separate the rounds, waits may. */
static void choose_waits(struct tp_loop_level *level, const struct tp_call_tree *tree)
{
	for (uint32_t i = 0; i < level->n_callees && level->marker == TP_MAX_CALLEES; i++) {
		struct tp_callee *callee = &level->callees[i];
		if (!callee->is_special && tp_callee_use_waits(callee, tree) &&
		    callee->n >= TP_LEVEL_STAYS_MIN && is_marker(callee, TP_LEVEL_ALIKE_MIN))
			level->marker = i;
	}
}

/*
 * If callees take turns, their order is more reliable than each callee alone: it shows an extra
 * call, and one that was not sampled. If several loaders are ready at once, all but the first batch
 * arrive without a wait, so a marker that waits may count groups of as many rounds as there are
 * loaders; any other function that takes several turns between two intervals of the marker is a
 * layer or a micro-batch.
 */
static bool is_order_better(const struct tp_callee *turns, const struct tp_callee *marker,
			    const struct tp_call_tree *tree)
{
	size_t inside = 0;
	for (size_t i = 0; i < turns->n; i++)
		inside += turns->stays[i].start_ns >= marker->stays[0].start_ns &&
			  turns->stays[i].start_ns <= marker->stays[marker->n - 1].start_ns;
	if (is_about(inside, marker->n))
		return true;
	return inside > marker->n && tree->n_loaders > 1 && inside <= marker->n * tree->n_loaders;
}

static void choose_order(struct tp_loop_level *level, const struct tp_call_tree *tree)
{
	struct tp_callee turns;
	if (level->marker == TP_MAX_CALLEES || !tp_callee_order_find(&turns, level, tree))
		return;
	struct tp_callee *marker = &level->callees[level->marker];
	if (!is_order_better(&turns, marker, tree)) {
		tp_callee_release(&turns);
		return;
	}
	tp_callee_release(marker);
	*marker = turns;
	level->has_turns = true;
}

void tp_loop_level_init(struct tp_loop_level *level, const struct tp_call_tree *tree, uint32_t node)
{
	*level = (struct tp_loop_level){.node = node, .marker = TP_MAX_CALLEES};
	for (uint32_t c = tree->nodes[node].first_child; c != TP_NO_NODE;
	     c = tree->nodes[c].next_sibling)
		add_callee(level, tree, c);
	compare_orders(level);
	choose_marker(level, tree, TP_LEVEL_ALIKE_MIN);
	rotate_marker(level);
	if (level->marker == TP_MAX_CALLEES)
		choose_waits(level, tree);
	choose_order(level, tree);
}

/* Returns the share of periods whose CPU time is not near the median. */
static double work_spread(const struct tp_callee *marker, const struct tp_call_tree *tree)
{
	size_t n = marker->n - 1;
	size_t odd = 0;
	double *work_ns = tp_alloc((n + 1) * sizeof(*work_ns));
	for (size_t i = 0; i < n; i++)
		work_ns[i] = tp_call_tree_work_ns(tree, marker->stays[i].piece,
						  marker->stays[i + 1].piece);
	double usual_ns = tp_stats_median(work_ns, n);
	for (size_t i = 0; i < n; i++)
		odd += fabs(work_ns[i] - usual_ns) > TP_LEVEL_ODD_WORK * usual_ns;
	free(work_ns);
	return n ? (double)odd / (double)n : 0;
}

enum tp_groups tp_loop_level_groups(const struct tp_loop_level *level,
				    const struct tp_call_tree *tree)
{
	const struct tp_callee *marker = &level->callees[level->marker];
	if (level->has_turns || tree->n_loaders < 2 ||
	    !tp_call_tree_waits_most_times(tree, marker->node))
		return TP_GROUPS_NONE;
	for (size_t i = 0; i < level->n_callees; i++) {
		const struct tp_callee *other = &level->callees[i];
		if (i != level->marker && is_about(other->n, marker->n) &&
		    tp_callee_is_resolved(other))
			return TP_GROUPS_NONE;
	}
	return work_spread(marker, tree) > TP_LEVEL_ODD_MAX ? TP_GROUPS_LIKELY : TP_GROUPS_POSSIBLE;
}

void tp_loop_level_release(struct tp_loop_level *level)
{
	for (size_t i = 0; i < level->n_callees; i++)
		tp_callee_release(&level->callees[i]);
	level->n_callees = 0;
}

/* A node that contains nearly all of its caller recurs as its caller does. */
static bool is_new_callee(const struct tp_call_tree *tree, uint32_t root, uint32_t node)
{
	uint32_t parent = tree->nodes[node].parent;
	return parent != root &&
	       (double)tree->nodes[node].ns < TP_LEVEL_BODY_MIN * (double)tree->nodes[parent].ns;
}

void tp_loop_level_add_deeper(struct tp_loop_level *level, const struct tp_call_tree *tree)
{
	uint32_t root = level->node;
	double wanted = 2 * TP_LEVEL_SHARE_MIN * (double)tree->nodes[root].ns;
	for (uint32_t node = root + 1; node < tree->n_nodes; node++)
		if ((double)tree->nodes[node].ns >= wanted &&
		    tp_call_tree_is_within(tree, node, root) && is_new_callee(tree, root, node))
			add_callee(level, tree, node);
	choose_marker(level, tree, TP_LEVEL_ALIKE_SURE);
	if (level->marker != TP_MAX_CALLEES && level->callees[level->marker].n < TP_LEVEL_STAYS_MIN)
		level->marker = TP_MAX_CALLEES;
}
