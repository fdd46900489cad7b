/* SPDX-License-Identifier: Apache-2.0 */
/* What a group of threads does at each instant: the most productive thing any of them does. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_GROUP_ACTIVITY_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_GROUP_ACTIVITY_H

#include "analyze/analysis.h"

/* In order of priority: a group in which one thread decodes and another sleeps is decoding. */
enum tp_activity_kind {
	TP_ACTIVITY_WORK,     /* on a CPU, at its own work */
	TP_ACTIVITY_SCRIPT,   /* the same, interpreting: of a compute team only */
	TP_ACTIVITY_READ,     /* reads from storage, on a CPU or waiting for it */
	TP_ACTIVITY_QUEUE,    /* wants a CPU */
	TP_ACTIVITY_TRANSFER, /* serialises, writes to a pipe, takes or gives back a lock */
	TP_ACTIVITY_SLEEP,
	TP_ACTIVITY_NONE, /* waits for room, for work, or for something unknown */
	TP_N_ACTIVITIES
};

struct tp_activity {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_activity_kind kind;
};

/* Covers [0, trace end) without holes; empty when the group has no thread. */
struct tp_activities {
	struct tp_activity *items;
	size_t n;
	size_t n_threads;
};

/* What one piece of a thread's timeline is. */
enum tp_activity_kind tp_activity_of(const struct tp_analysis *analysis, enum tp_thread_role role,
				     const struct tp_segment *piece);

/* Whether the piece is the work of that role. A pool of XLA or TensorFlow computes and loads by the
 * same threads: there the names on the stack tell; else it is the thread's role. */
bool tp_activity_is_of(const struct tp_analysis *analysis, enum tp_thread_role role, uint32_t task,
		       const struct tp_segment *piece);

/* What threads of `role` do that work for the judged trainer: its own, and loader processes below
 * it. */
void tp_activities_build(struct tp_activities *out, const struct tp_analysis *analysis,
			 enum tp_thread_role role);

/* Index of the item that contains the time; n when there is none. */
size_t tp_activities_find(const struct tp_activities *activities, uint64_t time_ns);

#endif
