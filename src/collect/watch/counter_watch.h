/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the counters of Python programs are watched. A counter that has grown steadily at a
 * plausible rate gets a breakpoint on the word that each round writes; each write is put as a mark
 * (TP_MARK_WRITE) with the counter's name. Whether those are the counter's rounds is for analysis
 * to find out: values are read at samples all the while, and have to grow by as much.
 *
 * The breakpoint is taken down when the variable is no longer found where it was: its frame was
 * left, its dictionary grew, its object was freed. It is set again when the counter is found again.
 *
 * Not thread-safe. It reads no memory of the target itself.
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
	bool is_off;          /* set no more */
	uint64_t retry_ns;    /* not before then: the registers were taken */
};

void tp_counter_watch_init(struct tp_counter_watch *self, struct tp_watch_list *list,
			   struct tp_sink *sink);
void tp_counter_watch_release(struct tp_counter_watch *self);

/* Whether the variable that is written at this address is still there, as the last look found. */
typedef bool tp_counter_is_at_fn(const void *context, const struct tp_task_tree_task *task,
				 uint64_t address);

/*
 * A look at the counters of the thread: those that changed, with the string ids of their names.
 * now_ns: CLOCK_MONOTONIC. `is_at` is called before it returns.
 */
void tp_counter_watch_update(struct tp_counter_watch *self, const struct tp_task_tree_task *task,
			     const struct tp_python_counter *counters, const uint32_t *names,
			     size_t n, uint64_t now_ns, tp_counter_is_at_fn *is_at,
			     const void *context);

#endif
