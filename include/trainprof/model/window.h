/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last seconds of a continuing measurement: a sink that forgets. Write records to it, cut a
 * trace of any stretch that it still holds, and analyse that like a whole recording.
 *
 * State from before the stretch is kept where it is still needed, because a waiting thread reports
 * its wait only once: for each living task how its last stay on a CPU ended and the last sample of
 * its wait; for each metric and task the last reading; and phases that have begun. They are placed
 * at the start of the stretch.
 *
 * Memory: the contents of the stretch, the living tasks, and the names, frames and stacks of the
 * sink's base. Stacks are forgotten above 16 MiB (trainprof/model/sink.h); a wait that continues
 * across that loses its place, not its cause. Names and frames are kept, as many as the program has
 * places; see tp_window_is_full(). Not thread-safe.
 */
#ifndef TRAINPROF_MODEL_WINDOW_H
#define TRAINPROF_MODEL_WINDOW_H

#include "trainprof/model/run_info.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_window;

/* Holds at least the last keep_ns before the newest record. */
struct tp_window *tp_window_new(uint64_t keep_ns);
void tp_window_free(struct tp_window *window); /* NULL is allowed */

/* Borrowed. Spans and their tracks are not kept, except tracks of devices that have gauges. */
struct tp_sink *tp_window_sink(struct tp_window *window);

/* CLOCK_MONOTONIC of the newest record; 0 before the first. */
uint64_t tp_window_last_ns(const struct tp_window *window);

/* A trace of [from_ns, until_ns), CLOCK_MONOTONIC. Records that ended before from_ns are forgotten,
 * so later cuts must not begin earlier. `run` is copied; its times become those of the stretch. The
 * trace borrows nothing; tp_trace_release() frees it. */
void tp_window_cut(struct tp_window *window, struct tp_trace *out, const struct tp_run_info *run,
		   uint64_t from_ns, uint64_t until_ns);

/* True if names and frames use so much memory that the caller should start over with a new
 * window. */
bool tp_window_is_full(const struct tp_window *window);

#endif
