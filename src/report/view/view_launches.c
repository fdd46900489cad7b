/* SPDX-License-Identifier: Apache-2.0 */
/* Finds who launched a kernel. */
#include "view_launches.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- calls ---- */

struct call {
	uint64_t key; /* rank and link */
	uint64_t start_ns;
	size_t path;
};

struct search {
	const struct tp_trace *trace;
	struct tp_map wanted;  /* keys of the kernels */
	struct tp_map indexes; /* hash of a path -> its index */
	struct tp_view_launch_path *paths;
	size_t n_paths;
	size_t paths_capacity;
	struct call *calls;
	size_t n_calls;
	size_t calls_capacity;
	const struct tp_span *open[TP_VIEW_LAUNCH_DEPTH];
	size_t depth;
	bool has_functions;
};

static uint64_t key_of(const struct tp_trace *trace, size_t track, const struct tp_span *span)
{
	return (uint64_t)trace->tracks[track].rank << 32 | span->link;
}

/* Names that differ from object to object or from step to step would make a path of each. */
static bool is_caller(const struct tp_trace *trace, const struct tp_span *span)
{
	static const char *const single[] = {"<built-in", "nn.Module: ", "ProfilerStep#"};
	for (size_t i = 0; i < TP_ARRAY_LEN(single); i++)
		if (tp_text_starts_with(tp_trace_string(trace, span->name), single[i]))
			return false;
	return span->kind != TP_SPAN_CALL;
}

/* A range that overlaps, such as that of a step, may keep spans open that have ended. */
static void copy_open(struct search *search, struct tp_view_launch_path *path, uint64_t at_ns)
{
	size_t n_functions = 0;
	for (size_t i = search->depth; i-- > 0;) {
		if (search->open[i]->end_ns <= at_ns)
			continue;
		path->names[path->depth++] = search->open[i]->name;
		n_functions += search->open[i]->kind == TP_SPAN_PYTHON;
	}
	search->has_functions |= n_functions > 1;
}

static size_t find_path(struct search *search, uint64_t at_ns)
{
	struct tp_view_launch_path path = {0};
	uint64_t index;
	copy_open(search, &path, at_ns);
	uint64_t hash = tp_hash_bytes(path.names, path.depth * sizeof(*path.names));
	if (tp_map_get(&search->indexes, hash, &index))
		return index;
	index = search->n_paths;
	TP_ARRAY_PUSH(search->paths, search->n_paths, search->paths_capacity) = path;
	tp_map_set(&search->indexes, hash, index);
	return index;
}

/* Enclosing spans come before those within them. */
static void add_calls_of(struct search *search, size_t track)
{
	const struct tp_track_spans *spans = &search->trace->spans[track];
	search->depth = 0;
	for (size_t i = 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		uint64_t key = key_of(search->trace, track, span);
		while (search->depth && search->open[search->depth - 1]->end_ns <= span->start_ns)
			search->depth--;
		if (span->kind == TP_SPAN_CALL && span->link &&
		    tp_map_get(&search->wanted, key, NULL))
			TP_ARRAY_PUSH(search->calls, search->n_calls, search->calls_capacity) =
				(struct call){key, span->start_ns,
					      find_path(search, span->start_ns)};
		else if (search->depth < TP_VIEW_LAUNCH_DEPTH && is_caller(search->trace, span))
			search->open[search->depth++] = span;
	}
}

static int call_order(const void *a, const void *b)
{
	const struct call *x = a;
	const struct call *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* A link may be used again: the last call before the kernel launched it. */
static void add_kernel(struct search *search, uint64_t key, const struct tp_span *kernel)
{
	const struct call wanted = {.key = key, .start_ns = kernel->start_ns};
	size_t at;
	TP_FIND_FIRST(at, 0, search->n_calls, call_order(&search->calls[at], &wanted) > 0);
	if (!at || search->calls[at - 1].key != key)
		return;
	struct tp_view_launch_path *path = &search->paths[search->calls[at - 1].path];
	path->time_ns += kernel->end_ns - kernel->start_ns;
	path->n++;
}

/* ---- kernels ---- */

typedef void kernel_callback(struct search *search, uint64_t key, const struct tp_span *kernel);

static void add_key(struct search *search, uint64_t key, const struct tp_span *kernel)
{
	if (kernel->link)
		tp_map_set(&search->wanted, key, 0);
}

static uint64_t each_kernel(struct search *search, const struct tp_profile *profile, uint32_t name,
			    kernel_callback *callback)
{
	uint64_t all_ns = 0;
	for (size_t track = 0; track < search->trace->n_tracks; track++) {
		const struct tp_track_spans *spans = &search->trace->spans[track];
		if (search->trace->tracks[track].device == TP_TRACK_THREAD)
			continue;
		for (size_t i = 0; i < spans->n; i++) {
			const struct tp_span *span = &spans->items[i];
			if (span->name != name || span->start_ns < profile->window_start_ns ||
			    span->start_ns >= profile->window_end_ns)
				continue;
			all_ns += span->end_ns - span->start_ns;
			callback(search, key_of(search->trace, track, span), span);
		}
	}
	return all_ns;
}

static int path_order(const void *a, const void *b)
{
	uint64_t x = ((const struct tp_view_launch_path *)a)->time_ns;
	uint64_t y = ((const struct tp_view_launch_path *)b)->time_ns;
	return (x < y) - (x > y);
}

void tp_view_launches_find(struct tp_view_launches *out, const struct tp_profile *profile,
			   uint32_t kernel)
{
	struct search search = {.trace = profile->trace};
	(void)each_kernel(&search, profile, kernel, add_key);
	for (size_t track = 0; track < search.trace->n_tracks; track++)
		if (search.trace->tracks[track].device == TP_TRACK_THREAD)
			add_calls_of(&search, track);
	if (search.n_calls)
		qsort(search.calls, search.n_calls, sizeof(*search.calls), call_order);
	uint64_t all_ns = each_kernel(&search, profile, kernel, add_kernel);
	if (search.n_paths)
		qsort(search.paths, search.n_paths, sizeof(*search.paths), path_order);
	while (search.n_paths && !search.paths[search.n_paths - 1].n)
		search.n_paths--;
	*out = (struct tp_view_launches){search.paths, search.n_paths, all_ns,
					 search.has_functions};
	tp_map_release(&search.wanted);
	tp_map_release(&search.indexes);
	free(search.calls);
}

void tp_view_launches_release(struct tp_view_launches *launches)
{
	free(launches->paths);
	*launches = (struct tp_view_launches){0};
}
