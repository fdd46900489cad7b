/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the training loop among the call paths of the main thread.
 *
 * 	main                      a level: a function and its callees
 * 	 |- load_data             one interval, before the loop: no callee of a loop
 * 	 `- train                 the next level
 * 	     |- next_batch  AAA      AAA      AAA
 * 	     |- forward        BB       BB       BB      intervals below one callee
 * 	     |- backward         CCC      CCC      CCC
 * 	     `- evaluate                               EEEEEE
 *
 * Levels are followed along the path with the work on the model, 80 % of the repeating part of it,
 * so neither the layers below backward (never that much of the work) nor the samples below a slow
 * loader (other work) are mistaken for steps. If several levels repeat, the outer one has the
 * steps, unless its rounds look like epochs.
 */
#include "loop_finder.h"

#include "analyze/thresholds.h"

#include "loop_level.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

enum {
	MAX_LEVELS = 96,  /* a training loop is never deeper */
	DEEP_LEVELS = 12, /* of those, levels that are searched again below their callees */
};

struct loop_search {
	const struct tp_call_tree *tree;
	struct tp_loop_level *levels; /* heap; outer levels before inner ones of the same branch */
	size_t n;
};

/* Returns the work on the model if names show it; otherwise work without a name; otherwise
 * everything that is not special. */
static uint64_t work_of(const struct tp_call_tree *tree, uint32_t node)
{
	const struct tp_call_node *n = &tree->nodes[node];
	double enough = TP_LOOP_KNOWN_MIN * (double)tree->nodes[0].ns;
	if ((double)tree->nodes[0].model_ns > enough)
		return n->model_ns;
	if ((double)tree->nodes[0].compute_ns > enough)
		return n->compute_ns;
	return n->ns - n->special_ns;
}

static bool is_single_call(const struct tp_callee *callee)
{
	return callee->n <= 2;
}

/* Examines a function and the callees that may contain the loop. */
static void explore(struct loop_search *search, uint32_t node)
{
	if (search->n == MAX_LEVELS)
		return;
	const struct tp_call_tree *tree = search->tree;
	size_t at = search->n;
	tp_loop_level_init(&search->levels[search->n++], tree, node);
	double repeating = 0;
	for (size_t i = 0; i < search->levels[at].n_callees; i++)
		if (!is_single_call(&search->levels[at].callees[i]))
			repeating += (double)work_of(tree, search->levels[at].callees[i].node);
	for (size_t i = 0; i < search->levels[at].n_callees; i++) {
		const struct tp_callee *callee = &search->levels[at].callees[i];
		bool is_branch = is_single_call(callee) &&
				 (double)tree->nodes[callee->node].ns >=
					 TP_LOOP_BRANCH_MIN * (double)tree->nodes[0].ns;
		bool is_chain =
			!is_single_call(callee) && repeating > 0 &&
			(double)work_of(tree, callee->node) >= TP_LOOP_CHAIN_MIN * repeating;
		if (is_branch || is_chain)
			explore(search, callee->node);
	}
}

/* Returns true if only the callee that contains `inner` works on the model at this level. */
static bool is_alone(const struct loop_search *search, const struct tp_loop_level *outer,
		     const struct tp_loop_level *inner)
{
	const struct tp_call_tree *tree = search->tree;
	for (size_t i = 0; i < outer->n_callees; i++) {
		const struct tp_callee *callee = &outer->callees[i];
		if (callee->is_special || is_single_call(callee) ||
		    tp_call_tree_is_within(tree, inner->node, callee->node))
			continue;
		if ((double)work_of(tree, callee->node) >
		    TP_LOOP_ALONE_MAX * (double)work_of(tree, outer->node))
			return false;
	}
	return true;
}

/* Returns true if a function is on the path to `node` twice: an interpreter uses the same few
 * functions for every call. */
static bool is_interpreted(const struct tp_call_tree *tree, uint32_t node)
{
	for (uint32_t a = node; a != TP_NO_NODE && a; a = tree->nodes[a].parent)
		for (uint32_t b = tree->nodes[a].parent; b != TP_NO_NODE && b;
		     b = tree->nodes[b].parent)
			if (tree->nodes[a].function == tree->nodes[b].function)
				return true;
	return false;
}

/* Returns true if the node is a considerable part of the work below `of`, and is work on the model
 * or has no known name. */
static bool is_work_of(const struct tp_call_tree *tree, uint32_t node, uint32_t of)
{
	const struct tp_call_node *n = &tree->nodes[node];
	return node != of && tp_call_tree_is_within(tree, node, of) &&
	       (double)n->ns >= TP_LOOP_TRIAL_MIN * (double)tree->nodes[of].ns &&
	       n->compute_ns > n->ns / 2;
}

/* Returns true if the same function does a considerable part of the work below `node` and of the
 * work below `beside`. */
