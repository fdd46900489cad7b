/* SPDX-License-Identifier: Apache-2.0 */
/* A run as tracks of slices: what trace viewers show. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_EVENTS_H
#define TRAINPROF_SRC_REPORT_EXPORT_EVENTS_H

#include "trainprof/model/profile.h"

enum { TP_EXPORT_ARGS_MAX = 12 };

/* A text, or where that is NULL a number. */
struct tp_export_arg {
	const char *key;
	const char *text;
	uint64_t number;
};

/* On a track slices are in order of their begin, and what encloses comes before what it encloses.
 * None laps over the end of another. Texts are borrowed, for the call only. */
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

/* All slices of a track come in one go, after its name. */
struct tp_export_event_sink {
	void *context;
	void (*process)(void *context, int64_t pid, const char *name);
	void (*track)(void *context, int64_t pid, int64_t tid, const char *name);
	void (*slice)(void *context, const struct tp_export_slice *slice);
};

/*
 * Threads: on the main thread's track its steps, and in them what it did, by labels; a slice with
 * an argument "judged" is of the time that the report's parts are made of. On the tracks of other
 * threads whether they were on a CPU or what they waited for. Streams of devices and threads of
 * imported traces: their spans.
 */
void tp_export_events_emit(const struct tp_profile *profile,
			   const struct tp_export_event_sink *sink);

#endif
