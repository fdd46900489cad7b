/* SPDX-License-Identifier: Apache-2.0 */
/* What others report of a technique, for a finding. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_REFERENCES_H
#define TRAINPROF_SRC_ADVISE_JUDGE_REFERENCES_H

#include "judge.h"

/* In matter->arena, with its conditions held against matter->facts; NULL when the guide of
 * matter->book has no such technique. */
const struct tp_references *tp_references_find(const struct tp_rule_context *matter,
					       const char *technique);

/*
 * Whether the run shows that a technique is applied already ("done_when"), and if so in *seen what
 * showed it, NULL where no setting did. What cannot be judged is not done. The guide of
 * matter->book need not have the technique.
 */
bool tp_references_is_applied(const struct tp_rule_context *matter, const char *technique,
			      const char **seen);

/* A copy of what is compared with; NULL gives NULL. */
const struct tp_yardstick *tp_references_yardstick(struct tp_arena *arena,
						   const struct tp_technique *from);

#endif