static bool shares_work(const struct tp_call_tree *tree, uint32_t node, uint32_t beside)
{
	for (uint32_t a = node + 1; a < tree->n_nodes; a++) {
		if (!is_work_of(tree, a, node))
			continue;
		for (uint32_t b = beside + 1; b < tree->n_nodes; b++)
			if (tree->nodes[a].function == tree->nodes[b].function &&
			    !tp_call_tree_is_within(tree, b, node) && is_work_of(tree, b, beside))
				return true;
	}
	return false;
}

/* Returns true if the marker of `outer` evaluates, next to the loop in `inner`, what that loop
 * trains: a validation every so many steps. */
static bool is_validation(const struct loop_search *search, const struct tp_callee *outer,
			  const struct tp_loop_level *inner)
{
	const struct tp_call_tree *tree = search->tree;
	return !tp_call_tree_is_within(tree, inner->node, outer->node) &&
	       !is_interpreted(tree, inner->node) && shares_work(tree, outer->node, inner->node);
}

/* Returns true if the rounds of `outer` are epochs or similar, and those of `inner` are the
 * steps. */
static bool is_inner_better(const struct loop_search *search, const struct tp_loop_level *outer,
			    const struct tp_loop_level *inner)
{
	const struct tp_callee *a = &outer->callees[outer->marker];
	const struct tp_callee *b = &inner->callees[inner->marker];
	if (b->n * 2 < a->n * 3)
		return false;
	if (a->n < TP_LOOP_ROUNDS_MIN || is_alone(search, outer, inner) ||
	    is_validation(search, a, inner))
		return true;
	return a->n < TP_LOOP_ROUNDS_MANY && a->period_ns >= (double)TP_LOOP_EPOCH_NS &&
	       b->n / a->n >= TP_LOOP_EPOCH_STEPS_MIN;
}

static double covered_ns(const struct tp_loop_level *level)
{
	const struct tp_callee *marker = &level->callees[level->marker];
	return marker->period_ns * (double)marker->n;
}

/* Chooses between two loops in separate branches, for instance if data is generated first: the one
 * whose names show work on the model, else the later one unless it is short. */
static bool is_branch_better(const struct loop_search *search, const struct tp_loop_level *old,
			     const struct tp_loop_level *level)
{
	bool old_named = search->tree->nodes[old->node].model_ns > 0;
	bool is_named = search->tree->nodes[level->node].model_ns > 0;
	if (old_named != is_named)
		return is_named;
	bool is_later = level->callees[level->marker].stays[0].start_ns >
			old->callees[old->marker].stays[0].start_ns;
	return is_later ? covered_ns(level) > TP_LOOP_LATER_MIN * covered_ns(old)
			: covered_ns(level) >= 4 * covered_ns(old);
}

/* A few rounds in a small part of the run, for instance during program start, are not training. */
static bool is_short_lived(const struct loop_search *search, const struct tp_loop_level *level)
{
	return level->callees[level->marker].n < TP_LOOP_ROUNDS_MIN &&
	       covered_ns(level) < TP_LOOP_PASSING_MAX * (double)search->tree->nodes[0].ns;
}

static struct tp_loop_level *choose_level(struct loop_search *search)
{
	struct tp_loop_level *best = NULL;
	for (size_t i = 0; i < search->n; i++) {
		struct tp_loop_level *level = &search->levels[i];
		if (level->marker == TP_MAX_CALLEES || is_short_lived(search, level))
			continue;
		if (!best) {
			best = level;
			continue;
		}
		bool is_inside = tp_call_tree_is_within(search->tree, level->node, best->node);
		if (is_inside ? is_inner_better(search, best, level)
			      : is_branch_better(search, best, level))
			best = level;
	}
	return best;
}

/* Finds the innermost level at which a function below the direct callees recurs clearly. Everything
 * below an outer level is also below the inner levels of its chain, so a few levels are enough. */
static struct tp_loop_level *search_deeper(struct loop_search *search)
{
	size_t last = search->n > DEEP_LEVELS ? search->n - DEEP_LEVELS : 0;
	for (size_t i = search->n; i-- > last;) {
		tp_loop_level_add_deeper(&search->levels[i], search->tree);
		if (search->levels[i].marker != TP_MAX_CALLEES)
			return &search->levels[i];
	}
	return NULL;
}

/* ---- result ----------------------------------------------------------------- */

/* Sets the bounds of the callees that recur at least about half as often as the marker. */
static void set_bounds(struct tp_loop *loop, const struct tp_loop_level *level, size_t n_steps)
{
	loop->start_ns = UINT64_MAX;
	for (size_t i = 0; i < level->n_callees; i++) {
		const struct tp_callee *callee = &level->callees[i];
		if (callee->n < TP_MIN_INTERVALS || callee->n * 2 < n_steps)
			continue;
		if (callee->stays[0].start_ns < loop->start_ns)
			loop->start_ns = callee->stays[0].start_ns;
		if (callee->stays[callee->n - 1].end_ns > loop->end_ns)
			loop->end_ns = callee->stays[callee->n - 1].end_ns;
	}
}

