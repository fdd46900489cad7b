/* SPDX-License-Identifier: Apache-2.0 */
/* A wait of the main thread, and how it is cut by what it waits for. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_WAIT_CUT_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_WAIT_CUT_H

#include "analyze/analysis.h"
#include "group_activity.h"
#include "label.h"
#include "pending_fetch.h"

/* Kinds of waits: runnable, or blocked, by cause. */
enum { TP_WAIT_RUNNABLE, TP_WAIT_BLOCKED, TP_N_WAITS = TP_WAIT_BLOCKED + TP_N_CAUSES };

/* A group of threads that the main thread waits for. */
struct tp_wait_group {
	struct tp_activities activities;
	/* Time of the group in each activity, during waits of each kind with exact borders. */
	uint64_t meanwhile_ns[TP_N_WAITS][TP_N_ACTIVITIES];
};

unsigned tp_wait_kind(const struct tp_segment *segment);

/* Either a label, or a group of threads whose activity decides for each instant. */
struct tp_wait {
	enum tp_label label;
	const struct tp_wait_group *follow; /* NULL = the label applies */
	const enum tp_label *labels;        /* by activity of the group */
	/* NULL, or the group computes, and while it does not, this group is waited for */
	const struct tp_wait_group *behind;
	struct tp_fetch fetch; /* while it is pending, the wait is for data; empty = never */
	bool is_delegated;     /* what the group computes is the step */
};

/* The part to which a wait for loaders is attributed, by the activity of the loaders. */
extern const enum tp_label tp_wait_loader_labels[TP_N_ACTIVITIES];

/* Receives [start, end) of the segment; the calls are in order and cover it; some may be empty. */
typedef void tp_wait_callback(void *context, const struct tp_segment *segment, uint64_t start_ns,
			      uint64_t end_ns, enum tp_label label);
void tp_wait_cut(const struct tp_wait *wait, const struct tp_segment *segment,
		 tp_wait_callback *put, void *context);

#endif
