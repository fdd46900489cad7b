/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the steady steps, and the kinds of the others. */
#ifndef TRAINPROF_SRC_ANALYZE_STEADY_STEP_KIND_H
#define TRAINPROF_SRC_ANALYZE_STEADY_STEP_KIND_H

#include "analyze/attribution/phase_time.h"

#include <stdbool.h>
#include <stddef.h>

/* Stretches of steps between which the step time shifts. */
struct tp_step_levels {
	size_t n;         /* 1 = no shift; 0 without steps */
	bool is_unsteady; /* no stretch has half of the steps: all count as one */
	bool is_shifted;  /* one has, but more than a warm-up is excluded */
};

/* Sets the kind of every step of the profile; CUT steps stay CUT. */
void tp_step_kind_assign(struct tp_step_levels *levels, struct tp_analysis *analysis,
			 const struct tp_phase_time *phases);

#endif
