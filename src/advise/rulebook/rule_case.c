/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the cases inside a rule: facts with units, and the expected result. */
#include "rule_case.h"

#include "advise/condition/fact_value.h"

static void read_case(struct tp_json_form *form, struct tp_rule_case *out,
		      const struct tp_json *item)
{
	static const char *const keys[] = {"name",  "facts", "fires", "actions",
					   "level", "gain",  NULL};
	static const char *const levels[] = {"high", "medium", "low", NULL};
	tp_json_form_check_keys(form, item, "a case", keys);
	const struct tp_json *fires = tp_json_get(item, "fires");
	enum tp_json_type type = tp_json_type(fires);
	if (!fires || (type != TP_JSON_BOOL && type != TP_JSON_NULL))
		tp_json_form_fail(form, item, "'fires' is true, false or null (cannot be judged)");
	out->line = tp_json_line(item);
	out->expected = type == TP_JSON_NULL         ? TP_EXPECT_NOT_JUDGED
			: tp_json_bool(fires, false) ? TP_EXPECT_FIRES
						     : TP_EXPECT_QUIET;
	const struct tp_json *facts = tp_json_get(item, "facts");
	if (tp_json_type(facts) != TP_JSON_OBJECT)
		tp_json_form_fail(form, item, "'facts' is an object");
	out->facts = tp_arena_array(form->arena, tp_json_count(facts) + 1, sizeof(*out->facts));
	TP_JSON_EACH (member, facts) {
		if (form->status)
			return;
		tp_fact_id fact = tp_json_form_fact(form, member, tp_json_key(member));
		out->facts[out->n_facts++] =
			(struct tp_case_fact){fact, tp_fact_value_read(form, member, fact,
								       "left out by the case")};
	}
	if (tp_json_get(item, "actions"))
		out->techniques = tp_json_form_names(form, item, "actions", &out->n_techniques);
	out->has_level = tp_json_get(item, "level") != NULL;
	out->level = (enum tp_finding_level)tp_json_form_choice(form, item, "level", levels,
								TP_LEVEL_LOW);
	out->gain = tp_json_number(tp_json_get(item, "gain"), 0);
}

void tp_rule_read_cases(struct tp_rule *rule, struct tp_json_form *form, const struct tp_json *root)
{
	const struct tp_json *list = tp_json_form_list(form, root, "cases", false, &rule->n_cases);
	if (!list)
		return;
	rule->cases = tp_arena_array(form->arena, rule->n_cases, sizeof(*rule->cases));
	size_t i = 0;
	TP_JSON_EACH (item, list)
		read_case(form, &rule->cases[i++], item);
}

struct tp_quantity *tp_rule_case_facts(const struct tp_rule_case *test, struct tp_arena *arena)
{
	struct tp_quantity *facts = tp_arena_array(arena, tp_n_facts, sizeof(*facts));
	for (tp_fact_id i = 0; i < tp_n_facts; i++)
		facts[i].missing = "not in the case";
	for (size_t i = 0; i < test->n_facts; i++)
		facts[test->facts[i].id] = test->facts[i].value;
	return facts;
}
