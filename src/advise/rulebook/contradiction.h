/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of a rule that no run can meet, and advice against what the guide says. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_CONTRADICTION_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_CONTRADICTION_H

#include "book.h"

/* A line each in `problems`; returns how many. */
size_t tp_rule_check_conflicts(const struct tp_rulebook *book, const struct tp_rule *rule,
			       struct tp_buf *problems);

#endif
