/* SPDX-License-Identifier: Apache-2.0 */
/* The cases inside a rule: see rule.h for what one holds. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_RULE_CASE_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_RULE_CASE_H

#include "advise/condition/json_form.h"
#include "rule.h"

/* Fill rule->cases from the member "cases" of `root`; a mistake is kept in the form. */
void tp_rule_read_cases(struct tp_rule *rule, struct tp_json_form *form,
			const struct tp_json *root);

#endif
