/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the actions of one step of the plan. */
#include "plan_actions.h"

#include "trainprof/model/fact.h"

#include <string.h>

/* Upper bound of the actions grouped into one step. */
enum { MAX_ACTIONS = 12 };

struct collection {
	const struct tp_rule_context *context;
	struct tp_plan_action items[MAX_ACTIONS];
	const struct tp_technique *techniques[MAX_ACTIONS]; /* NULL = the guide has no page */
	size_t n;
};

/* ---- frameworks ---- */

static bool is_true(const struct tp_rule_context *context, tp_fact_id fact)
{
	return context->facts[fact].is_known && context->facts[fact].value != 0;
}

/* True if the program uses the framework; a program of no other framework and without an
 * interpreter counts as C. */
static bool is_seen(const struct tp_rule_context *context, enum tp_framework framework)
{
	static const tp_fact_id facts[TP_N_FRAMEWORKS] = {
		[TP_FRAMEWORK_PYTORCH] = TP_FACT_ENV_PYTORCH,
		[TP_FRAMEWORK_JAX] = TP_FACT_ENV_JAX,
		[TP_FRAMEWORK_TENSORFLOW] = TP_FACT_ENV_TENSORFLOW,
	};
	const struct tp_quantity *python = &context->facts[TP_FACT_ENV_PYTHON];
	if (framework != TP_FRAMEWORK_C)
		return is_true(context, facts[framework]);
	for (int i = 0; i < TP_FRAMEWORK_C; i++)
		if (is_true(context, facts[i]))
			return false;
	return python->is_known && python->value == 0;
}

static void add_how(const struct tp_rule_context *context, struct tp_plan_action *planned,
		    const struct tp_technique *technique)
{
	struct tp_framework_hint hows[TP_N_FRAMEWORKS];
	bool knows_any = false;
	for (int i = 0; i < TP_N_FRAMEWORKS; i++)
		knows_any |= is_seen(context, (enum tp_framework)i);
	for (int i = 0; i < TP_N_FRAMEWORKS; i++)
		if (technique->how[i] && (!knows_any || is_seen(context, (enum tp_framework)i)))
			hows[planned->n_how++] = (struct tp_framework_hint){
				.framework = tp_framework_names[i],
				.text = tp_arena_strdup(context->arena, technique->how[i])};
	if (planned->n_how)
		planned->how = tp_arena_copy(context->arena, hows, planned->n_how * sizeof(*hows));
}

/* ---- collecting ---- */

static bool has(const struct collection *all, const char *technique)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->items[i].technique, technique) == 0)
			return true;
	return false;
}

static void add(struct collection *all, enum tp_plan_action_role role,
		const struct tp_technique *technique, const struct tp_plan_action *planned)
{
	if (all->n == MAX_ACTIONS || has(all, planned->technique))
		return;
	struct tp_plan_action *place = &all->items[all->n];
	*place = *planned;
	place->role = role;
	all->techniques[all->n++] = technique;
	if (!technique)
		return;
	place->verify = tp_arena_strdup(all->context->arena, technique->verify);
	add_how(all->context, place, technique);
}

static void add_action(struct collection *all, enum tp_plan_action_role role,
		       const struct tp_action *action)
{
	const struct tp_plan_action planned = {.technique = action->technique,
					       .text = action->text,
					       .example = action->example};
	add(all, role, tp_catalogue_technique(&all->context->book->catalogue, action->technique),
	    &planned);
}

/* Adds a technique that only the guide names, unless the run has applied it already. */
static void add_technique(struct collection *all, enum tp_plan_action_role role,
			  const struct tp_technique *technique)
{
	const struct tp_expr *done = technique->done.when;
	if (done && tp_expr_truth(done, all->context->facts).value == TP_YES)
		return;
	const struct tp_plan_action planned = {.technique = tp_arena_strdup(all->context->arena,
									    technique->id),
					       .text = tp_arena_strdup(all->context->arena,
								       technique->title)};
	add(all, role, technique, &planned);
}

static bool is_capacity(const struct tp_technique *technique)
{
	return technique && technique->saving == TP_SAVING_CAPACITY;
}

static void add_dependencies(struct collection *all)
{
	size_t n = all->n; /* companions of companions are described on their own pages */
	for (size_t i = 0; i < n; i++) {
		const struct tp_technique *technique = all->techniques[i];
		for (size_t k = 0; technique && k < technique->n_together; k++)
			add_technique(all, TP_PLAN_ACTION_WITH, technique->together[k]);
	}
}

/* Techniques that save memory pay only if another technique uses that memory. */
static void add_memory_savers(struct collection *all)
{
	const struct tp_catalogue *catalogue = &all->context->book->catalogue;
	size_t n = all->n;
	for (size_t t = 0; t < catalogue->n_techniques; t++) {
		const struct tp_technique *opener = &catalogue->techniques[t];
		for (size_t k = 0; is_capacity(opener) && k < opener->n_together; k++)
			for (size_t i = 0; i < n; i++)
				if (opener->together[k] == all->techniques[i])
					add_technique(all, TP_PLAN_ACTION_OPENER, opener);
	}
}

const struct tp_action *tp_plan_actions_first(const struct tp_rulebook *book,
					      const struct tp_finding *finding)
{
	for (size_t i = 0; i < finding->n_actions && !finding->has_gain; i++)
		if (!is_capacity(tp_catalogue_technique(&book->catalogue,
							finding->actions[i].technique)))
			return &finding->actions[i];
	return finding->n_actions ? &finding->actions[0] : NULL;
}

/* Adds actions of the same rules that only save memory. */
static void add_memory_savers_of_rule(struct collection *all, const struct tp_finding *finding)
{
	const struct tp_catalogue *catalogue = &all->context->book->catalogue;
	for (size_t i = 0; i < finding->n_actions; i++) {
		const struct tp_action *action = &finding->actions[i];
		if (is_capacity(tp_catalogue_technique(catalogue, action->technique)))
			add_action(all, TP_PLAN_ACTION_OPENER, action);
	}
}

const struct tp_plan_action *tp_plan_actions_build(const struct tp_rule_context *context,
						   const struct tp_finding *const *findings,
						   size_t n_findings, size_t *n_actions)
{
	struct collection all = {.context = context};
	for (size_t i = 0; i < n_findings; i++) {
		if (findings[i]->n_actions)
			add_action(&all, TP_PLAN_ACTION_DO,
				   tp_plan_actions_first(context->book, findings[i]));
	}
	add_dependencies(&all);
	for (size_t i = 0; i < n_findings; i++)
		add_memory_savers_of_rule(&all, findings[i]);
	add_memory_savers(&all);
	*n_actions = all.n;
	return tp_arena_copy(context->arena, all.items, all.n * sizeof(*all.items));
}
