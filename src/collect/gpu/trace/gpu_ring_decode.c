/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the events of a GPU agent to records. */
#include "gpu_ring_decode.h"

#include "gpu_decoder_internal.h"
#include "gpu_event_name.h"
#include "gpu_ring_reader.h"
#include "nccl_match.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CALLS_MAX = 1 << 16,     /* calls whose waits may still arrive */
	WAITS_MAX = 1024,        /* waits whose calls have not arrived */
	NCCL_KERNELS_MAX = 1024, /* kernels of NCCL whose calls have not arrived */
	LEN_LONG = 1000,         /* ns in the unit of long durations */
};

/* Longest time for which a kernel of NCCL waits for its call. */
#define NCCL_MATCH_TIMEOUT_NS (2 * TP_NS_PER_S)

static const uint64_t SYNC_CALL = UINT64_MAX;

struct tp_gpu_decoder *tp_gpu_decoder_new(const struct tp_gpu_decoder_config *config)
{
	struct tp_gpu_decoder *teller = tp_alloc(sizeof(*teller));
	teller->config = *config;
	teller->talk = tp_nccl_match_new(config->sink, config->rank);
	return teller;
}

void tp_gpu_decoder_free(struct tp_gpu_decoder *teller)
{
	if (!teller)
		return;
	for (size_t i = 0; i < teller->n_threads; i++)
		free(teller->threads[i].ranges);
	tp_map_release(&teller->names);
	tp_map_release(&teller->places);
	tp_map_release(&teller->thread_ids);
	tp_map_release(&teller->calls);
	free(teller->threads);
	free(teller->waits);
	tp_map_release(&teller->domains);
	tp_nccl_match_free(teller->talk);
	free(teller->talks);
	free(teller->started);
	free(teller);
}

const struct tp_gpu_decode_stats *tp_gpu_decoder_get_stats(const struct tp_gpu_decoder *teller)
{
	return &teller->told;
}

/* ---- names ---------------------------------------------------------------------------------- */

enum name_use { OF_KERNEL, OF_CALL, OF_COPY, OF_SET, N_USES };

static void make_name(struct tp_buf *out, const struct tp_gpu_decoder *teller, enum name_use use,
		      uint32_t id, unsigned call)
{
	size_t length = 0;
	const char *name = use == OF_COPY || use == OF_SET
				   ? NULL
				   : tp_gpu_ring_reader_name(teller->config.file, id, &length);
	if (use == OF_COPY)
		tp_gpu_name_copy(out, id);
	else if (use == OF_SET)
		tp_gpu_name_set(out, id);
	else if (use == OF_CALL)
		tp_gpu_name_call(out, name, length, call);
	else if (!name)
		tp_buf_puts(out, "kernel without a name");
	else
		tp_gpu_name_kernel(out, teller->config.demangler, name, length);
}

/* Names in the ring never change, so each is created once. */
static uint32_t name_of(struct tp_gpu_decoder *teller, enum name_use use, uint32_t id,
			unsigned call)
{
	uint64_t key = ((uint64_t)id << 16 | (call & 0xff)) * N_USES + use;
	uint64_t known;
	if (tp_map_get(&teller->names, key, &known))
		return (uint32_t)known;
	struct tp_buf text = {0};
	make_name(&text, teller, use, id, call);
	known = tp_sink_string(teller->config.sink, tp_buf_text(&text));
	tp_buf_release(&text);
	tp_map_set(&teller->names, key, known);
	return (uint32_t)known;
}

/* ---- spans ---------------------------------------------------------------------------------- */

static bool times_of(const struct tp_gpu_decoder *teller, const struct tp_gpu_event *event,
		     uint64_t *start_ns, uint64_t *end_ns)
{
	uint64_t length_ns = event->dur;
	if (event->flags & TP_GPU_FLAG_LONG)
		length_ns *= LEN_LONG;
	if (event->flags & TP_GPU_FLAG_HOST_CLOCK)
		*start_ns = event->t0;
	else if (!tp_gpu_clocks_host(&teller->config.file->clocks, event->t0, start_ns))
		return false;
	*end_ns = *start_ns + length_ns;
	/* A record cannot arrive before its end, although it may seem so if a clock was set. */
	return *start_ns && *end_ns >= *start_ns && *end_ns <= teller->now_ns + TP_GPU_AHEAD_NS;
}

