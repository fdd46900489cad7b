/* SPDX-License-Identifier: Apache-2.0 */
/* A run as tracks of slices: what trace viewers show. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_EVENTS_H
#define TRAINPROF_SRC_REPORT_EXPORT_EVENTS_H

#include "trainprof/model/profile.h"

enum { TP_EXPORT_ARGS_MAX = 12 };

/* An argument: a text, or a number if the text is NULL. */
struct tp_export_arg {
	const char *key;
	const char *text;
	uint64_t number;
};

/* The slices of a track are sorted by their begin, and an enclosing slice comes before the slices
 * in it. No slice extends beyond the end of a slice that it begins in. Texts are borrowed for the
 * call only. */
struct tp_export_slice {
	int64_t pid;
	int64_t tid;
	uint64_t start_ns;
	uint64_t end_ns;
	const char *name;
	const char *category; /* "step", "part", "thread", "kernel" */
	struct tp_export_arg args[TP_EXPORT_ARGS_MAX];
	size_t n_args;
};

/* All slices of a track are emitted together, after its name. */
struct tp_export_event_sink {
	void *context;
	void (*process)(void *context, int64_t pid, const char *name);
	void (*track)(void *context, int64_t pid, int64_t tid, const char *name);
	void (*slice)(void *context, const struct tp_export_slice *slice);
};

/* Emits the tracks. On the main thread's track: its steps, and in them its activity by label; a
 * slice with an argument "judged" is part of the time that the report's parts consist of. On the
 * tracks of other threads: when they were on a CPU and what they waited for. On the tracks of
 * device streams and of threads of imported traces: their spans. */
void tp_export_events_emit(const struct tp_profile *profile,
			   const struct tp_export_event_sink *sink);

#endif
