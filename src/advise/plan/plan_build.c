/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a plan from the shown advice. */
#include "plan_build.h"

#include "advise/judge/references.h"
#include "plan_actions.h"
#include "plan_targets.h"

#include "trainprof/model/fact.h"

#include <math.h>
#include <string.h>

/* A step of the plan before its bounds are computed. */
struct plan_group {
	const struct tp_candidate **members;
	size_t *places;
	size_t n;
	unsigned order;
	bool is_small; /* compared with the largest */
};

struct plan_grouping {
	const struct tp_rule_context *context;
	struct plan_group *groups;
	size_t n;
};

/* ---- grouping ---- */

static const struct tp_technique *leading(const struct tp_rule_context *context,
					  const struct tp_candidate *candidate)
{
	const struct tp_action *action = tp_plan_actions_first(context->book, &candidate->finding);
	return action ? tp_catalogue_technique(&context->book->catalogue, action->technique) : NULL;
}

static bool names(const struct tp_technique *technique, const struct tp_technique *other)
{
	for (size_t i = 0; i < technique->n_together; i++)
		if (technique->together[i] == other)
			return true;
	return false;
}

static bool is_same_group(const struct tp_rule_context *context, const struct tp_candidate *a,
			  const struct tp_candidate *b)
{
	const struct tp_technique *left = leading(context, a);
	const struct tp_technique *right = leading(context, b);
	return left && right && (left == right || names(left, right) || names(right, left));
}

static struct plan_group *group_for(struct plan_grouping *grouping,
				    const struct tp_candidate *candidate)
{
	for (size_t i = 0; i < grouping->n; i++)
		for (size_t k = 0; k < grouping->groups[i].n; k++)
			if (is_same_group(grouping->context, grouping->groups[i].members[k],
					  candidate))
				return &grouping->groups[i];
	return &grouping->groups[grouping->n++];
}

/* ---- order ---- */

enum { UNKNOWN_ORDER = 1000 };

/* The order of the limit that a rule names first. */
static unsigned order_of(const struct tp_rule_context *context, const struct tp_rule *rule)
{
	const struct tp_limit *limit =
		rule->n_limits ? tp_catalogue_limit(&context->book->catalogue, rule->limits[0])
			       : NULL;
	return limit ? limit->order : UNKNOWN_ORDER;
}

static void make_groups(struct plan_grouping *grouping, const struct tp_candidate *candidates,
			size_t n)
{
	struct tp_arena *arena = grouping->context->arena;
	grouping->groups = tp_arena_array(arena, n, sizeof(*grouping->groups));
	for (size_t i = 0; i < n; i++) {
		struct plan_group *group = group_for(grouping, &candidates[i]);
		unsigned order = order_of(grouping->context, candidates[i].rule);
		if (!group->n) {
			/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
			group->members = tp_arena_array(arena, n, sizeof(*group->members));
			group->places = tp_arena_array(arena, n, sizeof(*group->places));
			group->order = order;
		}
		group->members[group->n] = &candidates[i];
		group->places[group->n++] = i;
		group->order = order < group->order ? order : group->order;
	}
}

/* The log of the largest gain of one of its rules; below 0 if no gain is known. */
static double gain_of(const struct plan_group *group)
{
	double most = -1;
	for (size_t i = 0; i < group->n; i++)
		if (group->members[i]->gain.is_known)
			most = fmax(most, log(group->members[i]->gain.value));
	return most;
}

/* Marks the groups with a small gain, which come after the large ones. An unknown gain does not
 * count as small. */
static void mark_small(struct plan_grouping *grouping)
{
	const struct tp_thresholds *thresholds = &grouping->context->book->thresholds;
	double large = tp_thresholds_value(thresholds, "plan.large", 0);
	double most = 0;
	for (size_t i = 0; i < grouping->n; i++)
		most = fmax(most, gain_of(&grouping->groups[i]));
	for (size_t i = 0; i < grouping->n; i++) {
		double gain = gain_of(&grouping->groups[i]);
		grouping->groups[i].is_small = gain >= 0 && gain < large * most;
	}
}

/* The first member is the surest one: candidates are sorted. */
static bool is_after(const struct plan_group *group, const struct plan_group *other)
{
	enum tp_sureness sureness = group->members[0]->finding.sureness;
	enum tp_sureness other_sureness = other->members[0]->finding.sureness;
	if (sureness != other_sureness)
		return sureness > other_sureness;
	if (group->is_small != other->is_small)
		return group->is_small;
	return group->order > other->order;
}

/* Insertion sort, because groups are few and it is stable: equal groups stay sorted by their best
 * rank. */
static void sort_groups(struct plan_grouping *grouping)
{
	mark_small(grouping);
	for (size_t i = 1; i < grouping->n; i++) {
		struct plan_group group = grouping->groups[i];
		size_t k = i;
		for (; k && is_after(&grouping->groups[k - 1], &group); k--)
			grouping->groups[k] = grouping->groups[k - 1];
		grouping->groups[k] = group;
	}
}

/* ---- gains ---- */

static bool is_in_reach(const struct tp_next_limit *then, const struct tp_rule_context *context)
{
	double least = tp_thresholds_value(&context->book->thresholds, "gain.residual", 0);
	return then->part != TP_N_PARTS && then->left_ns >= least * context->basis.whole_ns;
}