static bool is_nccl_kernel(const struct tp_gpu_decoder *teller, uint32_t name)
{
	const char *text = tp_strtab_text(&teller->config.sink->strings, name);
	return strncmp(text, "nccl", 4) == 0;
}

static void emit_kernel(struct tp_gpu_decoder *teller, const struct tp_gpu_kernel *kernel,
			uint32_t told)
{
	struct tp_detail detail = {0};
	if (told)
		tp_sink_detail_get(teller->config.sink, told, &detail);
	detail.blocks = kernel->blocks;
	detail.threads = kernel->threads;
	tp_gpu_decoder_emit_span(teller, kernel->track, TP_SPAN_KERNEL, kernel->name,
				 kernel->start_ns, kernel->end_ns, kernel->link,
				 tp_sink_detail(teller->config.sink, &detail));
}

/* Returns false while the call is unknown, up to a time limit. */
static bool emit_nccl_kernel(struct tp_gpu_decoder *teller, const struct tp_gpu_kernel *kernel)
{
	uint32_t told = 0;
	bool is_late = teller->now_ns > kernel->told_ns + NCCL_MATCH_TIMEOUT_NS;
	if (!tp_nccl_match_find(teller->talk, kernel->link, &told) && kernel->link && !is_late &&
	    tp_nccl_match_is_used(teller->talk) && teller->n_talks < NCCL_KERNELS_MAX)
		return false;
	emit_kernel(teller, kernel, told);
	return true;
}

static void decode_kernel(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event)
{
	struct tp_gpu_kernel kernel = {
		.track = tp_gpu_decoder_emit_stream(teller, event->place),
		.link = event->link,
		.blocks = (uint32_t)event->x,
		.threads = event->x >> 32 & UINT16_MAX,
		.told_ns = teller->now_ns,
	};
	if (kernel.track >= TP_TRACKS_MAX ||
	    !times_of(teller, event, &kernel.start_ns, &kernel.end_ns)) {
		teller->told.n_unplaced++;
		return;
	}
	kernel.name = name_of(teller, OF_KERNEL, event->id, 0);
	if (!is_nccl_kernel(teller, kernel.name))
		emit_kernel(teller, &kernel, 0);
	else if (!emit_nccl_kernel(teller, &kernel))
		TP_ARRAY_PUSH(teller->talks, teller->n_talks, teller->talks_capacity) = kernel;
}

static void decode_memory_op(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	bool is_copy = event->type == TP_GPU_EVENT_COPY;
	uint32_t track = tp_gpu_decoder_emit_stream(teller, event->place);
	if (track >= TP_TRACKS_MAX || !times_of(teller, event, &start_ns, &end_ns)) {
		teller->told.n_unplaced++;
		return;
	}
	const struct tp_detail detail = {.bytes = event->x};
	tp_gpu_decoder_emit_span(teller, track, is_copy ? TP_SPAN_COPY : TP_SPAN_SET,
				 name_of(teller, is_copy ? OF_COPY : OF_SET, event->id, 0),
				 start_ns, end_ns, event->link,
				 tp_sink_detail(teller->config.sink, &detail));
}

/* A wait has the link of the call that contains it, which determines the waiting thread. */
static void add_call(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event,
		     const struct tp_gpu_thread *thread)
{
	unsigned call = event->place;
	if (!event->link || call == TP_GPU_CALL_GRAPH_LAUNCH)
		return;
	if (call == TP_GPU_CALL_LAUNCH) {
		uint64_t start_ns;
		uint64_t end_ns;
		if (times_of(teller, event, &start_ns, &end_ns))
			tp_nccl_match_launch(teller->talk, (size_t)(thread - teller->threads),
					     event->link, start_ns);
		return;
	}
	if (teller->calls.n >= CALLS_MAX)
		tp_map_release(&teller->calls);
	tp_map_set(&teller->calls, event->link,
		   call == TP_GPU_CALL_SYNC ? SYNC_CALL : (uint64_t)(thread - teller->threads));
}

