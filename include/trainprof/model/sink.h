/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The destination of records: a recording on disk, a trace in memory, a counter in a test.
 *
 * The base interns strings, frames, stacks and details, so that equal things get equal ids in every
 * sink and an id is defined before it is used. An implementation embeds struct tp_sink first and
 * provides put. Not thread-safe: one thread writes.
 */
#ifndef TRAINPROF_MODEL_SINK_H
#define TRAINPROF_MODEL_SINK_H

#include "trainprof/base/arena.h"
#include "trainprof/base/map.h"
#include "trainprof/base/status.h"
#include "trainprof/base/strtab.h"
#include "trainprof/model/detail_table.h"
#include "trainprof/model/record.h"

struct tp_sink;

struct tp_sink_type {
	const char *name;
	/* Receives one record (borrowed for the call). Must not fail the run: a sink that can no
	 * longer write remembers the reason and ignores further records. */
	void (*put)(struct tp_sink *self, const struct tp_record *record);
};

/* Observes a record after the sink received it; borrowed for the call. */
typedef void tp_sink_watch_fn(void *context, const struct tp_record *record);

enum { TP_SINK_WATCHERS_MAX = 4 };

struct tp_sink_watcher {
	tp_sink_watch_fn *watch;
	void *context;
};

/* By the low bits of a hash: the first of a chain of frames or stacks; 0 = none. A list of numbers
 * of four bytes, since it grows as long as a program runs code that was not sampled before. */
struct tp_sink_index {
	uint32_t *heads;
	size_t n_heads; /* 0 or a power of two */
};

struct tp_sink {
	const struct tp_sink_type *type;
	struct tp_sink_watcher watchers[TP_SINK_WATCHERS_MAX];
	size_t n_watchers;
	struct tp_strtab strings;
	struct tp_sink_index frame_index;
	struct tp_sink_index stack_index;
	struct tp_arena arena;
	struct tp_sink_frame *frames; /* by id; 0 is unused */
	size_t n_frames;
	size_t frames_capacity;
	struct tp_sink_stack
		*stacks; /* 0 is the empty stack; from 1 on indexed by id - n_forgotten */
	size_t n_stacks;
	size_t stacks_capacity;
	/* A sink that does not need old stacks may set a limit in bytes, 0 = none: when it is
	 * exceeded, all stacks are forgotten, and a stack that recurs gets a new id. Programs may
	 * produce new stacks for days. */
	size_t stacks_limit;
	size_t stacks_bytes;
	uint32_t n_forgotten;
	struct tp_detail_table details;
	uint32_t n_tracks; /* ids allocated by tp_sink_new_track() */
};

void tp_sink_init(struct tp_sink *sink, const struct tp_sink_type *type);
void tp_sink_release(struct tp_sink *sink); /* the base only */

/* From now on `watch` observes all records of the functions below; it must not write records
 * itself. At most TP_SINK_WATCHERS_MAX at a time; each context once. */
void tp_sink_watch(struct tp_sink *sink, tp_sink_watch_fn *watch, void *context);
void tp_sink_end_watch(struct tp_sink *sink, const void *context);

uint32_t tp_sink_string(struct tp_sink *sink, const char *text); /* NULL and "" return 0 */
uint32_t tp_sink_frame(struct tp_sink *sink, const struct tp_frame *frame);
/* frame ids, leaf first; truncated to TP_STACK_MAX_FRAMES with TP_STACK_TRUNCATED set. */
uint32_t tp_sink_stack(struct tp_sink *sink, const uint32_t *frames, size_t n, uint32_t flags);
uint32_t tp_sink_detail(struct tp_sink *sink, const struct tp_detail *detail); /* all zero: 0 */

/* Allocates the id of the next track; TP_TRACKS_MAX if there are too many. */
uint32_t tp_sink_new_track(struct tp_sink *sink);

/* Return the value of an id; empty if the id does not exist, or no longer. A stack's frames are
 * borrowed. */
void tp_sink_frame_get(const struct tp_sink *sink, uint32_t id, struct tp_frame *out);
void tp_sink_stack_get(const struct tp_sink *sink, uint32_t id, struct tp_stack *out);
void tp_sink_detail_get(const struct tp_sink *sink, uint32_t id, struct tp_detail *out);

/* Shorthands that build the record and write it. Structs are borrowed for the call. */
void tp_sink_task(struct tp_sink *sink, const struct tp_task *task);
void tp_sink_run(struct tp_sink *sink, const struct tp_run *run);
void tp_sink_sample(struct tp_sink *sink, const struct tp_sample *sample);
void tp_sink_gauge(struct tp_sink *sink, enum tp_metric metric, uint32_t task, uint64_t time_ns,
		   double value);
void tp_sink_mark(struct tp_sink *sink, const struct tp_mark *mark);
void tp_sink_track(struct tp_sink *sink, const struct tp_track *track);
void tp_sink_span(struct tp_sink *sink, const struct tp_span *span);
void tp_sink_gap(struct tp_sink *sink, const char *source, const char *reason, uint64_t start_ns,
		 uint64_t end_ns, uint64_t n_lost);
void tp_sink_source(struct tp_sink *sink, const char *name, const char *summary,
		    const struct tp_availability *availability, uint64_t n_records,
		    uint64_t n_lost);

#endif
