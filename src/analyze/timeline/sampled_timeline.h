/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reconstructs the activity of a thread while no switches were recorded, from samples alone.
 *
 * Probes (polls of /proc) are instants. Each one represents the time up to the midpoints between it
 * and its neighbours. The states that they find are not quite random, though: waking up for a probe
 * takes as long as a short wait, and takes a CPU. And a timer misses runs on a CPU that are shorter
 * than the time that it takes to fire. So where the kernel's accounting has the CPU time and the
 * runnable time of the thread, these totals are kept:
 *
 * A timer sample represents its period of CPU time, at the place where it was taken. The remaining
 * CPU time is in runs that the timer missed. They are short, between two waits of the same work: so
 * they take the stack of a nearby wait, if it is known, otherwise preliminarily that of the nearest
 * timer sample, and they are placed where probes found the thread running, as far as that is
 * enough. Such segments are marked as inferred. All remaining time is blocked.
 */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_SAMPLED_TIMELINE_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_SAMPLED_TIMELINE_H

#include "segments.h"

#include <stddef.h>
#include <stdint.h>

/* Adds segments that cover [from, until) of the task. `at` is its first sample that may be in this
 * range. Returns the first sample after it. */
size_t tp_sampled_timeline_add(struct tp_segments *out, const struct tp_trace *trace, uint32_t task,
			       size_t at, uint64_t from_ns, uint64_t until_ns);

#endif
