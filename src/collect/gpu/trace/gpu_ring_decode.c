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
	struct tp_gpu_decoder *decoder = tp_alloc(sizeof(*decoder));
	decoder->config = *config;
	decoder->match = tp_nccl_match_new(config->sink, config->rank);
	return decoder;
}

void tp_gpu_decoder_free(struct tp_gpu_decoder *decoder)
{
	if (!decoder)
		return;
	for (size_t i = 0; i < decoder->n_threads; i++)
		free(decoder->threads[i].ranges);
	tp_map_release(&decoder->names);
	tp_map_release(&decoder->places);
	tp_map_release(&decoder->thread_ids);
	tp_map_release(&decoder->calls);
	free(decoder->threads);
	free(decoder->waits);
	tp_map_release(&decoder->domains);
	tp_nccl_match_free(decoder->match);
	free(decoder->unmatched);
	free(decoder->started);
	free(decoder);
}

const struct tp_gpu_decode_stats *tp_gpu_decoder_get_stats(const struct tp_gpu_decoder *decoder)
{
	return &decoder->stats;
}

/* ---- names ---------------------------------------------------------------------------------- */

enum name_use { OF_KERNEL, OF_CALL, OF_COPY, OF_SET, N_USES };

static void make_name(struct tp_buf *out, const struct tp_gpu_decoder *decoder, enum name_use use,
		      uint32_t id, unsigned call)
{
	size_t length = 0;
	const char *name = use == OF_COPY || use == OF_SET
				   ? NULL
				   : tp_gpu_ring_reader_name(decoder->config.file, id, &length);
	if (use == OF_COPY)
		tp_gpu_name_copy(out, id);
	else if (use == OF_SET)
		tp_gpu_name_set(out, id);
	else if (use == OF_CALL)
		tp_gpu_name_call(out, name, length, call);
	else if (!name)
		tp_buf_puts(out, "kernel without a name");
	else
		tp_gpu_name_kernel(out, decoder->config.demangler, name, length);
}

/* Names in the ring never change, so each is created once. */
static uint32_t name_of(struct tp_gpu_decoder *decoder, enum name_use use, uint32_t id,
			unsigned call)
{
	uint64_t key = ((uint64_t)id << 16 | (call & 0xff)) * N_USES + use;
	uint64_t known;
	if (tp_map_get(&decoder->names, key, &known))
		return (uint32_t)known;
	struct tp_buf text = {0};
	make_name(&text, decoder, use, id, call);
	known = tp_sink_string(decoder->config.sink, tp_buf_text(&text));
	tp_buf_release(&text);
	tp_map_set(&decoder->names, key, known);
	return (uint32_t)known;
}

/* ---- spans ---------------------------------------------------------------------------------- */

static bool times_of(const struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event,
		     uint64_t *start_ns, uint64_t *end_ns)
{
	uint64_t length_ns = event->dur;
	if (event->flags & TP_GPU_FLAG_LONG)
		length_ns *= LEN_LONG;
	if (event->flags & TP_GPU_FLAG_HOST_CLOCK)
		*start_ns = event->t0;
	else if (!tp_gpu_clocks_host(&decoder->config.file->clocks, event->t0, start_ns))
		return false;
	*end_ns = *start_ns + length_ns;
	/* A record cannot arrive before its end, although it may seem so if a clock was set. */
	return *start_ns && *end_ns >= *start_ns && *end_ns <= decoder->now_ns + TP_GPU_AHEAD_NS;
}

static bool is_nccl_kernel(const struct tp_gpu_decoder *decoder, uint32_t name)
{
	const char *text = tp_strtab_text(&decoder->config.sink->strings, name);
	return strncmp(text, "nccl", 4) == 0;
}

static void emit_kernel(struct tp_gpu_decoder *decoder, const struct tp_gpu_kernel *kernel,
			uint32_t call_detail)
{
	struct tp_detail detail = {0};
	if (call_detail)
		tp_sink_detail_get(decoder->config.sink, call_detail, &detail);
	detail.blocks = kernel->blocks;
	detail.threads = kernel->threads;
	tp_gpu_decoder_emit_span(decoder, kernel->track, TP_SPAN_KERNEL, kernel->name,
				 kernel->start_ns, kernel->end_ns, kernel->link,
				 tp_sink_detail(decoder->config.sink, &detail));
}

/* Returns false while the call is unknown, up to a time limit. */
static bool emit_nccl_kernel(struct tp_gpu_decoder *decoder, const struct tp_gpu_kernel *kernel)
{
	uint32_t call_detail = 0;
	bool is_late = decoder->now_ns > kernel->arrived_ns + NCCL_MATCH_TIMEOUT_NS;
	if (!tp_nccl_match_find(decoder->match, kernel->link, &call_detail) && kernel->link &&
	    !is_late && tp_nccl_match_is_used(decoder->match) &&
	    decoder->n_unmatched < NCCL_KERNELS_MAX)
		return false;
	emit_kernel(decoder, kernel, call_detail);
	return true;
}