static void set_level(struct tp_loop *loop, struct tp_loop_level *level,
		      const struct tp_call_tree *tree)
{
	struct tp_callee *marker = &level->callees[level->marker];
	enum tp_groups groups = tp_loop_level_groups(level, tree);
	loop->state = groups == TP_GROUPS_LIKELY ? TP_LOOP_GROUPS : TP_LOOP_FOUND;
	loop->may_be_groups = groups != TP_GROUPS_NONE;
	loop->node = level->node;
	loop->marker = marker->node;
	loop->stays = marker->stays;
	loop->n_stays = marker->n;
	loop->regularity = marker->regularity;
	loop->period_ns = (uint64_t)marker->period_ns;
	set_bounds(loop, level, marker->n);
	marker->stays = NULL;
}

static size_t max_intervals(const struct tp_loop_level *level)
{
	size_t most = 0;
	for (size_t i = 0; i < level->n_callees; i++)
		most = level->callees[i].n > most ? level->callees[i].n : most;
	return most;
}

/* Returns true if a function inside what `marked` may have found recurs too fast to be counted. */
static bool has_too_fast_inside(const struct loop_search *search, const struct tp_loop_level *level,
				const struct tp_loop_level *marked)
{
	if (!tp_loop_level_is_too_fast(level, search->tree))
		return false;
	return !marked || ((level == marked || level->marker == TP_MAX_CALLEES) &&
			   tp_call_tree_is_within(search->tree, level->node, marked->node) &&
			   is_validation(search, &marked->callees[marked->marker], level));
}

/* Returns the level with most time at which a function recurs too fast to be counted; in one branch
 * the outermost level. With `marked`, only levels whose rounds `marked` merely validates. */
static const struct tp_loop_level *find_too_fast(const struct loop_search *search,
						 const struct tp_loop_level *marked)
{
	const struct tp_call_node *nodes = search->tree->nodes;
	const struct tp_loop_level *best = NULL;
	for (size_t i = 0; i < search->n; i++) {
		const struct tp_loop_level *level = &search->levels[i];
		if (has_too_fast_inside(search, level, marked) &&
		    (!best || nodes[level->node].ns > nodes[best->node].ns))
			best = level;
	}
	return best;
}

/* Returns true if the rounds are few and long, and a function recurs many times in each, but too
 * fast to be counted (half of its intervals may be missed): then the rounds are epochs, with an
 * evaluation without a known name between them, and not steps. */
static bool are_epochs(const struct loop_search *search, const struct tp_loop_level *level)
{
	const struct tp_call_node *nodes = search->tree->nodes;
	const struct tp_callee *marker = &level->callees[level->marker];
	if (marker->n >= TP_LOOP_ROUNDS_MIN || marker->period_ns < (double)TP_LOOP_SHORT_EPOCH_NS)
		return false;
	for (size_t i = 0; i < level->n_callees; i++) {
		const struct tp_callee *callee = &level->callees[i];
		if (nodes[callee->node].parent == level->node && !callee->is_special &&
		    !tp_callee_is_resolved(callee) &&
		    callee->n * 2 >= TP_LOOP_EPOCH_STEPS_MIN * marker->n &&
		    (double)nodes[callee->node].ns >=
			    TP_LOOP_INNER_MIN * (double)nodes[level->node].ns)
			return true;
	}
	return false;
}

static void set_too_fast(struct tp_loop *loop, const struct tp_loop_level *level)
{
	loop->state = TP_LOOP_TOO_FAST;
	loop->node = level->node;
	set_bounds(loop, level, max_intervals(level));
}

void tp_loop_find(struct tp_loop *loop, const struct tp_call_tree *tree)
{
	*loop = (struct tp_loop){.node = TP_NO_NODE, .marker = TP_NO_NODE};
	struct loop_search search = {.tree = tree};
	search.levels = tp_alloc((size_t)MAX_LEVELS * sizeof(*search.levels));
	explore(&search, 0);
	struct tp_loop_level *level = choose_level(&search);
	const struct tp_loop_level *coarse = level ? find_too_fast(&search, level) : NULL;
	if (level && !coarse && are_epochs(&search, level))
		coarse = level;
	if (!level)
		level = search_deeper(&search);
	if (!level)
		coarse = find_too_fast(&search, NULL);
	if (coarse)
		set_too_fast(loop, coarse);
	else if (level)
		set_level(loop, level, tree);
	for (size_t i = 0; i < search.n; i++)
		tp_loop_level_release(&search.levels[i]);
	free(search.levels);
}

void tp_loop_release(struct tp_loop *loop)
{
	free(loop->stays);
	*loop = (struct tp_loop){0};
}
