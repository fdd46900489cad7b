/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which findings are shown as advice, and in which order. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_FINDING_ORDER_H
#define TRAINPROF_SRC_ADVISE_JUDGE_FINDING_ORDER_H

#include "advise/rulebook/book.h"
#include "gain.h"

#include "trainprof/model/finding.h"

struct tp_candidate {
	const struct tp_rule *rule;
	struct tp_finding finding;
	struct tp_gain gain;
	const struct tp_idiom_result *idiom; /* of the rule, if it was seen; else NULL */
};

/* Sets the reason why fired advice is not shown: too small, already done, or covered by a more
 * precise one. */
void tp_finding_order_suppress(struct tp_candidate *candidates, size_t n,
			       const struct tp_rulebook *book, struct tp_arena *arena);
/* Sorts: advice by how sure it is, what has only an upper bound after what has a known gain, then
 * by the gain that is printed, with advice that changes the training after its equals; then fired
 * but suppressed, notes, quiet, not judged. Returns the number of advices. */
size_t tp_finding_order_sort(struct tp_candidate *candidates, size_t n);

#endif