static void decode_kernel(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	struct tp_gpu_kernel kernel = {
		.track = tp_gpu_decoder_emit_stream(decoder, event->place),
		.link = event->link,
		.blocks = (uint32_t)event->x,
		.threads = event->x >> 32 & UINT16_MAX,
		.arrived_ns = decoder->now_ns,
	};
	if (kernel.track >= TP_TRACKS_MAX ||
	    !times_of(decoder, event, &kernel.start_ns, &kernel.end_ns)) {
		decoder->stats.n_unplaced++;
		return;
	}
	kernel.name = name_of(decoder, OF_KERNEL, event->id, 0);
	if (!is_nccl_kernel(decoder, kernel.name))
		emit_kernel(decoder, &kernel, 0);
	else if (!emit_nccl_kernel(decoder, &kernel))
		TP_ARRAY_PUSH(decoder->unmatched, decoder->n_unmatched,
			      decoder->unmatched_capacity) = kernel;
}

static void decode_memory_op(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	bool is_copy = event->type == TP_GPU_EVENT_COPY;
	uint32_t track = tp_gpu_decoder_emit_stream(decoder, event->place);
	if (track >= TP_TRACKS_MAX || !times_of(decoder, event, &start_ns, &end_ns)) {
		decoder->stats.n_unplaced++;
		return;
	}
	const struct tp_detail detail = {.bytes = event->x};
	tp_gpu_decoder_emit_span(decoder, track, is_copy ? TP_SPAN_COPY : TP_SPAN_SET,
				 name_of(decoder, is_copy ? OF_COPY : OF_SET, event->id, 0),
				 start_ns, end_ns, event->link,
				 tp_sink_detail(decoder->config.sink, &detail));
}

/* A wait has the link of the call that contains it, which determines the waiting thread. */
static void add_call(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event,
		     const struct tp_gpu_thread *thread)
{
	unsigned call = event->place;
	if (!event->link || call == TP_GPU_CALL_GRAPH_LAUNCH)
		return;
	if (call == TP_GPU_CALL_LAUNCH) {
		uint64_t start_ns;
		uint64_t end_ns;
		if (times_of(decoder, event, &start_ns, &end_ns))
			tp_nccl_match_launch(decoder->match, (size_t)(thread - decoder->threads),
					     event->link, start_ns);
		return;
	}
	if (decoder->calls.n >= CALLS_MAX)
		tp_map_release(&decoder->calls);
	tp_map_set(&decoder->calls, event->link,
		   call == TP_GPU_CALL_SYNC ? SYNC_CALL : (uint64_t)(thread - decoder->threads));
}

static void decode_call(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	struct tp_gpu_thread *thread = NULL;
	if (event->place == TP_GPU_CALL_QUERY)
		return;
	if (times_of(decoder, event, &start_ns, &end_ns))
		thread = tp_gpu_decoder_thread(decoder, (uint32_t)event->x, event->flags, start_ns);
	if (!thread) {
		decoder->stats.n_unplaced++;
		return;
	}
	tp_gpu_decoder_emit_span(decoder, thread->track, TP_SPAN_CALL,
				 name_of(decoder, OF_CALL, event->id, event->place), start_ns,
				 end_ns, event->link, 0);
	add_call(decoder, event, thread);
}

/* Returns false while its call is unknown. */
static bool emit_wait(struct tp_gpu_decoder *decoder, const struct tp_gpu_wait *wait)
{
	uint64_t at;
	if (!tp_map_get(&decoder->calls, wait->link, &at))
		return false;
	if (at != SYNC_CALL && at < decoder->n_threads)
		tp_gpu_decoder_emit_span(decoder, decoder->threads[at].track, TP_SPAN_CALL,
					 tp_sink_string(decoder->config.sink,
							tp_gpu_name_wait(wait->sync)),
					 wait->start_ns, wait->end_ns, 0, 0);
	return true;
}

static void decode_wait(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	struct tp_gpu_wait wait = {.link = event->link, .sync = event->id};
	if (!tp_gpu_name_wait(event->id) || !event->link)
		return;
	if (!times_of(decoder, event, &wait.start_ns, &wait.end_ns)) {
		decoder->stats.n_unplaced++;
		return;
	}
	if (!emit_wait(decoder, &wait) && decoder->n_waits < WAITS_MAX)
		TP_ARRAY_PUSH(decoder->waits, decoder->n_waits, decoder->waits_capacity) = wait;
}

