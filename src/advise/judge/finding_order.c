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

/* Returns the share of a cause that lies in the part from which the candidate takes its gain. Slow
 * products of the model do not explain why the model waits for data. */
static double share_in_part(const struct tp_candidate *cause, const struct tp_candidate *candidate)
{
	const struct tp_idiom_result *idiom = cause->idiom;
	if (!idiom || !candidate->gain.is_known || candidate->gain.kind != TP_GAIN_PART ||
	    !(idiom->held_ratio > 0))
		return 1;
	return idiom->part_ratio[candidate->gain.part] / idiom->held_ratio;
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
	double explained = (1 - 1 / other->gain.high) * share_in_part(other, candidate);
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

/* Gains that are printed alike are equal. */
static double printed_gain(const struct tp_candidate *candidate)
{
	const struct tp_finding *finding = &candidate->finding;
	if (!finding->has_gain)
		return 0;
	return round(100 *
		     tp_gain_printed(finding->gain_low, finding->gain_value, finding->gain_high));
}

static bool is_bound(const struct tp_candidate *candidate)
{
	return !candidate->finding.has_gain || !tp_gain_is_estimate(candidate->finding.gain_low);
}

/* Advice is sorted by what stands on a page: how sure it is, whether its least gain is known, the
 * printed gain. Other findings are sorted by what they would gain. */
static int compare(const void *a, const void *b)
{
	const struct tp_candidate *left = a;
	const struct tp_candidate *right = b;
	int groups = group_of(left) - group_of(right);
	if (groups)
		return groups;
	int sureness = (int)left->finding.sureness - (int)right->finding.sureness;
	if (is_advice(left) && sureness)
		return sureness;
	/* A gain of which only the upper end is known may be none. */
	int bounds = (int)is_bound(left) - (int)is_bound(right);
	if (bounds)
		return bounds;
	double gains[2] = {printed_gain(left), printed_gain(right)};
	if (gains[0] != gains[1])
		return gains[0] > gains[1] ? -1 : 1;
	int confidence = (int)left->finding.confidence - (int)right->finding.confidence;
	if (confidence)
		return confidence;
	/* Among equals: what does not change the training, what names a line of the program. */
	int kinds = (int)left->finding.kind - (int)right->finding.kind;
	if (kinds)
		return kinds;
	if (left->rule->is_specific != right->rule->is_specific)
		return left->rule->is_specific ? -1 : 1;
	return strcmp(left->rule->id, right->rule->id);
}

size_t tp_finding_order_sort(struct tp_candidate *candidates, size_t n)
{
	size_t n_advice = 0;
	for (size_t i = 0; i < n; i++)
		n_advice += group_of(&candidates[i]) == 0;
	if (n)
		qsort(candidates, n, sizeof(*candidates), compare);
	return n_advice;
}
