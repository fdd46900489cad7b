/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the conditions of a rule with each other and with its techniques. */
#include "contradiction.h"

#include "advise/condition/bounds.h"

/* Applies the conditions that must hold if the rule fires, including those of its parents. */
static void apply_rule(struct tp_bounds *bounds, const struct tp_rulebook *book,
		       const struct tp_rule *rule)
{
	while (rule) {
		for (size_t i = 0; i < rule->n_when; i++)
			tp_bounds_apply(bounds, rule->when[i].expr);
		rule = rule->parent ? tp_rulebook_find(book, rule->parent) : NULL;
	}
}

/* The first condition that prevents the rule from ever firing, or NULL. */
static const char *find_impossible(const struct tp_bounds *bounds, const struct tp_rule *rule)
{
	for (size_t i = 0; i < rule->n_when; i++)
		if (tp_bounds_truth(bounds, rule->when[i].expr) == TP_NEVER)
			return rule->when[i].written;
	for (size_t i = 0; i < rule->n_unless; i++)
		if (tp_bounds_truth(bounds, rule->unless[i].expr) == TP_ALWAYS)
			return rule->unless[i].written;
	return NULL;
}

static size_t report_conflict(struct tp_buf *problems, const struct tp_rule *rule,
			      const struct tp_rule_action *action, const char *what,
			      const char *text)
{
	tp_buf_printf(problems, "%s:%u: '%s' %s: %s\n", rule->path, action->line, action->technique,
		      what, text);
	return 1;
}

static size_t check_technique(const struct tp_bounds *bounds, const struct tp_rule *rule,
			      const struct tp_rule_action *action,
			      const struct tp_technique *technique, struct tp_buf *problems)
{
	size_t n = 0;
	for (size_t i = 0; i < technique->n_needs; i++) {
		const struct tp_guide_condition *clause = &technique->needs[i];
		if (clause->when && tp_bounds_truth(bounds, clause->when) == TP_NEVER)
			n += report_conflict(problems, rule, action,
					     "is advised where what it needs is never",
					     clause->text);
	}
	for (size_t i = 0; i < technique->n_not_when; i++) {
		const struct tp_guide_condition *clause = &technique->not_when[i];
		if (clause->when && tp_bounds_truth(bounds, clause->when) == TP_ALWAYS)
			n += report_conflict(problems, rule, action,
					     "is advised where the guide says not to",
					     clause->text);
	}
	const struct tp_guide_condition *done = &technique->done;
	if (done->when && tp_bounds_truth(bounds, done->when) == TP_ALWAYS)
		n += report_conflict(problems, rule, action, "is advised where it is done",
				     done->when_written);
	return n;
}

static size_t check_action(const struct tp_bounds *of_rule, const struct tp_rulebook *book,
			   const struct tp_rule *rule, const struct tp_rule_action *action,
			   struct tp_buf *problems)
{
	struct tp_bounds bounds = *of_rule;
	const struct tp_technique *technique =
		action->is_own ? NULL : tp_catalogue_technique(&book->catalogue, action->technique);
	if (action->when) {
		tp_bounds_apply(&bounds, action->when);
		if (tp_bounds_truth(&bounds, action->when) == TP_NEVER)
			return report_conflict(problems, rule, action,
					       "is never advised by this rule",
					       action->when_written);
	}
	return technique ? check_technique(&bounds, rule, action, technique, problems) : 0;
}

size_t tp_rule_check_conflicts(const struct tp_rulebook *book, const struct tp_rule *rule,
			       struct tp_buf *problems)
{
	struct tp_bounds bounds;
	size_t n = 0;
	tp_bounds_init(&bounds);
	apply_rule(&bounds, book, rule);
	const char *impossible = find_impossible(&bounds, rule);
	if (impossible) {
		tp_buf_printf(problems, "%s: it can never fire, because of '%s'\n", rule->path,
			      impossible);
		return 1;
	}
	for (size_t i = 0; i < rule->n_actions; i++)
		n += check_action(&bounds, book, rule, &rule->actions[i], problems);
	return n;
}