static void decode_overhead(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	const char *name = tp_gpu_name_overhead(event->id);
	if (!times_of(decoder, event, &start_ns, &end_ns))
		return;
	if (!name && event->id != TP_GPU_OVERHEAD_QUEUE_FULL && event->id)
		decoder->stats.cupti_ns += end_ns - start_ns;
	struct tp_gpu_thread *thread =
		name && event->x
			? tp_gpu_decoder_thread(decoder, (uint32_t)event->x, event->flags, start_ns)
			: NULL;
	if (thread)
		tp_gpu_decoder_emit_span(decoder, thread->track, TP_SPAN_ANNOTATION,
					 tp_sink_string(decoder->config.sink, name), start_ns,
					 end_ns, 0, 0);
}

/* ---- all events ----------------------------------------------------------------------------- */

/* Forgets all open ranges, because their ends may be among the dropped events. */
static void decode_loss(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	uint64_t until_ns = event->t0 <= decoder->now_ns ? event->t0 : decoder->now_ns;
	uint64_t from_ns = decoder->before_ns < until_ns ? decoder->before_ns : until_ns;
	decoder->stats.n_lost += event->x;
	tp_nvtx_decode_reset(decoder);
	tp_sink_gap(decoder->config.sink, decoder->config.source,
		    "GPU events came faster than they were read", from_ns, until_ns, event->x);
}

/* Before the first window there may be NVTX ranges, but no GPU work. */
static void decode_open(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	bool is_first = !decoder->stats.opened_ns;
	uint64_t from_ns = is_first ? decoder->began_ns : decoder->closed_ns;
	if (from_ns && event->t0 > from_ns && event->t0 <= decoder->now_ns)
		tp_sink_gap(decoder->config.sink, decoder->config.source,
			    is_first ? "the GPU was not traced yet" : TP_GAP_BETWEEN_WINDOWS,
			    from_ns, event->t0, 0);
	decoder->closed_ns = 0;
	decoder->stats.opened_ns = event->t0;
}

static void decode_close(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	if (event->t0 <= decoder->now_ns)
		decoder->closed_ns = event->t0;
	decoder->stats.closed_ns = event->t0;
}

void tp_gpu_decoder_flush(struct tp_gpu_decoder *decoder)
{
	for (size_t i = 0; i < decoder->n_unmatched; i++)
		emit_kernel(decoder, &decoder->unmatched[i], 0);
	decoder->n_unmatched = 0;
}

void tp_gpu_decoder_finish(struct tp_gpu_decoder *decoder, uint64_t now_ns)
{
	if (decoder->closed_ns && now_ns > decoder->closed_ns)
		tp_sink_gap(decoder->config.sink, decoder->config.source, TP_GAP_BETWEEN_WINDOWS,
			    decoder->closed_ns, now_ns, 0);
	decoder->closed_ns = 0;
}

void tp_gpu_decoder_begin(struct tp_gpu_decoder *decoder, uint64_t now_ns)
{
	decoder->before_ns = decoder->now_ns ? decoder->now_ns : now_ns;
	decoder->began_ns = decoder->began_ns ? decoder->began_ns : now_ns;
	decoder->now_ns = now_ns;
}

void tp_gpu_decoder_event(void *context, const struct tp_gpu_event *event)
{
	struct tp_gpu_decoder *decoder = context;
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
	decoder->stats.n_events++;
	if (event->type == TP_GPU_EVENT_NONE || event->type > TP_GPU_EVENT_PAYLOAD)
		decoder->stats.n_unknown++;
	else if (takers[event->type])
		takers[event->type](decoder, event);
}

/* Emits kernels whose calls have arrived, or will not. */
static void emit_nccl_kernels(struct tp_gpu_decoder *decoder)
{
	size_t n = decoder->n_unmatched;
	decoder->n_unmatched = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tp_gpu_kernel kernel = decoder->unmatched[i];
		if (!emit_nccl_kernel(decoder, &kernel))
			decoder->unmatched[decoder->n_unmatched++] = kernel;
	}
}

void tp_gpu_decoder_end(struct tp_gpu_decoder *decoder)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < decoder->n_waits; i++)
		if (!emit_wait(decoder, &decoder->waits[i]))
			decoder->waits[n_kept++] = decoder->waits[i];
	/* If a call never arrives it was lost, so the oldest wait is dropped. */
	if (n_kept == WAITS_MAX)
		memmove(decoder->waits, decoder->waits + WAITS_MAX / 2,
			(n_kept = WAITS_MAX / 2) * sizeof(*decoder->waits));
	decoder->n_waits = n_kept;
	emit_nccl_kernels(decoder);
	for (size_t i = 0; i < decoder->n_threads; i++)
		if (!decoder->threads[i].has_task)
			tp_gpu_decoder_emit_thread(decoder, &decoder->threads[i], decoder->now_ns);
}
