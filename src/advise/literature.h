/* What others report of a technique, for a finding. */
#ifndef TRAINPROF_SRC_ADVISE_LITERATURE_H
#define TRAINPROF_SRC_ADVISE_LITERATURE_H

#include "judge.h"

/* In matter->arena, with its conditions held against matter->facts; NULL when the guide of
 * matter->book has no such technique. */
const struct tp_literature *tp_literature_find(const struct tp_matter *matter,
					       const char *technique);

/* A copy of what is compared with; NULL gives NULL. */
const struct tp_yardstick *tp_literature_yardstick(struct tp_arena *arena,
						   const struct tp_technique *from);

#endif
