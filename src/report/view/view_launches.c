/* SPDX-License-Identifier: Apache-2.0 */
/* Finds who launched a kernel. */
#include "view_launches.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/launch_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The kernels that one call launched and that have the searched name. */
struct launched {
	uint64_t time_ns;
	uint64_t n;
};

struct search {
	const struct tp_profile *profile;
	const struct tp_trace *trace;
	uint32_t name; /* of the kernels */
	uint64_t all_ns;
	struct tp_map calls; /* address of a call's span -> index into `launched` */
	struct launched *launched;
	size_t n_launched;
	size_t launched_capacity;
	struct tp_map indexes; /* hash of a path -> its index */
	struct tp_view_launch_path *paths;
	size_t n_paths;
	size_t paths_capacity;
	const struct tp_span **open; /* outermost first */
	size_t depth;
	size_t open_capacity;
	bool has_functions;
};

/* ---- kernels ---- */

static uint64_t key_of(const struct tp_span *call)
{
	return (uintptr_t)call;
}

static void add_kernel(struct search *search, const struct tp_launch_index *calls,
		       const struct tp_span *kernel)
{
	uint32_t track;
	uint64_t index;
	uint64_t time_ns = kernel->end_ns - kernel->start_ns;
	const struct tp_span *call =
		tp_launch_index_find(calls, kernel->link, kernel->start_ns, &track);
	search->all_ns += time_ns;
	if (!call)
		return;
	if (!tp_map_get(&search->calls, key_of(call), &index)) {
		index = search->n_launched;
		tp_map_set(&search->calls, key_of(call), index);
		TP_ARRAY_PUSH(search->launched, search->n_launched, search->launched_capacity) =
			(struct launched){0};
	}
	assert(search->launched && index < search->n_launched);
	search->launched[index].time_ns += time_ns;
	search->launched[index].n++;
}

static void add_kernels_of(struct search *search, const struct tp_launch_index *calls, size_t track)
{
	const struct tp_track_spans *spans = &search->trace->spans[track];
	for (size_t i = 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		if (span->name == search->name &&
		    span->start_ns >= search->profile->window_start_ns &&
		    span->start_ns < search->profile->window_end_ns)
			add_kernel(search, calls, span);
	}
}

/* A link is that of one rank. */
static void add_rank(struct search *search, uint32_t rank)
{
	const struct tp_trace *trace = search->trace;
	struct tp_launch_index calls;
	uint32_t *threads = tp_alloc(trace->n_tracks * sizeof(*threads));
	size_t n_threads = 0;
	for (size_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].rank == rank && trace->tracks[i].device == TP_TRACK_THREAD)
			threads[n_threads++] = (uint32_t)i;
	tp_launch_index_build(&calls, trace, threads, n_threads);
	for (size_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].rank == rank && trace->tracks[i].device != TP_TRACK_THREAD)
			add_kernels_of(search, &calls, i);
	tp_launch_index_release(&calls);
	free(threads);
}

static void add_ranks(struct search *search)
{
	struct tp_map done = {0};
	for (size_t i = 0; i < search->trace->n_tracks; i++) {
		uint32_t rank = search->trace->tracks[i].rank;
		if (tp_map_get(&done, rank, NULL))
			continue;
		tp_map_set(&done, rank, 0);
		add_rank(search, rank);
	}
	tp_map_release(&done);
}

/* ---- calls ---- */

/* Names that differ from object to object or from step to step would make a path of each. */
static bool is_caller(const struct tp_trace *trace, const struct tp_span *span)
{
	static const char *const single[] = {"<built-in", "nn.Module: ", "ProfilerStep#"};
	for (size_t i = 0; i < TP_ARRAY_LEN(single); i++)
		if (tp_text_starts_with(tp_trace_string(trace, span->name), single[i]))
			return false;
	return span->kind != TP_SPAN_CALL;
}

/* Copies the innermost callers. A range that overlaps, such as that of a step, may keep spans open
 * that have ended: those are dropped, so that no later call looks at them again. */
static void copy_open(struct search *search, struct tp_view_launch_path *path, uint64_t at_ns)
{
	const struct tp_span **open = search->open;
	size_t n_functions = 0;
	size_t from = search->depth;
	size_t kept = search->depth;
	while (from > 0 && path->depth < TP_VIEW_LAUNCH_DEPTH) {
		const struct tp_span *span = open[--from];
		if (span->end_ns <= at_ns)
			continue;
		open[--kept] = span;
		path->names[path->depth++] = span->name;
		n_functions += span->kind == TP_SPAN_PYTHON;
	}
	while (kept > from && kept < search->depth)
		open[from++] = open[kept++];
	search->depth -= kept - from;
	search->has_functions |= n_functions > 1;
}

static struct tp_view_launch_path *find_path(struct search *search, uint64_t at_ns)
{
	struct tp_view_launch_path path = {0};
	uint64_t index;
	copy_open(search, &path, at_ns);
	uint64_t hash = tp_hash_bytes(path.names, path.depth * sizeof(*path.names));
	if (!tp_map_get(&search->indexes, hash, &index)) {
		index = search->n_paths;
		TP_ARRAY_PUSH(search->paths, search->n_paths, search->paths_capacity) = path;
		tp_map_set(&search->indexes, hash, index);
	}
	return &search->paths[index];
}

static void add_call(struct search *search, const struct tp_span *call)
{
	uint64_t index;
	if (!tp_map_get(&search->calls, key_of(call), &index))
		return;
	struct tp_view_launch_path *path = find_path(search, call->start_ns);
	assert(search->launched && index < search->n_launched);
	path->time_ns += search->launched[index].time_ns;
	path->n += search->launched[index].n;
}

/* Enclosing spans come before those within them. */
static void add_calls_of(struct search *search, size_t track)
{
	const struct tp_track_spans *spans = &search->trace->spans[track];
	search->depth = 0;
	for (size_t i = 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		while (search->depth && search->open[search->depth - 1]->end_ns <= span->start_ns)
			search->depth--;
		if (span->kind == TP_SPAN_CALL)
			add_call(search, span);
		else if (is_caller(search->trace, span))
			/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
			TP_ARRAY_PUSH(search->open, search->depth, search->open_capacity) = span;
	}
}

/* ---- paths ---- */

static int path_order(const void *a, const void *b)
{
	uint64_t x = ((const struct tp_view_launch_path *)a)->time_ns;
	uint64_t y = ((const struct tp_view_launch_path *)b)->time_ns;
	return (x < y) - (x > y);
}

void tp_view_launches_find(struct tp_view_launches *out, const struct tp_profile *profile,
			   uint32_t kernel)
{
	struct search search = {.profile = profile, .trace = profile->trace, .name = kernel};
	add_ranks(&search);
	for (size_t track = 0; track < search.trace->n_tracks; track++)
		if (search.trace->tracks[track].device == TP_TRACK_THREAD)
			add_calls_of(&search, track);
	if (search.n_paths)
		qsort(search.paths, search.n_paths, sizeof(*search.paths), path_order);
	*out = (struct tp_view_launches){search.paths, search.n_paths, search.all_ns,
					 search.has_functions};
	tp_map_release(&search.calls);
	tp_map_release(&search.indexes);
	free(search.launched);
	free(search.open);
}

void tp_view_launches_release(struct tp_view_launches *launches)
{
	free(launches->paths);
	*launches = (struct tp_view_launches){0};
}
