/* SPDX-License-Identifier: Apache-2.0 */
/* Interns strings, frames, stacks and details for every kind of sink. */
#include "trainprof/model/sink.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Memory of a stack in addition to its frames: its entries in the list and in the index, and room
 * for more. */
enum { NO_MORE = 0, STACK_EXTRA = 64, HEADS_MIN = 64 };

struct link {
	uint32_t hash;
	uint32_t next; /* in the chain; NO_MORE = last */
};

struct tp_sink_frame {
	struct link link; /* must be first, as in a stack: the index finds it there */
	struct tp_frame frame;
};

struct tp_sink_stack {
	struct link link;
	struct tp_stack stack;
};

/* ---- index of frames, and of stacks ---- */

static uint32_t index_head(const struct tp_sink_index *index, uint32_t hash)
{
	return index->n_heads ? index->heads[hash & (index->n_heads - 1)] : NO_MORE;
}

static void index_release(struct tp_sink_index *index)
{
	free(index->heads);
	*index = (struct tp_sink_index){0};
}

static void index_link(struct tp_sink_index *index, void *items, size_t item_bytes, size_t i)
{
	struct link *link = (struct link *)(void *)((char *)items + i * item_bytes);
	uint32_t *head = &index->heads[link->hash & (index->n_heads - 1)];
	link->next = *head;
	*head = (uint32_t)i;
}

/* Adds the last of n items; item 0 is in no chain. */
static void index_add(struct tp_sink_index *index, void *items, size_t item_bytes, size_t n)
{
	size_t n_heads = index->n_heads ? index->n_heads : HEADS_MIN;
	if (index->n_heads && n <= n_heads) {
		index_link(index, items, item_bytes, n - 1);
		return;
	}
	while (n_heads < n)
		n_heads *= 2;
	index_release(index);
	index->heads = tp_alloc(n_heads * sizeof(*index->heads));
	index->n_heads = n_heads;
	for (size_t i = 1; i < n; i++)
		index_link(index, items, item_bytes, i);
}

void tp_sink_init(struct tp_sink *sink, const struct tp_sink_type *type)
{
	*sink = (struct tp_sink){.type = type};
	tp_strtab_init(&sink->strings);
	TP_ARRAY_PUSH(sink->frames, sink->n_frames, sink->frames_capacity) =
		(struct tp_sink_frame){0};
	TP_ARRAY_PUSH(sink->stacks, sink->n_stacks, sink->stacks_capacity) =
		(struct tp_sink_stack){0};
	tp_detail_table_init(&sink->details);
}

void tp_sink_release(struct tp_sink *sink)
{
	tp_strtab_release(&sink->strings);
	index_release(&sink->frame_index);
	index_release(&sink->stack_index);
	tp_arena_release(&sink->arena);
	free(sink->frames);
	free(sink->stacks);
	tp_detail_table_release(&sink->details);
	*sink = (struct tp_sink){0};
}

static void sink_put(struct tp_sink *sink, const struct tp_record *record)
{
	sink->type->put(sink, record);
	for (size_t i = 0; i < sink->n_watchers; i++)
		sink->watchers[i].watch(sink->watchers[i].context, record);
}

void tp_sink_watch(struct tp_sink *sink, tp_sink_watch_fn *watch, void *context)
{
	tp_sink_end_watch(sink, context);
	if (sink->n_watchers < TP_SINK_WATCHERS_MAX)
		sink->watchers[sink->n_watchers++] = (struct tp_sink_watcher){watch, context};
}

void tp_sink_end_watch(struct tp_sink *sink, const void *context)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < sink->n_watchers; i++)
		if (sink->watchers[i].context != context)
			sink->watchers[n_kept++] = sink->watchers[i];
	sink->n_watchers = n_kept;
}

uint32_t tp_sink_string(struct tp_sink *sink, const char *text)
{
	if (!text)
		return 0;
	size_t before = sink->strings.n;
	uint32_t id = tp_strtab_intern(&sink->strings, text);
	if (sink->strings.n != before) {
		struct tp_record record = {.kind = TP_RECORD_STRING, .id = id};
		record.of.string = tp_strtab_text(&sink->strings, id);
		sink_put(sink, &record);
	}
	return id;
}

