/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last seconds of a measurement that goes on: a sink that forgets. Pour records into it, cut a
 * trace of any stretch that it still holds, and the analysis is the one of a whole recording.
 *
 * What was before the stretch is not lost altogether, since a thread that waits says so once and
 * then nothing: of each living task the way in which its last stay ended, and the last look at its
 * wait; of each metric and task the last reading; phases that were begun. They are put at the
 * stretch's begin.
 *
 * Memory: what the stretch holds, the living tasks, and the names, frames and stacks of the sink's
 * base. Stacks are forgotten above 16 MiB (trainprof/model/sink.h); a wait that goes on over that
 * loses its place, not its cause. Names and frames stay: as many as the program has places, see
 * tp_window_is_full(). Not thread-safe.
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

/* Borrowed. Spans and their tracks are not kept; the tracks of devices are that have gauges. */
struct tp_sink *tp_window_sink(struct tp_window *window);

/* CLOCK_MONOTONIC of the newest record; 0 before the first. */
uint64_t tp_window_last_ns(const struct tp_window *window);

/*
 * A trace of [from_ns, until_ns), CLOCK_MONOTONIC; what ended before from_ns is forgotten, so a
 * later cut begins there or later. `run` is copied; its times become those of the stretch. The
 * trace borrows nothing; tp_trace_release() frees it.
 */
void tp_window_cut(struct tp_window *window, struct tp_trace *out, const struct tp_run_info *run,
		   uint64_t from_ns, uint64_t until_ns);

/* Whether names and frames have come to take so much memory that whoever pours should begin anew,
 * with another window. */
bool tp_window_is_full(const struct tp_window *window);

#endif
