/* SPDX-License-Identifier: Apache-2.0 */
/* Stores preemptions of known phase and finds the one that is most similar to another. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PREEMPTION_MODEL_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PREEMPTION_MODEL_H

#include "analyze/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_N_PREEMPTION_GROUPS = TP_N_THREAD_ROLES * 4 };

/* The properties of one preemption that are compared. */
struct tp_preemption_key {
	int group; /* other properties, numbered by the caller from 0 */
	uint64_t time_ns;
	uint64_t stay_ns; /* on the CPU, before the preemption */
	uint64_t wait_ns; /* for a CPU, after it */
};

struct tp_preemption_model_cell;

/* Initialize with zeros. */
struct tp_preemption_model {
	struct tp_preemption_model_cell
		*cells; /* heap, by group and both lengths; NULL = no preemption was added */
	size_t n[TP_N_PREEMPTION_GROUPS];
};

/* Preemptions must be added in time order. */
void tp_preemption_model_add(struct tp_preemption_model *self, const struct tp_preemption_key *loss,
			     enum tp_phase phase);
/* Returns the phase of the most similar preemption: the fewest powers of two away in stay, wait and
 * (in seconds) time together, and of those the nearest in time. Another group counts as much as a
 * length eight times longer or shorter. Returns false if none is known. */
bool tp_preemption_model_find(const struct tp_preemption_model *self,
			      const struct tp_preemption_key *loss, enum tp_phase *out);
void tp_preemption_model_release(struct tp_preemption_model *self);

#endif
