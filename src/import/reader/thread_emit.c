/* SPDX-License-Identifier: Apache-2.0 */
/* Collects stays on CPUs and samples, and emits them in batches. Stacks are a tree that grows
 * from the innermost frame outwards, so rows of frames need not be kept until their stack is
 * complete. */
#include "thread_emit.h"

#include "import_session.h"
#include "importer.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/strtab.h"

#include <stdlib.h>

enum { BATCH = 4096, NOT_EMITTED = 0 };

struct emit_thread {
	struct tp_rank_writer *writer;
	uint32_t name; /* in strings */
	int64_t pid, tid;
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t emitted_as; /* id of the task, plus one */
	uint16_t track;
};

struct frame {
	enum tp_frame_kind kind;
	uint32_t module, symbol; /* in strings */
	uint32_t emitted_as;     /* the sink's id */
};

struct node {
	uint32_t inner; /* 0 for the innermost frame */
	uint32_t frame; /* 0 = unknown from here on */
	uint32_t emitted_as;
};

struct emit_item {
	bool is_run;
	uint16_t thread;
	union {
		struct tp_run run;
		struct tp_sample sample;
	} of;
};

struct tp_thread_emitter {
	struct tp_import_session *session;
	struct tp_strtab strings;
	struct emit_thread *threads;
	size_t n_threads;
	size_t threads_capacity;
	struct tp_map thread_ids; /* writer and track -> index */
	struct frame *frames;     /* index 0 is unused, also in nodes */
	size_t n_frames;
	size_t frames_capacity;
	struct tp_map frame_ids; /* module, symbol, kind -> index */
	struct node *nodes;
	size_t n_nodes;
	size_t nodes_capacity;
	struct tp_map node_ids; /* inner and frame -> index */
	struct emit_item batch[BATCH];
	size_t n_batch;
};

struct tp_thread_emitter *tp_thread_emitter_new(struct tp_import_reader *import)
{
	struct tp_thread_emitter *emitter = tp_alloc(sizeof(*emitter));
	emitter->session = import->session;
	tp_strtab_init(&emitter->strings);
	TP_ARRAY_PUSH(emitter->frames, emitter->n_frames, emitter->frames_capacity) =
		(struct frame){0};
	TP_ARRAY_PUSH(emitter->nodes, emitter->n_nodes, emitter->nodes_capacity) = (struct node){0};
	return emitter;
}

/* ---- emitting; the session is locked ---- */

static void task_emit(struct tp_thread_emitter *emitter, struct emit_thread *thread, bool is_over)
{
	struct tp_import_session *session = emitter->session;
	if (thread->emitted_as == NOT_EMITTED)
		thread->emitted_as = ++session->n_tasks;
	const struct tp_task task = {
		.id = thread->emitted_as - 1,
		.tid = (pid_t)thread->tid,
		.pid = (pid_t)thread->pid,
		.parent = TP_NO_TASK,
		.start_ns = thread->first_ns,
		.end_ns = is_over ? thread->last_ns : 0,
		.comm = tp_sink_string(session->sink,
				       tp_strtab_text(&emitter->strings, thread->name)),
	};
	tp_sink_task(session->sink, &task);
}

static uint32_t frame_emit(struct tp_thread_emitter *emitter, uint32_t id)
{
	struct tp_sink *sink = emitter->session->sink;
	struct frame *frame = &emitter->frames[id];
	if (frame->emitted_as != NOT_EMITTED)
		return frame->emitted_as;
	struct tp_frame emitted = {.kind = frame->kind};
	emitted.module = tp_sink_string(sink, tp_strtab_text(&emitter->strings, frame->module));
	emitted.symbol = tp_sink_string(sink, tp_strtab_text(&emitter->strings, frame->symbol));
	frame->emitted_as = tp_sink_frame(sink, &emitted);
	return frame->emitted_as;
}

