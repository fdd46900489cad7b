/* SPDX-License-Identifier: Apache-2.0 */
/* Determines what keeps the main thread off its CPU, and which threads cause it. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_WAIT_ATTRIBUTION_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_WAIT_ATTRIBUTION_H

#include "analyze/analysis.h"
#include "group_activity.h"

/* Kinds of waits: runnable, or blocked, by cause. */
enum { TP_WAIT_RUNNABLE, TP_WAIT_BLOCKED, TP_N_WAITS = TP_WAIT_BLOCKED + TP_N_CAUSES };

/* A group of threads that the main thread waits for. */
struct tp_wait_group {
	struct tp_activities activities;
	/* Time of the group in each activity, during waits of each kind with exact borders. */
	uint64_t meanwhile_ns[TP_N_WAITS][TP_N_ACTIVITIES];
};

struct tp_wait_attribution {
	const struct tp_analysis *analysis;
	struct tp_wait_group loader;
	struct tp_wait_group team; /* threads of its own process */
	struct tp_wait_group pool; /* processes that compute its tasks */
	bool has_loader_processes;
	bool has_peers;  /* other trainers in the tree */
	bool delegates;  /* the team computes and the main thread hardly at all */
	bool joins_team; /* the main thread waits for it inside functions of its runtime */
	bool swaps;
};

/* Either a label, or a group of threads whose activity decides for each instant. */
struct tp_wait {
	enum tp_label label;
	const struct tp_wait_group *follow; /* NULL = the label applies */
	const enum tp_label *labels;        /* by activity of the group */
	/* NULL, or the group computes, and while it does not, this group is waited for */
	const struct tp_wait_group *behind;
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

/* Receives [start, end) of the segment; the calls are in order and cover it; some may be empty. */
typedef void tp_wait_callback(void *context, const struct tp_segment *segment, uint64_t start_ns,
			      uint64_t end_ns, enum tp_label label);
void tp_wait_cut(const struct tp_wait *wait, const struct tp_segment *segment,
		 tp_wait_callback *put, void *context);

#endif
