/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the results that the guide reports for a technique into a finding. */
#include "references.h"

#include "advise/condition/expr.h"

static const struct tp_reported_result *copy_effects(struct tp_arena *arena,
						     const struct tp_technique *technique)
{
	struct tp_reported_result *out = tp_arena_array(arena, technique->n_effects, sizeof(*out));
	for (size_t i = 0; i < technique->n_effects; i++) {
		const struct tp_effect *effect = &technique->effects[i];
		out[i] = (struct tp_reported_result){
			.text = tp_arena_strdup(arena, effect->text),
			.hardware = tp_arena_strdup(arena, effect->hardware),
			.baseline = tp_arena_strdup(arena, effect->baseline),
			.source = {.title = tp_arena_strdup(arena, effect->source->title),
				   .where = tp_arena_strdup(arena, effect->source->where),
				   .checked = tp_arena_strdup(arena, effect->source->checked)}};
	}
	return out;
}

const struct tp_yardstick *tp_references_yardstick(struct tp_arena *arena,
						   const struct tp_technique *from)
{
	if (!from)
		return NULL;
	struct tp_yardstick *out = tp_arena_alloc(arena, sizeof(*out));
	*out = (struct tp_yardstick){
		.technique = tp_arena_strdup(arena, from->id),
		.title = tp_arena_strdup(arena, from->title),
		.reported = copy_effects(arena, from),
		.n_reported = from->n_effects,
	};
	return out;
}

static struct tp_condition_result condition_of(const struct tp_rule_context *context,
					       const struct tp_guide_condition *clause,
					       bool is_need)
{
	struct tp_condition_result caveat = {.text = tp_arena_strdup(context->arena, clause->text),
					     .is_need = is_need,
					     .holds = -1};
	if (!clause->when)
		return caveat;
	enum tp_truth_value truth = tp_expr_truth(clause->when, context->facts).value;
	caveat.holds = truth == TP_UNKNOWN ? -1 : truth == TP_YES;
	return caveat;
}

const struct tp_references *tp_references_find(const struct tp_rule_context *context,
					       const char *technique)
{
	struct tp_arena *arena = context->arena;
	const struct tp_technique *from =
		tp_catalogue_technique(&context->book->catalogue, technique);
	if (!from)
		return NULL;
	struct tp_references *out = tp_arena_alloc(arena, sizeof(*out));
	struct tp_condition_result *caveats =
		tp_arena_array(arena, from->n_needs + from->n_not_when, sizeof(*caveats));
	*out = (struct tp_references){
		.title = tp_arena_strdup(arena, from->title),
		.effort = tp_effort_names[from->effort],
		.effort_text = tp_effort_words[from->effort],
		.risk = tp_risk_names[from->risk],
		.risk_text = tp_arena_strdup(arena, from->risk_text),
		.reported = copy_effects(arena, from),
		.n_reported = from->n_effects,
		.caveats = caveats,
		.against = tp_references_yardstick(arena, from->against),
	};
	for (size_t i = 0; i < from->n_needs; i++)
		caveats[out->n_caveats++] = condition_of(context, &from->needs[i], true);
	for (size_t i = 0; i < from->n_not_when; i++)
		caveats[out->n_caveats++] = condition_of(context, &from->not_when[i], false);
	return out;
}

bool tp_references_is_applied(const struct tp_rule_context *context, const char *technique,
			      const char **seen)
{
	const struct tp_technique *from =
		tp_catalogue_technique(&context->book->catalogue, technique);
	if (!from || !from->done.when ||
	    tp_expr_truth(from->done.when, context->facts).value != TP_YES)
		return false;
	bool used[TP_MAX_FACTS] = {false};
	tp_expr_facts(from->done.when, true, used);
	*seen = NULL;
	for (tp_fact_id i = 0; i < tp_n_facts && !*seen; i++)
		if (used[i])
			*seen = tp_arena_strdup(context->arena, context->facts[i].seen);
	return true;
}