static uint32_t stack_emit(struct tp_thread_emitter *emitter, uint32_t id)
{
	uint32_t frames[TP_STACK_MAX_FRAMES];
	struct node *node = &emitter->nodes[id];
	uint32_t flags = 0;
	size_t n = 0;
	if (id == 0 || node->emitted_as != NOT_EMITTED)
		return node->emitted_as;
	for (uint32_t at = id; at; at = emitter->nodes[at].inner) {
		if (!emitter->nodes[at].frame)
			flags = TP_STACK_TRUNCATED;
		else
			n++;
	}
	/* The sink expects the outermost frame first; if there are too many, the innermost are
	 * kept. */
	size_t left = n;
	for (uint32_t at = id; at; at = emitter->nodes[at].inner) {
		if (emitter->nodes[at].frame && left-- <= TP_STACK_MAX_FRAMES)
			frames[left] = frame_emit(emitter, emitter->nodes[at].frame);
	}
	if (n > TP_STACK_MAX_FRAMES) {
		n = TP_STACK_MAX_FRAMES;
		flags = TP_STACK_TRUNCATED;
	}
	node->emitted_as = tp_sink_stack(emitter->session->sink, frames, n, flags);
	return node->emitted_as;
}

static void item_emit(struct tp_thread_emitter *emitter, struct emit_item *item)
{
	struct emit_thread *thread = &emitter->threads[item->thread];
	if (thread->emitted_as == NOT_EMITTED)
		task_emit(emitter, thread, false);
	if (item->is_run) {
		item->of.run.task = thread->emitted_as - 1;
		tp_sink_run(emitter->session->sink, &item->of.run);
		return;
	}
	item->of.sample.task = thread->emitted_as - 1;
	item->of.sample.stack = stack_emit(emitter, item->of.sample.stack);
	tp_sink_sample(emitter->session->sink, &item->of.sample);
}

static void flush_batch(struct tp_thread_emitter *emitter)
{
	pthread_mutex_lock(&emitter->session->lock);
	for (size_t i = 0; i < emitter->n_batch; i++)
		item_emit(emitter, &emitter->batch[i]);
	emitter->session->n_thread_records += emitter->n_batch;
	pthread_mutex_unlock(&emitter->session->lock);
	emitter->n_batch = 0;
}

static void threads_end(struct tp_thread_emitter *emitter)
{
	struct tp_import_session *session = emitter->session;
	pthread_mutex_lock(&session->lock);
	for (size_t i = 0; i < emitter->n_threads; i++) {
		struct emit_thread *thread = &emitter->threads[i];
		if (thread->emitted_as == NOT_EMITTED)
			continue;
		task_emit(emitter, thread, true);
		if (thread->first_ns < session->first_ns)
			session->first_ns = thread->first_ns;
		if (thread->last_ns > session->last_ns)
			session->last_ns = thread->last_ns;
	}
	pthread_mutex_unlock(&session->lock);
	/* The tracks of writers are not shared, so this needs no lock. */
	for (size_t i = 0; i < emitter->n_threads; i++)
		if (emitter->threads[i].emitted_as != NOT_EMITTED)
			tp_rank_writer_track_task(emitter->threads[i].writer,
						  emitter->threads[i].track,
						  emitter->threads[i].emitted_as - 1);
}

void tp_thread_emitter_free(struct tp_thread_emitter *emitter)
{
	if (!emitter)
		return;
	flush_batch(emitter);
	threads_end(emitter);
	tp_strtab_release(&emitter->strings);
	free(emitter->threads);
	tp_map_release(&emitter->thread_ids);
	free(emitter->frames);
	tp_map_release(&emitter->frame_ids);
	free(emitter->nodes);
	tp_map_release(&emitter->node_ids);
	free(emitter);
}

/* ---- threads ---- */

uint16_t tp_thread_emitter_thread(struct tp_thread_emitter *emitter, struct tp_rank_writer *writer,
				  uint16_t track, int64_t pid, int64_t tid)
{
	uint64_t key = tp_hash_mix((uint64_t)(uintptr_t)writer, track);
	uint64_t index;
	if (track == TP_NO_TRACK)
		return TP_NO_THREAD;
	if (tp_map_get(&emitter->thread_ids, key, &index))
		return (uint16_t)index;
	if (emitter->n_threads >= TP_NO_THREAD)
		return TP_NO_THREAD;
	index = emitter->n_threads;
	tp_map_set(&emitter->thread_ids, key, index);
	TP_ARRAY_PUSH(emitter->threads, emitter->n_threads,
		      emitter->threads_capacity) = (struct emit_thread){
		.writer = writer, .pid = pid, .tid = tid, .track = track, .first_ns = UINT64_MAX};
	return (uint16_t)index;
}

