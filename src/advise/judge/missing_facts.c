/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the missing facts that would allow most rules to be judged. */
#include "missing_facts.h"

#include "gain.h"

#include "trainprof/model/fact.h"

#include <string.h>

void tp_rule_mark_facts(const struct tp_rule *rule, bool used[TP_MAX_FACTS])
{
	for (size_t i = 0; i < rule->n_needs; i++)
		used[rule->needs[i]] = true;
	for (size_t i = 0; i < rule->n_when; i++)
		tp_expr_facts(rule->when[i].expr, false, used);
	for (size_t i = 0; i < rule->n_unless; i++)
		tp_expr_facts(rule->unless[i].expr, false, used);
}

/* Marks only conditions that cannot be judged: `known(x) and x > 1` can, without x. */
static void mark_conditions(const struct tp_rule_condition *conditions, size_t n,
			    const struct tp_quantity *facts, bool used[TP_MAX_FACTS])
{
	for (size_t i = 0; i < n; i++)
		if (tp_expr_truth(conditions[i].expr, facts).value == TP_UNKNOWN)
			tp_expr_facts(conditions[i].expr, false, used);
}

static void mark_missing(const struct tp_rule *rule, const struct tp_quantity *facts,
			 bool used[TP_MAX_FACTS])
{
	for (size_t i = 0; i < rule->n_needs; i++)
		used[rule->needs[i]] = true;
	mark_conditions(rule->when, rule->n_when, facts, used);
	mark_conditions(rule->unless, rule->n_unless, facts, used);
}

struct missing_fact {
	double weight;
	size_t n_rules;
};

/* The largest possible gain of a rule, as a share of the step or loop. A rule without a gain only
 * shows where to search: a small value, but not zero. */
static double possible_gain(const struct tp_rule *rule, const struct tp_gain_input *basis,
			    double smallest)
{
	static const double OF_UNKNOWN_PART = 0.5;
	static const double OF_LOOP = 0.1;
	static const double WITHOUT_GAIN = 0.03;
	if (rule->is_note || rule->verdict.id)
		return 0;
	if (rule->gain.kind == TP_GAIN_NONE)
		return WITHOUT_GAIN;
	if (rule->gain.kind == TP_GAIN_LOOP)
		return OF_LOOP;
	const struct tp_gain_part *part = &basis->parts[rule->gain.part];
	if (!part->is_known)
		return OF_UNKNOWN_PART;
	double share = part->exposed_ns / basis->whole_ns;
	return share > smallest ? share : 0;
}

static void add_missing(struct missing_fact *wishes, const struct tp_rulebook *book,
			const struct tp_rule *rule, const struct tp_quantity *facts, double stake)
{
	bool used[TP_MAX_FACTS] = {false};
	size_t n_missing = 0;
	for (; rule; rule = rule->parent ? tp_rulebook_find(book, rule->parent) : NULL)
		mark_missing(rule, facts, used);
	for (int i = 0; i < TP_N_FACTS; i++)
		n_missing += used[i] && !facts[i].is_known;
	for (int i = 0; i < TP_N_FACTS; i++) {
		if (!used[i] || facts[i].is_known)
			continue;
		wishes[i].weight += stake / (double)n_missing;
		wishes[i].n_rules++;
	}
}

/* Without the six parts the limit of the run cannot be determined. */
static void add_parts(struct missing_fact *wishes, const struct tp_quantity *facts)
{
	static const double FIRST = 1e6;
	for (int i = TP_FACT_STEP_COMPUTE; i <= TP_FACT_STEP_IDLE; i++)
		if (!facts[i].is_known)
			wishes[i].weight += FIRST;
}

/* A user who knows one fact of a device can find others: "device.busy_ratio" makes
 * "device.copy_ratio" likely. For a group without any known fact the chance is smaller. */
static void raise_known_groups(struct missing_fact *wishes, const struct tp_quantity *facts)
{
	static const double ELSEWHERE = 0.5;
	for (int i = 0; i < TP_N_FACTS; i++) {
		const char *name = tp_fact_desc((tp_fact_id)i)->name;
		size_t len = strcspn(name, ".") + 1;
		bool is_known = false;
		for (int k = 0; k < TP_N_FACTS && !is_known; k++)
			is_known = facts[k].is_known &&
				   strncmp(tp_fact_desc((tp_fact_id)k)->name, name, len) == 0;
		if (!is_known)
			wishes[i].weight *= ELSEWHERE;
	}
}

void tp_missing_facts_fill(struct tp_findings *findings, const struct tp_rulebook *book,
			   const struct tp_quantity *facts)
{
	struct missing_fact wishes[TP_MAX_FACTS] = {{0}};
	struct tp_missing_fact wanted[TP_MISSING_FACTS_MAX];
	const struct tp_gain_input basis = tp_gain_input_of_facts(facts);
	double smallest = tp_thresholds_value(&book->thresholds, "gain.smallest", 0);
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct tp_rule *rule = tp_rulebook_find(book, findings->items[i].rule);
		double stake = rule ? possible_gain(rule, &basis, smallest) : 0;
		if (stake > 0 && findings->items[i].state == TP_FINDING_NOT_JUDGED)
			add_missing(wishes, book, rule, facts, stake);
	}
	raise_known_groups(wishes, facts);
	if (!findings->verdict)
		add_parts(wishes, facts);
	for (; findings->n_wanted < TP_MISSING_FACTS_MAX; findings->n_wanted++) {
		int best = 0;
		for (int i = 1; i < TP_N_FACTS; i++)
			if (wishes[i].weight > wishes[best].weight)
				best = i;
		if (!(wishes[best].weight > 0))
			break;
		wanted[findings->n_wanted] =
			(struct tp_missing_fact){.fact = (tp_fact_id)best,
						 .n_rules = wishes[best].n_rules};
		wishes[best].weight = 0;
	}
	if (findings->n_wanted)
		findings->wanted = tp_arena_copy(&findings->arena, wanted,
						 findings->n_wanted * sizeof(*wanted));
}
