/* SPDX-License-Identifier: Apache-2.0 */
/* The cases inside a rule: see rule.h for what one holds. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_RULE_CASE_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_RULE_CASE_H

#include "advise/condition/json_form.h"
#include "rule.h"

/* Fill rule->cases from the member "cases" of `root`; a mistake is kept in the form. */
void tp_rule_read_cases(struct tp_rule *rule, struct tp_json_form *form,
			const struct tp_json *root);

/* All tp_n_facts, in the arena; what the case does not give is missing. Cases are run by few
 * commands and read by all, so they keep only what they give. */
struct tp_quantity *tp_rule_case_facts(const struct tp_rule_case *test, struct tp_arena *arena);

#endif
