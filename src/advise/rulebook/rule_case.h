/* SPDX-License-Identifier: Apache-2.0 */
/* The cases inside a rule: see rule.h for their members. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_RULE_CASE_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_RULE_CASE_H

#include "advise/condition/json_form.h"
#include "rule.h"

/* Fills rule->cases from the member "cases" of `root`; a mistake is kept in the form. */
void tp_rule_read_cases(struct tp_rule *rule, struct tp_json_form *form,
			const struct tp_json *root);

/* Returns all tp_n_facts facts, in the arena; facts that the case does not set are missing. Few
 * commands run cases but all commands read them, so a case keeps only the facts that it sets. */
struct tp_quantity *tp_rule_case_facts(const struct tp_rule_case *test, struct tp_arena *arena);

#endif