void tp_thread_emitter_name(struct tp_thread_emitter *emitter, uint16_t thread, const char *name,
			    size_t len)
{
	emitter->threads[thread].name = tp_strtab_intern_len(&emitter->strings, name, len);
}

static struct emit_item *item_add(struct tp_thread_emitter *emitter, uint16_t thread,
				  uint64_t first_ns, uint64_t last_ns)
{
	if (emitter->n_batch == BATCH)
		flush_batch(emitter);
	struct emit_thread *of = &emitter->threads[thread];
	if (first_ns < of->first_ns)
		of->first_ns = first_ns;
	if (last_ns > of->last_ns)
		of->last_ns = last_ns;
	struct emit_item *item = &emitter->batch[emitter->n_batch++];
	item->thread = thread;
	return item;
}

void tp_thread_emitter_run(struct tp_thread_emitter *emitter, uint16_t thread, uint64_t start_ns,
			   uint64_t end_ns, enum tp_run_end how, uint32_t cpu)
{
	struct emit_item *item = item_add(emitter, thread, start_ns, end_ns);
	item->is_run = true;
	item->of.run =
		(struct tp_run){.cpu = cpu, .start_ns = start_ns, .end_ns = end_ns, .how = how};
}

void tp_thread_emitter_sample(struct tp_thread_emitter *emitter, uint16_t thread, uint64_t time_ns,
			      enum tp_state state, uint32_t flags, uint32_t stack, uint32_t cpu)
{
	struct emit_item *item = item_add(emitter, thread, time_ns, time_ns);
	item->is_run = false;
	item->of.sample = (struct tp_sample){.state = state,
					     .cause = state == TP_STATE_BLOCKED ? TP_CAUSE_UNKNOWN
										: TP_CAUSE_NONE,
					     .flags = flags,
					     .stack = stack,
					     .cpu = cpu,
					     .syscall = -1,
					     .time_ns = time_ns};
}

/* ---- stacks ---- */

uint32_t tp_thread_emitter_frame(struct tp_thread_emitter *emitter, enum tp_frame_kind kind,
				 const char *module, size_t module_len, const char *symbol,
				 size_t symbol_len)
{
	/* Checked first, so that no names are kept for frames that are not. */
	if (emitter->n_frames > TP_THREAD_EMITTER_FRAMES_MAX)
		return 0;
	struct frame frame = {
		.kind = kind,
		.module = tp_strtab_intern_len(&emitter->strings, module, module_len),
		.symbol = tp_strtab_intern_len(&emitter->strings, symbol, symbol_len),
	};
	/* Ids of strings are below 2^31: a string has at least one byte. */
	uint64_t key =
		((uint64_t)frame.module << 32 | frame.symbol) * 2 + (kind == TP_FRAME_KERNEL);
	uint64_t id;
	if (tp_map_get(&emitter->frame_ids, key, &id))
		return (uint32_t)id;
	id = emitter->n_frames;
	tp_map_set(&emitter->frame_ids, key, id);
	TP_ARRAY_PUSH(emitter->frames, emitter->n_frames, emitter->frames_capacity) = frame;
	return (uint32_t)id;
}

uint32_t tp_thread_emitter_caller(struct tp_thread_emitter *emitter, uint32_t inner, uint32_t frame,
				  bool *is_full)
{
	uint64_t key = (uint64_t)inner << 32 | frame;
	uint64_t id;
	if (inner && !emitter->nodes[inner].frame) {
		*is_full = true;
		return inner;
	}
	if (tp_map_get(&emitter->node_ids, key, &id))
		return (uint32_t)id;
	if (emitter->n_nodes >= TP_THREAD_EMITTER_NODES_MAX) {
		*is_full = true;
		return inner;
	}
	id = emitter->n_nodes;
	tp_map_set(&emitter->node_ids, key, id);
	TP_ARRAY_PUSH(emitter->nodes, emitter->n_nodes, emitter->nodes_capacity) =
		(struct node){.inner = inner, .frame = frame};
	return (uint32_t)id;
}