static void decode_call(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	struct tp_gpu_thread *thread = NULL;
	if (event->place == TP_GPU_CALL_QUERY)
		return;
	if (times_of(teller, event, &start_ns, &end_ns))
		thread = tp_gpu_decoder_thread(teller, (uint32_t)event->x, event->flags, start_ns);
	if (!thread) {
		teller->told.n_unplaced++;
		return;
	}
	tp_gpu_decoder_emit_span(teller, thread->track, TP_SPAN_CALL,
				 name_of(teller, OF_CALL, event->id, event->place), start_ns,
				 end_ns, event->link, 0);
	add_call(teller, event, thread);
}

/* Returns false while its call is unknown. */
static bool emit_wait(struct tp_gpu_decoder *teller, const struct tp_gpu_wait *wait)
{
	uint64_t at;
	if (!tp_map_get(&teller->calls, wait->link, &at))
		return false;
	if (at != SYNC_CALL && at < teller->n_threads)
		tp_gpu_decoder_emit_span(teller, teller->threads[at].track, TP_SPAN_CALL,
					 tp_sink_string(teller->config.sink,
							tp_gpu_name_wait(wait->sync)),
					 wait->start_ns, wait->end_ns, 0, 0);
	return true;
}

static void decode_wait(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event)
{
	struct tp_gpu_wait wait = {.link = event->link, .sync = event->id};
	if (!tp_gpu_name_wait(event->id) || !event->link)
		return;
	if (!times_of(teller, event, &wait.start_ns, &wait.end_ns)) {
		teller->told.n_unplaced++;
		return;
	}
	if (!emit_wait(teller, &wait) && teller->n_waits < WAITS_MAX)
		TP_ARRAY_PUSH(teller->waits, teller->n_waits, teller->waits_capacity) = wait;
}

static void decode_overhead(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	const char *name = tp_gpu_name_overhead(event->id);
	if (!times_of(teller, event, &start_ns, &end_ns))
		return;
	if (!name && event->id != TP_GPU_OVERHEAD_QUEUE_FULL && event->id)
		teller->told.cupti_ns += end_ns - start_ns;
	struct tp_gpu_thread *thread =
		name && event->x
			? tp_gpu_decoder_thread(teller, (uint32_t)event->x, event->flags, start_ns)
			: NULL;
	if (thread)
		tp_gpu_decoder_emit_span(teller, thread->track, TP_SPAN_ANNOTATION,
					 tp_sink_string(teller->config.sink, name), start_ns,
					 end_ns, 0, 0);
}

/* ---- all events ----------------------------------------------------------------------------- */

/* Forgets all open ranges, because their ends may be among the dropped events. */
static void decode_loss(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event)
{
	uint64_t until_ns = event->t0 <= teller->now_ns ? event->t0 : teller->now_ns;
	uint64_t from_ns = teller->before_ns < until_ns ? teller->before_ns : until_ns;
	teller->told.n_lost += event->x;
	tp_nvtx_decode_reset(teller);
	tp_sink_gap(teller->config.sink, teller->config.source,
		    "GPU events came faster than they were read", from_ns, until_ns, event->x);
}

/* Before the first window there may be NVTX ranges, but no GPU work. */
static void decode_open(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event)
{
	bool is_first = !teller->told.opened_ns;
	uint64_t from_ns = is_first ? teller->began_ns : teller->closed_ns;
	if (from_ns && event->t0 > from_ns && event->t0 <= teller->now_ns)
		tp_sink_gap(teller->config.sink, teller->config.source,
			    is_first ? "the GPU was not traced yet" : TP_GAP_BETWEEN_WINDOWS,
			    from_ns, event->t0, 0);
	teller->closed_ns = 0;
	teller->told.opened_ns = event->t0;
}

