/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of a trace: what every pass of the analysis may rely on and need not check.
 * tp_trace_build() enforces it for all producers: the store, importers (which write to the store)
 * and windows. Violations are left out and counted in n_dropped, or clipped where the list says so.
 *
 * Ids: Every string, frame, stack, detail, task or track id exists; 0 is the empty one of the first
 * four. TP_NO_TASK is allowed where record.h says so. The chain of a task's parents is finite: no
 * task is its own ancestor. Frames of a stack: at most TP_STACK_MAX_FRAMES.
 *
 * Kinds: Enumerations have one of their values. Spans of devices are on tracks of devices, others
 * on tracks of threads.
 *
 * Times: Start before end; at most TP_TRACE_NS_MAX since the start of the run, so that a sum of a
 * few times does not overflow. The end of a gap may be UINT64_MAX: that of the run.
 *
 * Numbers: Readings are finite and at most TP_TRACE_VALUE_MAX in size; those below its inverse are
 * 0, as is such a quota of the host; those of counters are not negative. CPUs are below
 * TP_TRACE_CPUS_MAX; others become CPU 0.
 *
 * Counts: At most TP_TRACKS_MAX tracks, TP_TRACE_SOURCES_MAX sources and TP_RANKS_MAX ranks. Any
 * list may be empty, tasks too: TP_NO_TASK is not an index.
 */
#ifndef TRAINPROF_MODEL_TRACE_CHECK_H
#define TRAINPROF_MODEL_TRACE_CHECK_H

#include "trainprof/model/trace.h"

#include <stdbool.h>

/* Ten years: no clock since boot has counted more. */
#define TP_TRACE_NS_MAX    (UINT64_C(10) * 366 * 86400 * 1000000000)
#define TP_TRACE_VALUE_MAX 1e18

enum { TP_TRACE_CPUS_MAX = 1 << 16, TP_TRACE_SOURCES_MAX = 64 };

/* Leaves out or clips violations. Called before sorting. */
void tp_trace_check(struct tp_trace *trace);

#endif
