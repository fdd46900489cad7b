/* SPDX-License-Identifier: Apache-2.0 */
/* Finds conditions of a rule that no run can meet, and advice that contradicts the guide. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_CONTRADICTION_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_CONTRADICTION_H

#include "book.h"

/* Adds one line for each conflict to `problems`; returns their number. */
size_t tp_rule_check_conflicts(const struct tp_rulebook *book, const struct tp_rule *rule,
			       struct tp_buf *problems);

#endif