static void decode_close(struct tp_gpu_decoder *teller, const struct tp_gpu_event *event)
{
	if (event->t0 <= teller->now_ns)
		teller->closed_ns = event->t0;
	teller->told.closed_ns = event->t0;
}

void tp_gpu_decoder_flush(struct tp_gpu_decoder *teller)
{
	for (size_t i = 0; i < teller->n_talks; i++)
		emit_kernel(teller, &teller->talks[i], 0);
	teller->n_talks = 0;
}

void tp_gpu_decoder_finish(struct tp_gpu_decoder *teller, uint64_t now_ns)
{
	if (teller->closed_ns && now_ns > teller->closed_ns)
		tp_sink_gap(teller->config.sink, teller->config.source, TP_GAP_BETWEEN_WINDOWS,
			    teller->closed_ns, now_ns, 0);
	teller->closed_ns = 0;
}

void tp_gpu_decoder_begin(struct tp_gpu_decoder *teller, uint64_t now_ns)
{
	teller->before_ns = teller->now_ns ? teller->now_ns : now_ns;
	teller->began_ns = teller->began_ns ? teller->began_ns : now_ns;
	teller->now_ns = now_ns;
}

void tp_gpu_decoder_event(void *context, const struct tp_gpu_event *event)
{
	struct tp_gpu_decoder *teller = context;
	static void (*const takers[TP_GPU_EVENT_TYPES])(struct tp_gpu_decoder *,
							const struct tp_gpu_event *) = {
		[TP_GPU_EVENT_KERNEL] = decode_kernel,
		[TP_GPU_EVENT_COPY] = decode_memory_op,
		[TP_GPU_EVENT_SET] = decode_memory_op,
		[TP_GPU_EVENT_CALL] = decode_call,
		[TP_GPU_EVENT_SYNC] = decode_wait,
		[TP_GPU_EVENT_OVERHEAD] = decode_overhead,
		[TP_GPU_EVENT_PUSH] = tp_nvtx_decode_event,
		[TP_GPU_EVENT_POP] = tp_nvtx_decode_event,
		[TP_GPU_EVENT_START] = tp_nvtx_decode_event,
		[TP_GPU_EVENT_END] = tp_nvtx_decode_event,
		[TP_GPU_EVENT_LOST] = decode_loss,
		[TP_GPU_EVENT_OPEN] = decode_open,
		[TP_GPU_EVENT_CLOSE] = decode_close,
		[TP_GPU_EVENT_PAYLOAD] = tp_nvtx_decode_event,
	};
	teller->told.n_events++;
	if (event->type == TP_GPU_EVENT_NONE || event->type > TP_GPU_EVENT_PAYLOAD)
		teller->told.n_unknown++;
	else if (takers[event->type])
		takers[event->type](teller, event);
}

/* Emits kernels whose calls have arrived, or will not. */
static void emit_nccl_kernels(struct tp_gpu_decoder *teller)
{
	size_t n = teller->n_talks;
	teller->n_talks = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tp_gpu_kernel kernel = teller->talks[i];
		if (!emit_nccl_kernel(teller, &kernel))
			teller->talks[teller->n_talks++] = kernel;
	}
}

void tp_gpu_decoder_end(struct tp_gpu_decoder *teller)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < teller->n_waits; i++)
		if (!emit_wait(teller, &teller->waits[i]))
			teller->waits[n_kept++] = teller->waits[i];
	/* If a call never arrives it was lost, so the oldest wait is dropped. */
	if (n_kept == WAITS_MAX)
		memmove(teller->waits, teller->waits + WAITS_MAX / 2,
			(n_kept = WAITS_MAX / 2) * sizeof(*teller->waits));
	teller->n_waits = n_kept;
	emit_nccl_kernels(teller);
	for (size_t i = 0; i < teller->n_threads; i++)
		if (!teller->threads[i].has_task)
			tp_gpu_decoder_emit_thread(teller, &teller->threads[i], teller->now_ns);
}
