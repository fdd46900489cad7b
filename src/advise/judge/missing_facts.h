/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the facts that rules need, and which of the missing ones would help most. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_MISSING_FACTS_H
#define TRAINPROF_SRC_ADVISE_JUDGE_MISSING_FACTS_H

#include "advise/rulebook/book.h"

#include "trainprof/model/finding.h"

/* Marks the facts without which the rule cannot be judged. */
void tp_rule_mark_facts(const struct tp_rule *rule, bool used[TP_MAX_FACTS]);

/*
 * Fills `wanted` of judged findings: for each rule that is not judged, its largest possible gain is
 * shared among the facts that it lacks; the facts with the largest sums come first, at most
 * TP_MISSING_FACTS_MAX. Facts of a group of which none is known count half. A rule whose part takes
 * less than the smallest gain shown lacks nothing. While there is no verdict the six parts come
 * first.
 */
enum { TP_MISSING_FACTS_MAX = 5 };
void tp_missing_facts_fill(struct tp_findings *findings, const struct tp_rulebook *book,
			   const struct tp_quantity *facts);

#endif
