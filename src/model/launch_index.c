/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the call that launched an operation on a device. */
#include "trainprof/model/launch_index.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

/* Position of a call: track in the high bits, index in the low bits; REPEATED for links that occur
 * more than once. */
enum { PLACE_BITS = 40 };
static const uint64_t REPEATED = UINT64_MAX;

struct tp_launch_repeat {
	uint64_t start_ns;
	uint64_t place;
	uint32_t link;
};

static const struct tp_span *span_at(const struct tp_launch_index *index, uint64_t place)
{
	const struct tp_track_spans *spans = &index->trace->spans[place >> PLACE_BITS];
	return &spans->items[place & ((UINT64_C(1) << PLACE_BITS) - 1)];
}

static void add_repeat(struct tp_launch_index *index, uint32_t link, uint64_t place)
{
	TP_ARRAY_PUSH(index->repeats, index->n_repeats, index->capacity) =
		(struct tp_launch_repeat){span_at(index, place)->start_ns, place, link};
}

static void add_call(struct tp_launch_index *index, uint32_t link, uint64_t place)
{
	uint64_t before;
	if (!tp_map_get(&index->places, link, &before)) {
		tp_map_set(&index->places, link, place);
		return;
	}
	if (before != REPEATED) {
		add_repeat(index, link, before);
		tp_map_set(&index->places, link, REPEATED);
	}
	add_repeat(index, link, place);
}

static int repeat_order(const void *a, const void *b)
{
	const struct tp_launch_repeat *x = a;
	const struct tp_launch_repeat *y = b;
	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void tp_launch_index_build(struct tp_launch_index *index, const struct tp_trace *trace,
			   const uint32_t *tracks, size_t n_tracks)
{
	*index = (struct tp_launch_index){.trace = trace};
	for (size_t i = 0; i < n_tracks; i++) {
		const struct tp_track_spans *spans = &trace->spans[tracks[i]];
		for (size_t k = 0; k < spans->n; k++)
			if (spans->items[k].kind == TP_SPAN_CALL && spans->items[k].link)
				add_call(index, spans->items[k].link,
					 (uint64_t)tracks[i] << PLACE_BITS | k);
	}
	if (index->n_repeats)
		qsort(index->repeats, index->n_repeats, sizeof(*index->repeats), repeat_order);
}

void tp_launch_index_release(struct tp_launch_index *index)
{
	tp_map_release(&index->places);
	free(index->repeats);
	*index = (struct tp_launch_index){0};
}

/* For a link with several calls. */
static uint64_t nearest_before(const struct tp_launch_index *index, uint32_t link,
			       uint64_t start_ns)
{
	const struct tp_launch_repeat wanted = {start_ns, UINT64_MAX, link};
	size_t at;
	TP_FIND_FIRST(at, 0, index->n_repeats, repeat_order(&index->repeats[at], &wanted) >= 0);
	bool is_there = at && index->repeats[at - 1].link == link;
	return index->repeats[is_there ? at - 1 : at].place;
}

const struct tp_span *tp_launch_index_find(const struct tp_launch_index *index, uint32_t link,
					   uint64_t start_ns, uint32_t *track)
{
	uint64_t place;
	if (!link || !tp_map_get(&index->places, link, &place))
		return NULL;
	if (place == REPEATED)
		place = nearest_before(index, link, start_ns);
	*track = (uint32_t)(place >> PLACE_BITS);
	return span_at(index, place);
}