static uint64_t frame_hash(const struct tp_frame *f)
{
	uint64_t hash = tp_hash_mix((uint64_t)f->kind << 32 | f->flags,
				    (uint64_t)f->module << 32 | f->symbol);
	hash = tp_hash_mix(hash, (uint64_t)f->file << 32 | f->line);
	return tp_hash_mix(hash, tp_hash_mix(f->address, f->function_start));
}

static bool frame_equal(const struct tp_frame *a, const struct tp_frame *b)
{
	return a->kind == b->kind && a->flags == b->flags && a->module == b->module &&
	       a->symbol == b->symbol && a->file == b->file && a->line == b->line &&
	       a->address == b->address && a->function_start == b->function_start;
}

uint32_t tp_sink_frame(struct tp_sink *sink, const struct tp_frame *frame)
{
	uint32_t hash = (uint32_t)frame_hash(frame);
	for (uint32_t id = index_head(&sink->frame_index, hash); id != NO_MORE;
	     id = sink->frames[id].link.next)
		if (sink->frames[id].link.hash == hash &&
		    frame_equal(&sink->frames[id].frame, frame))
			return id;
	uint32_t id = (uint32_t)sink->n_frames;
	TP_ARRAY_PUSH(sink->frames, sink->n_frames, sink->frames_capacity) =
		(struct tp_sink_frame){.frame = *frame, .link.hash = hash};
	index_add(&sink->frame_index, sink->frames, sizeof(*sink->frames), sink->n_frames);
	struct tp_record record = {.kind = TP_RECORD_FRAME, .id = id};
	record.of.frame = *frame;
	sink_put(sink, &record);
	return id;
}

static void clear_stacks(struct tp_sink *sink)
{
	sink->n_forgotten += (uint32_t)sink->n_stacks - 1;
	sink->n_stacks = 1;
	sink->stacks_bytes = 0;
	index_release(&sink->stack_index);
	tp_arena_release(&sink->arena);
}

uint32_t tp_sink_stack(struct tp_sink *sink, const uint32_t *frames, size_t n, uint32_t flags)
{
	if (n == 0)
		return 0;
	if (n > TP_STACK_MAX_FRAMES) {
		n = TP_STACK_MAX_FRAMES;
		flags |= TP_STACK_TRUNCATED;
	}
	uint32_t hash = (uint32_t)tp_hash_mix(tp_hash_bytes(frames, n * sizeof(*frames)), flags);
	for (uint32_t i = index_head(&sink->stack_index, hash); i != NO_MORE;
	     i = sink->stacks[i].link.next) {
		const struct tp_stack *there = &sink->stacks[i].stack;
		if (sink->stacks[i].link.hash == hash && there->n_frames == n &&
		    there->flags == flags &&
		    memcmp(there->frames, frames, n * sizeof(*frames)) == 0)
			return sink->n_forgotten + i;
	}
	if (sink->stacks_limit && sink->stacks_bytes > sink->stacks_limit)
		clear_stacks(sink);
	uint32_t i = (uint32_t)sink->n_stacks;
	struct tp_stack stack = {.n_frames = (uint32_t)n, .flags = flags};
	stack.frames = tp_arena_copy(&sink->arena, frames, n * sizeof(*frames));
	TP_ARRAY_PUSH(sink->stacks, sink->n_stacks, sink->stacks_capacity) =
		(struct tp_sink_stack){.stack = stack, .link.hash = hash};
	sink->stacks_bytes += n * sizeof(*frames) + STACK_EXTRA;
	index_add(&sink->stack_index, sink->stacks, sizeof(*sink->stacks), sink->n_stacks);
	struct tp_record record = {.kind = TP_RECORD_STACK, .id = sink->n_forgotten + i};
	record.of.stack = stack;
	sink_put(sink, &record);
	return record.id;
}

