/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the waits of threads that fetch a batch for a graph.
 *
 * Such a thread waits in turn for a batch and for the next request, for about as long, and few of
 * these waits are sampled. Their order says more than their length. A wait that begins after the
 * main thread has handed over a step and ends before the step does may be for the step's batch; a
 * wait for the next request lasts beyond the step, unless a call makes several steps. So the
 * samples of such waits decide for all of them.
 */
#include "pending_fetch.h"

#include "trainprof/base/search.h"

#include <stdlib.h>

/* The waits of one thread that may be for a batch, and what their own samples show. */
struct fetch_waits {
	struct tp_intervals waits;
	size_t n_fetching;
	size_t n_other;
};

static void add_wait(struct fetch_waits *found, const struct tp_analysis *analysis,
		     const struct tp_segment *segment)
{
	tp_intervals_add(&found->waits, segment->start_ns, segment->end_ns);
	if (segment->is_inferred || segment->sample == TP_NO_SAMPLE)
		return;
	uint32_t stack = analysis->trace->samples[segment->sample].stack;
	if (analysis->classes[stack].is_fetch_root)
		found->n_fetching++;
	else
		found->n_other++;
}

static bool is_exact_wait(const struct tp_segment *segment)
{
	return segment->state == TP_STATE_BLOCKED && !segment->is_sampled;
}

/* Takes from each wait of the main thread the waits of the other thread that began since the one
 * before and ended in it. */
static void find_waits(struct fetch_waits *found, const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_timeline *main = tp_analysis_timeline(analysis, analysis->main_task);
	const struct tp_timeline *own = &analysis->timelines[task];
	uint64_t since_ns = 0;
	size_t at = 0;
	for (size_t i = 0; i < main->n; i++) {
		const struct tp_segment *wait = &main->segments[i];
		if (!is_exact_wait(wait))
			continue;
		while (at < own->n && own->segments[at].start_ns < since_ns)
			at++;
		for (; at < own->n && own->segments[at].end_ns < wait->end_ns; at++)
			if (is_exact_wait(&own->segments[at]) &&
			    own->segments[at].end_ns > wait->start_ns)
				add_wait(found, analysis, &own->segments[at]);
		since_ns = wait->end_ns;
	}
}

static bool is_fetch_seen(const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++)
		if (analysis->classes[trace->samples[i].stack].is_fetch_root)
			return true;
	return false;
}

void tp_pending_fetch_build(struct tp_pending_fetches *out, const struct tp_analysis *analysis)
{
	struct tp_intervals all = {0};
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		if (analysis->threads[task].leader != analysis->profile->trainer ||
		    !is_fetch_seen(analysis, task))
			continue;
		out->is_seen = true;
		struct fetch_waits found = {0};
		if (task != analysis->main_task)
			find_waits(&found, analysis, task);
		for (size_t i = 0; found.n_fetching > found.n_other && i < found.waits.n; i++)
			tp_intervals_add(&all, found.waits.items[i].start_ns,
					 found.waits.items[i].end_ns);
		free(found.waits.items);
	}
	tp_intervals_merge(&all);
	out->waits.items = tp_arena_copy(analysis->arena, all.items, all.n * sizeof(*all.items));
	out->waits.n = out->waits.capacity = all.n;
	free(all.items);
}

struct tp_fetch tp_pending_fetch_first(const struct tp_pending_fetches *fetches,
				       const struct tp_segment *wait)
{
	const struct tp_intervals *list = &fetches->waits;
	size_t at;
	TP_FIND_FIRST(at, 0, list->n, list->items[at].end_ns > wait->start_ns);
	if (at == list->n || list->items[at].start_ns >= wait->end_ns)
		return (struct tp_fetch){0};
	struct tp_interval first = list->items[at];
	return (struct tp_fetch){
		.start_ns = first.start_ns > wait->start_ns ? first.start_ns : wait->start_ns,
		.end_ns = first.end_ns < wait->end_ns ? first.end_ns : wait->end_ns,
		.is_last = at + 1 == list->n || list->items[at + 1].start_ns >= wait->end_ns};
}
