/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps the main thread off its CPU, and whose doing that is. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_WAIT_ATTRIBUTION_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_WAIT_ATTRIBUTION_H

#include "analyze/analysis.h"
#include "group_activity.h"

/* Kinds of waits: wants a CPU, or is blocked, by cause. */
enum { TP_WAIT_RUNNABLE, TP_WAIT_BLOCKED, TP_N_WAITS = TP_WAIT_BLOCKED + TP_N_CAUSES };

/* Threads that the main thread waits for. */
struct tp_wait_group {
	struct tp_activities activities;
	/* How long the group did what during waits of each kind whose borders are exact. */
	uint64_t meanwhile_ns[TP_N_WAITS][TP_N_ACTIVITIES];
};

struct tp_wait_attribution {
	const struct tp_analysis *analysis;
	struct tp_wait_group loader;
	struct tp_wait_group team;
	bool has_loader_processes;
	bool has_peers;  /* other trainers in the tree */
	bool delegates;  /* the team computes and the main thread hardly does */
	bool joins_team; /* the main thread waits for it inside functions of its runtime */
	bool swaps;
};

/* Either a label, or a group of threads whose activity decides instant by instant. */
struct tp_wait {
	enum tp_label label;
	const struct tp_wait_group *follow; /* NULL: the label holds */
	const enum tp_label *labels;        /* of the group's activities */
	/* NULL, or the group's work is the math, and where it does nothing this one is waited for.
	 */
	const struct tp_wait_group *behind;
};

/* Needs timelines, thread roles, process roles and the main thread; `out` borrows from them. */
void tp_wait_attribution_build(struct tp_wait_attribution *out, const struct tp_analysis *analysis);

/* A piece that is not on a CPU; `class` is that of its stack. `before`: the part of the wait or
 * exchange that it follows at once; TP_N_PARTS when it follows none. */
struct tp_wait tp_wait_attribution_find(const struct tp_wait_attribution *waiting,
					const struct tp_segment *piece,
					const struct tp_stack_class *class, enum tp_phase phase,
					enum tp_part before);
/* A piece on a CPU: does it wait there for the loader or for another rank, since nobody of its own
 * team works? */
bool tp_wait_attribution_find_spin(const struct tp_wait_attribution *waiting,
				   const struct tp_segment *piece,
				   const struct tp_stack_class *class, enum tp_phase phase,
				   struct tp_wait *out);

/* Takes [start, end) of the piece; they come in order and cover it, some may be empty. */
typedef void tp_wait_callback(void *context, const struct tp_segment *piece, uint64_t start_ns,
			      uint64_t end_ns, enum tp_label label);
void tp_wait_cut(const struct tp_wait *wait, const struct tp_segment *piece, tp_wait_callback *put,
		 void *context);

#endif
