/* SPDX-License-Identifier: Apache-2.0 */
/* The losses of a CPU of which the phase is known, to find the one that stands for another. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PREEMPTION_MODEL_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PREEMPTION_MODEL_H

#include "analyze/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_N_PREEMPTION_GROUPS = TP_N_THREAD_ROLES * 4 };

/* One loss, as far as it is compared. */
struct tp_preemption_key {
	int group; /* what else tells losses apart, numbered by the caller from 0 */
	uint64_t time_ns;
	uint64_t stay_ns; /* on the CPU, before */
	uint64_t wait_ns; /* for another one */
};

struct tp_preemption_model_cell;

/* Begins zeroed. */
struct tp_preemption_model {
	struct tp_preemption_model_cell
		*cells; /* heap, by group and both lengths; NULL: nothing is known */
	size_t n[TP_N_PREEMPTION_GROUPS];
};

/* Losses come in order of time. */
void tp_preemption_model_add(struct tp_preemption_model *self, const struct tp_preemption_key *loss,
			     enum tp_phase phase);
/*
 * The phase of the one that is most like it: the fewest powers of two away in stay, wait and, of
 * seconds, time together, and of those the nearest in time. Another group makes it as unlike as a
 * length eight times longer or shorter. False where none is known.
 */
bool tp_preemption_model_find(const struct tp_preemption_model *self,
			      const struct tp_preemption_key *loss, enum tp_phase *out);
void tp_preemption_model_release(struct tp_preemption_model *self);

#endif