const char *tp_next_limit_name(const struct tp_next_limit *then,
			       const struct tp_rule_context *context)
{
	bool is_unknown = then->part == TP_PART_IDLE && !context->facts[TP_FACT_STEP_IDLE].is_known;
	return is_in_reach(then, context) && !is_unknown ? tp_part_name(then->part) : NULL;
}

double tp_next_limit_steps_per_s(const struct tp_next_limit *then,
				 const struct tp_rule_context *context)
{
	/* If the input comes from facts, its length is no real time: shares refer to the step time,
	 * if that is known. */
	const struct tp_quantity *step = &context->facts[TP_FACT_STEP_TIME];
	double left_ns = then->left_ns / context->basis.whole_ns * step->value;
	return step->is_known && left_ns > 0 && is_in_reach(then, context) ? 1e9 / left_ns : 0;
}

static struct tp_bound bound_of(const struct tp_rule_context *context, const struct tp_gain *gains,
				size_t n, struct tp_next_limit *then)
{
	double largest = tp_thresholds_value(&context->book->thresholds, "gain.largest", 100);
	struct tp_gain gain = tp_gain_combine(&context->basis, gains, n, largest, then);
	return (struct tp_bound){.is_known = gain.is_known,
				 .low = gain.low,
				 .value = gain.value,
				 .high = gain.high};
}

static bool is_more(const struct tp_bound *bound, const struct tp_bound *before)
{
	static const double SAME = 1 + 1e-9;
	if (!before->is_known)
		return bound->is_known;
	return bound->low > before->low * SAME || bound->high > before->high * SAME;
}

/* ---- the whole plan ---- */

static const struct tp_yardstick *yardstick_of(const struct plan_group *group)
{
	for (size_t i = 0; i < group->n; i++) {
		const struct tp_finding *finding = &group->members[i]->finding;
		for (size_t k = 0; k < finding->n_actions; k++)
			if (finding->actions[k].literature &&
			    finding->actions[k].literature->against)
				return finding->actions[k].literature->against;
	}
	return NULL;
}

static void fill_actions(struct tp_plan_step *step, const struct tp_rule_context *context,
			 const struct plan_group *group)
{
	const struct tp_finding **findings =
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
		tp_arena_array(context->arena, group->n, sizeof(*findings));
	for (size_t i = 0; i < group->n; i++) {
		findings[i] = &group->members[i]->finding;
		step->is_semantic |= findings[i]->kind == TP_ADVICE_SEMANTIC;
	}
	step->actions = tp_plan_actions_build(context, findings, group->n, &step->n_actions);
}

/* `gains` has room for the gains of this step after the `n` gains of the steps before it. */
static struct tp_plan_step step_of(const struct tp_rule_context *context,
				   const struct plan_group *group, struct tp_gain *gains, size_t n,
				   const struct tp_bound *before)
{
	bool is_known = group->order != UNKNOWN_ORDER;
	const char *stage =
		is_known ? tp_catalogue_stage(&context->book->catalogue, group->order) : NULL;
	struct tp_plan_step step = {
		.advice = group->places,
		.n_advice = group->n,
		.order = is_known ? group->order : 0,
		.stage = tp_arena_strdup(context->arena, stage),
		.against = yardstick_of(group),
	};
	struct tp_next_limit then;
	for (size_t i = 0; i < group->n; i++)
		gains[n + i] = group->members[i]->gain;
	fill_actions(&step, context, group);
	step.targets = tp_plan_targets_build(context, group->members, group->n, &step.n_targets);
	step.gain = bound_of(context, gains + n, group->n, &then);
	step.so_far = bound_of(context, gains, n + group->n, &then);
	step.adds = is_more(&step.so_far, before);
	if (step.so_far.is_known) {
		step.then_limit = tp_next_limit_name(&then, context);
		step.then_steps_per_s = tp_next_limit_steps_per_s(&then, context);
	}
	return step;
}

/* The yardstick of the other techniques; the shipped guide has one. */
static const struct tp_yardstick *general_yardstick(const struct tp_rule_context *context)
{
	const struct tp_catalogue *catalogue = &context->book->catalogue;
	for (size_t i = 0; i < catalogue->n_techniques; i++)
		if (catalogue->techniques[i].against)
			return tp_references_yardstick(context->arena,
						       catalogue->techniques[i].against);
	return NULL;
}

void tp_action_plan_build(struct tp_action_plan *out, const struct tp_rule_context *context,
			  const struct tp_candidate *candidates, size_t n)
{
	struct plan_grouping grouping = {.context = context};
	struct tp_gain *gains = tp_arena_array(context->arena, n, sizeof(*gains));
	struct tp_plan_step *steps = tp_arena_array(context->arena, n, sizeof(*steps));
	const struct tp_quantity *step = &context->facts[TP_FACT_STEP_TIME];
	struct tp_bound before = {0};
	size_t n_gains = 0;
	make_groups(&grouping, candidates, n);
	sort_groups(&grouping);
	for (size_t i = 0; i < grouping.n; i++) {
		steps[i] = step_of(context, &grouping.groups[i], gains, n_gains, &before);
		before = steps[i].so_far;
		n_gains += grouping.groups[i].n;
	}
	*out = (struct tp_action_plan){
		.steps = steps,
		.n_steps = grouping.n,
		.step_ns = step->is_known ? step->value : 0,
		.yardstick = general_yardstick(context),
	};
}
