/* SPDX-License-Identifier: Apache-2.0 */
/* Activity of a group of threads at each instant: the most productive one of any member. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_GROUP_ACTIVITY_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_GROUP_ACTIVITY_H

#include "analyze/analysis.h"

/* In order of priority: a group with one decoding and one sleeping thread is decoding. */
enum tp_activity_kind {
	TP_ACTIVITY_WORK,     /* on a CPU, at its own work */
	TP_ACTIVITY_SCRIPT,   /* the same, in the interpreter: only for a compute team */
	TP_ACTIVITY_READ,     /* reads from storage, on a CPU or waiting for it */
	TP_ACTIVITY_QUEUE,    /* waits for a CPU */
	TP_ACTIVITY_TRANSFER, /* serialises, writes to a pipe, acquires or releases a lock */
	TP_ACTIVITY_SLEEP,
	TP_ACTIVITY_EXCHANGE, /* waits for other ranks: only for a compute team */
	TP_ACTIVITY_NONE,     /* waits for room, for work, or for something unknown */
	TP_N_ACTIVITIES
};

struct tp_activity {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_activity_kind kind;
};

/* Covers [0, trace end) without gaps; empty if the group has no thread. */
struct tp_activities {
	struct tp_activity *items;
	size_t n;
	size_t n_threads;
};

/* Returns the activity of one segment of a thread's timeline. */
enum tp_activity_kind tp_activity_of(const struct tp_analysis *analysis, enum tp_thread_role role,
				     const struct tp_segment *segment);

/* Returns true if the segment is work of that role. The threads of an XLA or TensorFlow pool both
 * compute and load: there the names on the stack decide, otherwise the role of the thread. */
bool tp_activity_is_of(const struct tp_analysis *analysis, enum tp_thread_role role, uint32_t task,
		       const struct tp_segment *segment);

/* Builds the activity of the threads with `role` that work for the judged trainer: its own threads
 * and those of loader processes below it. */
void tp_activities_build(struct tp_activities *out, const struct tp_analysis *analysis,
			 enum tp_thread_role role);

/* The same for the processes of its pool, which compute its tasks. */
void tp_activities_build_pool(struct tp_activities *out, const struct tp_analysis *analysis);

/* Returns the index of the item that contains the time; n if there is none. */
size_t tp_activities_find(const struct tp_activities *activities, uint64_t time_ns);

#endif
