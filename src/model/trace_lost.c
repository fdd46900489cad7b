/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the records that a trace lacks. */
#include "trainprof/base/map.h"
#include "trainprof/model/trace.h"

/* Numbers come from a file: a sum stays at the largest number instead of beginning again at 0. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Names are interned: the same name has the same address. Collisions of its hash do not matter. */
static uint64_t key(const char *name)
{
	return tp_hash_mix((uint64_t)(uintptr_t)name, 0);
}

uint64_t tp_trace_n_lost(const struct tp_trace *trace)
{
	uint64_t n = trace->n_dropped;
	struct tp_map of_gaps = {0};
	for (size_t i = 0; i < trace->n_timed_gaps; i++) {
		const struct tp_timed_gap *gap = &trace->timed_gaps[i];
		uint64_t before = 0;
		(void)tp_map_get(&of_gaps, key(gap->source), &before);
		tp_map_set(&of_gaps, key(gap->source), sum(before, gap->n_lost));
	}
	for (size_t i = 0; i < trace->n_sources; i++) {
		const struct tp_source *source = &trace->sources[i];
		uint64_t name = key(tp_trace_string(trace, source->name));
		uint64_t in_gaps = 0;
		(void)tp_map_get(&of_gaps, name, &in_gaps);
		(void)tp_map_remove(&of_gaps, name);
		n = sum(n, in_gaps > source->n_lost ? in_gaps : source->n_lost);
	}
	/* Records that the recording itself could not write are counted by no source. */
	size_t cursor = 0;
	uint64_t name;
	uint64_t rest;
	while (tp_map_next(&of_gaps, &cursor, &name, &rest))
		n = sum(n, rest);
	tp_map_release(&of_gaps);
	return n;
}
