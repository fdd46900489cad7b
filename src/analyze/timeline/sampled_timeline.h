/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread did while no switches were recorded: samples are all there is.
 *
 * Looks at the thread are instants. Each stands for the time around it, to the middle between it
 * and its neighbours. Which states they find is not quite chance, though: waking up for a look
 * takes as long as a short wait, and takes a CPU. And a timer misses stays on a CPU that are
 * shorter than it takes to fire. So where the kernel's books say how long the thread ran, and how
 * long it wanted to, these are kept to:
 *
 * A sample of the timer stands for its period of CPU time, where it was taken. CPU time that is
 * left then lies in stays which the timer missed. They are short, between two waits of the same
 * work: so they have the place of a wait nearby, if its stack is known, else for now that of the
 * timer's sample nearest to them, and they lie where looks found the thread running, as far as that
 * goes. Such pieces are marked as inferred. What is left in all is waits.
 */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_SAMPLED_TIMELINE_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_SAMPLED_TIMELINE_H

#include "segments.h"

#include <stddef.h>
#include <stdint.h>

/* Adds pieces that cover [from, until) of the task. `at` is its first sample that may lie in there.
 * Returns the first one behind. */
size_t tp_sampled_timeline_add(struct tp_segments *out, const struct tp_trace *trace, uint32_t task,
			       size_t at, uint64_t from_ns, uint64_t until_ns);

#endif
