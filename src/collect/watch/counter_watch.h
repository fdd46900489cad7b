/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses which counters of Python programs are watched. A counter that has grown steadily at a
 * plausible rate gets a breakpoint on the word that each iteration writes; each write is emitted as
 * a mark (TP_MARK_WRITE) with the counter's name. Analysis decides whether the writes are the
 * counter's iterations: the values are also read at samples and must grow by the same number.
 *
 * The breakpoint is removed when the variable is no longer found at its address: its frame was
 * left, its dictionary grew, its object was freed. It is set again when the counter is found again.
 *
 * Not thread-safe. Does not read the target's memory itself.
 */
#ifndef TRAINPROF_SRC_COLLECT_WATCH_COUNTER_WATCH_H
#define TRAINPROF_SRC_COLLECT_WATCH_COUNTER_WATCH_H

#include "watch_list.h"

#include "trainprof/base/map.h"
#include "trainprof/model/sink.h"
#include "trainprof/stack/python.h"

#include <stddef.h>
#include <stdint.h>

struct tp_watched_counter;

struct tp_counter_watch {
	struct tp_watch_list *list;
	struct tp_sink *sink;
	struct tp_watched_counter **counters; /* heap, each on the heap: watches point to them */
	size_t n;
	size_t capacity;
	struct tp_map by_key; /* hash of task and name -> index */
	bool is_off;          /* no more breakpoints are set */
	uint64_t retry_ns;    /* no attempt before then: all registers were in use */
};

void tp_counter_watch_init(struct tp_counter_watch *self, struct tp_watch_list *list,
			   struct tp_sink *sink);
void tp_counter_watch_release(struct tp_counter_watch *self);

/* True if the variable at this address is still there, according to the last read. */
typedef bool tp_counter_is_at_fn(const void *context, const struct tp_task_tree_task *task,
				 uint64_t address);

/* Processes a read of the thread's counters: those that changed, with the string ids of their
 * names. now_ns: CLOCK_MONOTONIC. `is_at` is only called during this call. */
void tp_counter_watch_update(struct tp_counter_watch *self, const struct tp_task_tree_task *task,
			     const struct tp_python_counter *counters, const uint32_t *names,
			     size_t n, uint64_t now_ns, tp_counter_is_at_fn *is_at,
			     const void *context);

#endif
