/* SPDX-License-Identifier: Apache-2.0 */
/* Suppresses and sorts findings. */
#include "finding_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_advice(const struct tp_candidate *candidate)
{
	return candidate->finding.state == TP_FINDING_FIRED && !candidate->rule->is_note;
}

static const char *suppress_reason(const struct tp_candidate *candidate,
				   const struct tp_rulebook *book, struct tp_arena *arena)
{
	const struct tp_finding *finding = &candidate->finding;
	double smallest = tp_thresholds_value(&book->thresholds, "gain.smallest", 0);
	double smallest_bound = tp_thresholds_value(&book->thresholds, "gain.smallest_bound", 0);
	if (!finding->n_actions && finding->done)
		return tp_arena_printf(arena, "what it advises is done already: %s", finding->done);
	if (!finding->n_actions)
		return "what it advises is done already";
	if (!finding->has_gain)
		return NULL;
	if (!tp_gain_is_estimate(finding->gain_low) && finding->gain_high < 1 + smallest_bound)
		return tp_arena_printf(arena, "it gains at most %.1f %%, below the %.0f %% limit",
				       (finding->gain_high - 1) * 100, smallest_bound * 100);
	if (tp_gain_is_estimate(finding->gain_low) && finding->gain_value < 1 + smallest)
		return tp_arena_printf(arena, "it gains %.1f %%, below the %.0f %% limit",
				       (finding->gain_value - 1) * 100, smallest * 100);
	return NULL;
}

/* A child rule is more precise than its parent; but advice that changes the training never replaces
 * advice that does not. */
static bool yields(const struct tp_rule *rule, const struct tp_rule *other)
{
	if (other->kind > rule->kind)
		return false;
	if (other->parent && strcmp(other->parent, rule->id) == 0)
		return true;
	for (size_t i = 0; i < rule->n_yields_to; i++)
		if (strcmp(rule->yields_to[i], other->id) == 0)
			return true;
	return false;
}

/* A finding that only names a part adds nothing if one cause explains most of it. */
static bool yields_to_cause(const struct tp_candidate *candidate, const struct tp_candidate *other,
			    const struct tp_rulebook *book)
{
	bool does_yield = false;
	for (size_t i = 0; i < candidate->rule->n_yields_to; i++)
		does_yield |= strcmp(candidate->rule->yields_to[i], TP_ALL_IDIOMS) == 0;
	if (!does_yield || !other->rule->is_specific || !other->gain.is_known)
		return false;
	double covers = tp_thresholds_value(&book->thresholds, "idiom.covers", 1);
	double explained = 1 - 1 / other->gain.high;
	return !candidate->gain.is_known || explained >= covers * (1 - 1 / candidate->gain.high);
}

void tp_finding_order_suppress(struct tp_candidate *candidates, size_t n,
			       const struct tp_rulebook *book, struct tp_arena *arena)
{
	for (size_t i = 0; i < n; i++)
		if (is_advice(&candidates[i]))
			candidates[i].finding.suppressed =
				suppress_reason(&candidates[i], book, arena);
	/* Computed afterwards, so that a rule hidden by a third rule still hides those that yield
	 * to it: the order of rules must not matter. A finding that is too small or done hides
	 * nothing. */
	bool *stands = tp_arena_array(arena, n, sizeof(*stands));
	for (size_t i = 0; i < n; i++)
		stands[i] = is_advice(&candidates[i]) && !candidates[i].finding.suppressed;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n && stands[i]; k++) {
			if (!stands[k] || (!yields(candidates[i].rule, candidates[k].rule) &&
					   !yields_to_cause(&candidates[i], &candidates[k], book)))
				continue;
			candidates[i].finding.suppressed =
				tp_arena_printf(arena, "%s is more specific",
						candidates[k].rule->id);
			break;
		}
	}
}

/* A lower number comes earlier. */
static int group_of(const struct tp_candidate *candidate)
{
	if (is_advice(candidate))
		return candidate->finding.suppressed ? 1 : 0;
	if (candidate->finding.state == TP_FINDING_FIRED)
		return 2;
	return candidate->finding.state == TP_FINDING_QUIET ? 3 : 4;
}

struct weighted {
	struct tp_candidate candidate;
	double weight;
	bool is_cause; /* specific, and large enough to be first */
};

static int compare_weighted(const void *a, const void *b)
{
	const struct weighted *left = a;
	const struct weighted *right = b;
	int groups = group_of(&left->candidate) - group_of(&right->candidate);
	if (groups)
		return groups;
	if (!groups && is_advice(&left->candidate) && left->is_cause != right->is_cause)
		return left->is_cause ? -1 : 1;
	int sureness =
		(int)left->candidate.finding.sureness - (int)right->candidate.finding.sureness;
	if (!groups && is_advice(&left->candidate) && sureness)
		return sureness;
	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	/* Among equals, advice that does not change the training comes first, with or without a
	 * gain. */
	int kinds = (int)left->candidate.finding.kind - (int)right->candidate.finding.kind;
	if (kinds)
		return kinds;
	return strcmp(left->candidate.rule->id, right->candidate.rule->id);
}

size_t tp_finding_order_sort(struct tp_candidate *candidates, size_t n,
			     const struct tp_rulebook *book)
{
	static const char *const names[] = {"rank.high", "rank.medium", "rank.low"};
	struct tp_arena arena = {0};
	struct weighted *sorted = tp_arena_array(&arena, n, sizeof(*sorted));
	size_t n_advice = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tp_finding *finding = &candidates[i].finding;
		sorted[i].candidate = candidates[i];
		sorted[i].is_cause =
			candidates[i].rule->is_specific &&
			(!finding->has_gain ||
			 finding->gain_value >
				 1 + tp_thresholds_value(&book->thresholds, "idiom.first", 0));
		if (finding->has_gain)
			sorted[i].weight = log(finding->gain_value) *
					   tp_thresholds_value(&book->thresholds,
							       names[finding->confidence], 1);
		if (finding->kind == TP_ADVICE_SEMANTIC)
			sorted[i].weight *=
				tp_thresholds_value(&book->thresholds, "rank.semantic", 1);
		n_advice += group_of(&candidates[i]) == 0;
	}
	if (n)
		qsort(sorted, n, sizeof(*sorted), compare_weighted);
	for (size_t i = 0; i < n; i++)
		candidates[i] = sorted[i].candidate;
	tp_arena_release(&arena);
	return n_advice;
}
