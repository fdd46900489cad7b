/* SPDX-License-Identifier: Apache-2.0 */
/* Converts gains into facts that must change. */
#include "plan_targets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double clamp(double value, double low, double high)
{
	return fmin(fmax(value, low), high);
}

/* "step.dataloader_fetch_ratio", else "step.dataloader_ratio". */
static tp_fact_id fact_of_part(const struct tp_rule_context *context, const struct tp_gain *gain)
{
	char name[80];
	const char *part = tp_part_name(gain->part);
	if (gain->label != TP_N_LABELS) {
		snprintf(name, sizeof(name), "step.%s_%s_ratio", part, tp_label_name(gain->label));
		tp_fact_id fact = tp_fact_find(name);
		if (fact != tp_n_facts && context->facts[fact].is_known)
			return fact;
	}
	snprintf(name, sizeof(name), "step.%s_ratio", part);
	return tp_fact_find(name);
}

/* The fact of a gain of the loop: the only one that its formula names. */
static tp_fact_id fact_of_loop(const struct tp_rule *rule)
{
	bool used[TP_MAX_FACTS] = {false};
	tp_fact_id fact = tp_n_facts;
	tp_expr_facts(rule->gain.fraction, true, used);
	for (tp_fact_id i = 0; i < tp_n_facts; i++) {
		if (!used[i])
			continue;
		if (fact != tp_n_facts)
			return tp_n_facts;
		fact = i;
	}
	return fact;
}

static struct tp_plan_target target_of(const struct tp_rule_context *context,
				       const struct tp_candidate *candidate)
{
	const struct tp_gain *gain = &candidate->gain;
	bool is_of_loop = gain->kind == TP_GAIN_LOOP;
	struct tp_plan_target target = {.is_of_loop = is_of_loop,
					.fact = is_of_loop ? fact_of_loop(candidate->rule)
							   : fact_of_part(context, gain)};
	if (target.fact == tp_n_facts || !context->facts[target.fact].is_known)
		return (struct tp_plan_target){.fact = tp_n_facts};
	target.now = clamp(context->facts[target.fact].value, 0, 1);
	double exposed = 1;
	double solo = 1;
	if (!is_of_loop) {
		const struct tp_gain_part *part = &context->basis.parts[gain->part];
		exposed = part->exposed_ns / context->basis.whole_ns;
		solo = 1 - part->without_high_ns / context->basis.whole_ns;
	}
	target.best = clamp(target.now - gain->most * exposed, 0, target.now);
	target.worst = clamp(target.now - gain->least * solo, target.best, target.now);
	return target;
}

/* Two pieces of advice about one fact do what the larger one does, and maybe more. */
static void add(struct tp_plan_target *targets, size_t *n, const struct tp_plan_target *target)
{
	for (size_t i = 0; i < *n; i++) {
		if (targets[i].fact != target->fact)
			continue;
		targets[i].best = fmin(targets[i].best, target->best);
		targets[i].worst = fmin(targets[i].worst, target->worst);
		return;
	}
	targets[(*n)++] = *target;
}

const struct tp_plan_target *tp_plan_targets_build(const struct tp_rule_context *context,
						   const struct tp_candidate *const *candidates,
						   size_t n, size_t *n_targets)
{
	struct tp_plan_target *targets = tp_arena_array(context->arena, n, sizeof(*targets));
	*n_targets = 0;
	for (size_t i = 0; i < n; i++) {
		if (!candidates[i]->gain.is_known)
			continue;
		const struct tp_plan_target target = target_of(context, candidates[i]);
		if (target.fact != tp_n_facts)
			add(targets, n_targets, &target);
	}
	return targets;
}
