/* SPDX-License-Identifier: Apache-2.0 */
/* Published results of a technique, for a finding. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_REFERENCES_H
#define TRAINPROF_SRC_ADVISE_JUDGE_REFERENCES_H

#include "judge.h"

/* Returns them in context->arena, with their conditions compared with context->facts; NULL if the
 * guide of context->book has no such technique. */
const struct tp_references *tp_references_find(const struct tp_rule_context *context,
					       const char *technique);

/* True if the run shows that a technique is applied already ("done_when"); *seen is then the
 * setting that showed it, NULL if none did. A condition that cannot be judged counts as not done.
 * The guide of context->book need not have the technique. */
bool tp_references_is_applied(const struct tp_rule_context *context, const char *technique,
			      const char **seen);

/* Returns a copy of the yardstick; NULL for NULL. */
const struct tp_yardstick *tp_references_yardstick(struct tp_arena *arena,
						   const struct tp_technique *from);

#endif
