/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps are steady, and what the others are. */
#ifndef TRAINPROF_SRC_ANALYZE_STEADY_STEP_KIND_H
#define TRAINPROF_SRC_ANALYZE_STEADY_STEP_KIND_H

#include "analyze/attribution/phase_time.h"

#include <stdbool.h>
#include <stddef.h>

/* Stretches of steps between which the step time shifts. */
struct tp_step_levels {
	size_t n;         /* 1 when it does not; 0 without steps */
	bool is_unsteady; /* none holds half of the steps: all count as one */
	bool is_shifted;  /* one does, but more than a warm-up is left out */
};

/* Set the kind of every step of the profile; those called CUT stay so. */
void tp_step_kind_assign(struct tp_step_levels *levels, struct tp_analysis *analysis,
			 const struct tp_phase_time *phases);

#endif