uint32_t tp_sink_detail(struct tp_sink *sink, const struct tp_detail *detail)
{
	size_t before = sink->details.n;
	uint32_t id = tp_detail_table_intern(&sink->details, detail);
	if (sink->details.n != before) {
		struct tp_record record = {.kind = TP_RECORD_DETAIL, .id = id};
		record.of.detail = *detail;
		sink_put(sink, &record);
	}
	return id;
}

void tp_sink_detail_get(const struct tp_sink *sink, uint32_t id, struct tp_detail *out)
{
	*out = *tp_detail_table_get(&sink->details, id);
}

void tp_sink_frame_get(const struct tp_sink *sink, uint32_t id, struct tp_frame *out)
{
	*out = sink->frames[id < sink->n_frames ? id : 0].frame;
}

void tp_sink_stack_get(const struct tp_sink *sink, uint32_t id, struct tp_stack *out)
{
	uint32_t i = id > sink->n_forgotten ? id - sink->n_forgotten : 0;
	*out = sink->stacks[i < sink->n_stacks ? i : 0].stack;
}

void tp_sink_task(struct tp_sink *sink, const struct tp_task *task)
{
	struct tp_record record = {.kind = TP_RECORD_TASK, .id = task->id};
	record.of.task = *task;
	sink_put(sink, &record);
}

void tp_sink_run(struct tp_sink *sink, const struct tp_run *run)
{
	struct tp_record record = {.kind = TP_RECORD_RUN};
	record.of.run = *run;
	sink_put(sink, &record);
}

void tp_sink_sample(struct tp_sink *sink, const struct tp_sample *sample)
{
	struct tp_record record = {.kind = TP_RECORD_SAMPLE};
	record.of.sample = *sample;
	sink_put(sink, &record);
}

void tp_sink_gauge(struct tp_sink *sink, enum tp_metric metric, uint32_t task, uint64_t time_ns,
		   double value)
{
	struct tp_record record = {.kind = TP_RECORD_GAUGE};
	record.of.gauge = (struct tp_gauge){metric, task, time_ns, value};
	sink_put(sink, &record);
}

void tp_sink_mark(struct tp_sink *sink, const struct tp_mark *mark)
{
	struct tp_record record = {.kind = TP_RECORD_MARK};
	record.of.mark = *mark;
	sink_put(sink, &record);
}

uint32_t tp_sink_new_track(struct tp_sink *sink)
{
	return sink->n_tracks < TP_TRACKS_MAX ? sink->n_tracks++ : TP_TRACKS_MAX;
}

void tp_sink_track(struct tp_sink *sink, const struct tp_track *track)
{
	struct tp_record record = {.kind = TP_RECORD_TRACK, .id = track->id};
	record.of.track = *track;
	sink_put(sink, &record);
}

void tp_sink_span(struct tp_sink *sink, const struct tp_span *span)
{
	struct tp_record record = {.kind = TP_RECORD_SPAN};
	record.of.span = *span;
	sink_put(sink, &record);
}

void tp_sink_gap(struct tp_sink *sink, const char *source, const char *reason, uint64_t start_ns,
		 uint64_t end_ns, uint64_t n_lost)
{
	struct tp_record record = {.kind = TP_RECORD_GAP};
	record.of.gap.source = tp_sink_string(sink, source);
	record.of.gap.reason = tp_sink_string(sink, reason);
	record.of.gap.start_ns = start_ns;
	record.of.gap.end_ns = end_ns;
	record.of.gap.n_lost = n_lost;
	sink_put(sink, &record);
}

void tp_sink_source(struct tp_sink *sink, const char *name, const char *summary,
		    const struct tp_availability *availability, uint64_t n_records, uint64_t n_lost)
{
	struct tp_record record = {.kind = TP_RECORD_SOURCE};
	record.of.source.name = tp_sink_string(sink, name);
	record.of.source.summary = tp_sink_string(sink, summary);
	record.of.source.presence = availability->presence;
	record.of.source.reason = tp_sink_string(sink, availability->reason);
	record.of.source.remedy = tp_sink_string(sink, availability->remedy);
	record.of.source.n_records = n_records;
	record.of.source.n_lost = n_lost;
	sink_put(sink, &record);
}
