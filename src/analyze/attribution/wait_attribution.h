/* SPDX-License-Identifier: Apache-2.0 */
/* Determines what keeps the main thread off its CPU, and which threads cause it. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_WAIT_ATTRIBUTION_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_WAIT_ATTRIBUTION_H

#include "analyze/analysis.h"
#include "wait_cut.h"

struct tp_wait_attribution {
	const struct tp_analysis *analysis;
	struct tp_wait_group loader;
	struct tp_wait_group team; /* threads of its own process */
	struct tp_wait_group pool; /* processes that compute its tasks */
	struct tp_pending_fetches fetches;
	bool has_loader_processes;
	bool has_peers;  /* other trainers in the tree */
	bool delegates;  /* the team computes and the main thread hardly at all */
	bool joins_team; /* the main thread waits for it inside functions of its runtime */
	bool swaps;
};

/* Needs timelines, thread roles, process roles and the main thread; `out` borrows from them. */
void tp_wait_attribution_build(struct tp_wait_attribution *out, const struct tp_analysis *analysis);

/* `segment` is not on a CPU; `class` is that of its stack. `before` is the part of the wait or
 * exchange that directly precedes it; TP_N_PARTS if none does. */
struct tp_wait tp_wait_attribution_find(const struct tp_wait_attribution *waiting,
					const struct tp_segment *segment,
					const struct tp_stack_class *class, enum tp_phase phase,
					enum tp_part before);
/* Returns true if a segment on a CPU spins for the loader or for another rank because no thread of
 * its own team works. */
bool tp_wait_attribution_find_spin(const struct tp_wait_attribution *waiting,
				   const struct tp_segment *segment,
				   const struct tp_stack_class *class, enum tp_phase phase,
				   struct tp_wait *out);

#endif
