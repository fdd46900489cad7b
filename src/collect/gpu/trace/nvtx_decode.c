/* SPDX-License-Identifier: Apache-2.0 */
/* Converts NVTX ranges to spans, with NCCL's information in them. */
#include "gpu_decoder_internal.h"
#include "gpu_ring_reader.h"
#include "nccl_match.h"
#include "progress_rate.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/range_name.h"
#include "trainprof/model/sink.h"

#include <string.h>

enum {
	RANGES_MAX = 256,   /* open ranges per thread; beyond that the outermost are forgotten */
	STARTED_MAX = 4096, /* open ranges that any thread may end */
	OUTER_LEVELS = 2,   /* levels that are also recorded between windows: steps and phases */
	NUMBERED_MAX = 1 << 18, /* names that differ only in numbers; strings are kept for good */
};

/* ---- names ---------------------------------------------------------------------------------- */

/* Restores the numbers that the event carries into the text, or inserts "#" if there are too many
 * distinct names. */
static void expand_numbers(struct tp_buf *out, const char *text, size_t length,
			   const struct tp_gpu_event *event, bool has_numbers)
{
	const uint32_t numbers[2] = {event->dur, event->link};
	size_t n = event->flags & TP_GPU_FLAG_NUMBERS ? 0 : 2;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == TP_GPU_NUMBER_MARK && n < 2 && !has_numbers)
			tp_buf_putc(out, '#');
		else if (text[i] == TP_GPU_NUMBER_MARK && n < 2)
			tp_buf_printf(out, "%u", numbers[n++]);
		else
			tp_buf_putc(out, text[i]);
	}
}

/* Returns the name of a range. "aten::mm, seq = 7" becomes "aten::mm", the operator's name in
 * imported traces. */
static uint32_t name_of(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event,
			uint8_t *kind)
{
	struct tp_buf name = {0};
	size_t length;
	bool is_operator = false;
	const char *text = tp_gpu_ring_reader_name(decoder->config.file, event->id, &length);
	if (text)
		expand_numbers(&name, text, length, event, decoder->n_numbered < NUMBERED_MAX);
	else
		tp_buf_puts(&name, "range without a name");
	size_t kept = tp_range_name_len(tp_buf_text(&name), name.len, &is_operator);
	if (kept < name.len)
		name.data[kept] = '\0';
	uint32_t id = tp_sink_string(decoder->config.sink, tp_buf_text(&name));
	tp_buf_release(&name);
	/* Ids grow, so it is or may be a new one. */
	if (event->flags & TP_GPU_FLAG_NUMBERS && id > decoder->newest_name) {
		decoder->n_numbered++;
		decoder->newest_name = id;
	}
	*kind = is_operator ? TP_SPAN_OPERATOR : TP_SPAN_ANNOTATION;
	return id;
}

static bool is_nccl(struct tp_gpu_decoder *decoder, uint32_t domain)
{
	uint64_t known;
	size_t length;
	if (!domain)
		return false;
	if (tp_map_get(&decoder->domains, domain, &known))
		return known;
	const char *name = tp_gpu_ring_reader_name(decoder->config.file, domain, &length);
	if (!name) /* names with arbitrary numbers are not remembered */
		return false;
	known = length == 4 && memcmp(name, "NCCL", 4) == 0;
	tp_map_set(&decoder->domains, domain, known);
	return known;
}

static enum tp_nccl_group group_of(const struct tp_gpu_decoder *decoder, uint32_t name)
{
	const char *text = tp_strtab_text(&decoder->config.sink->strings, name);
	if (strcmp(text, "ncclGroupStart") == 0)
		return TP_NCCL_GROUP_START;
	return strcmp(text, "ncclGroupEnd") == 0 ? TP_NCCL_GROUP_END : TP_NCCL_GROUP_NONE;
}

/* ---- ranges of a thread --------------------------------------------------------------------- */

/* The owner of a payload whose thread has no room. */
static const struct tp_gpu_payload no_payload = {.thread = SIZE_MAX};

static void decode_push(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	struct tp_gpu_thread *thread =
		tp_gpu_decoder_thread(decoder, (uint32_t)event->x, event->flags, event->t0);
	decoder->payload = no_payload;
	if (!thread)
		return;
	struct tp_gpu_range range = {.domain = (uint32_t)(event->x >> 32), .start_ns = event->t0};
	range.name = name_of(decoder, event, &range.kind);
	if (thread->n_ranges == RANGES_MAX)
		memmove(thread->ranges, thread->ranges + 1,
			--thread->n_ranges * sizeof(*thread->ranges));
	TP_ARRAY_PUSH(thread->ranges, thread->n_ranges, thread->ranges_capacity) = range;
	decoder->payload = (struct tp_gpu_payload){(size_t)(thread - decoder->threads), true, {0}};
	if (is_nccl(decoder, range.domain))
		tp_nccl_match_begin(decoder->match, decoder->payload.thread);
}

/* Outside windows nested ranges are left out and calls of NCCL are only counted, because there may
 * be thousands per second, for days. If CUDA was not initialised there are no windows, and ranges
 * are the only data. */
static bool should_emit(const struct tp_gpu_decoder *decoder, const struct tp_gpu_range *range,
			size_t level, bool is_call)
{
	const struct tp_gpu_decoder_config *config = &decoder->config;
	bool is_outside = config->file->header.cupti_version != 0;
	if (config->is_spent && *config->is_spent)
		return false;
	if (decoder->stats.opened_ns)
		is_outside = decoder->closed_ns && range->start_ns >= decoder->closed_ns;
	return !is_outside || (level < OUTER_LEVELS && !is_call);
}

/* Counts only ranges that are also recorded between windows: others would seem to become more
 * frequent while the GPU is traced. */
static void count_range(const struct tp_gpu_decoder *decoder, uint32_t track, uint32_t name,
			uint8_t kind, uint64_t end_ns)
{
	const char *text = tp_strtab_text(&decoder->config.sink->strings, name);
	if (decoder->config.progress && kind == TP_SPAN_ANNOTATION)
		tp_progress_add_range(decoder->config.progress, text, track, end_ns);
}

static void end_range(struct tp_gpu_decoder *decoder, size_t number, size_t level,
		      const struct tp_gpu_range *range, uint64_t end_ns)
{
	uint32_t track = decoder->threads[number].track;
	bool is_call = is_nccl(decoder, range->domain);
	if (end_ns < range->start_ns || end_ns > decoder->now_ns + TP_GPU_AHEAD_NS)
		return;
	if (is_call)
		tp_nccl_match_end(decoder->match, number, range->detail,
				  group_of(decoder, range->name), range->start_ns, end_ns);
	if (level < OUTER_LEVELS && !is_call)
		count_range(decoder, track, range->name, range->kind, end_ns);
	if (should_emit(decoder, range, level, is_call))
		tp_gpu_decoder_emit_span(decoder, track, range->kind, range->name, range->start_ns,
					 end_ns, 0, range->detail);
}

static void decode_pop(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	struct tp_gpu_thread *thread =
		tp_gpu_decoder_thread(decoder, (uint32_t)event->x, event->flags, event->t0);
	decoder->payload = no_payload;
	if (!thread)
		return;
	size_t at = thread->n_ranges;
	decoder->payload = (struct tp_gpu_payload){(size_t)(thread - decoder->threads), false, {0}};
	while (at && thread->ranges[at - 1].domain != (uint32_t)(event->x >> 32))
		at--;
	if (!at)
		return;
	const struct tp_gpu_range range = thread->ranges[--at];
	memmove(&thread->ranges[at], &thread->ranges[at + 1],
		(thread->n_ranges-- - at - 1) * sizeof(range));
	end_range(decoder, decoder->payload.thread, at, &range, event->t0);
}

/* ---- ranges that any thread may end --------------------------------------------------------- */

static void decode_start(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	struct tp_gpu_started range = {.number = event->x, .start_ns = event->t0};
	if (decoder->n_started == STARTED_MAX)
		return;
	range.name = name_of(decoder, event, &range.kind);
	TP_ARRAY_PUSH(decoder->started, decoder->n_started, decoder->started_capacity) = range;
}

/* It belongs to the thread in which it began, or to the first thread if that is unknown. */
static void decode_end(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	size_t at = decoder->n_started;
	while (at && decoder->started[at - 1].number != event->x)
		at--;
	if (!at)
		return;
	const struct tp_gpu_started range = decoder->started[at - 1];
	decoder->started[at - 1] = decoder->started[--decoder->n_started];
	uint32_t tid = (uint32_t)(range.number >> 32);
	const struct tp_gpu_thread *thread =
		tp_gpu_decoder_thread(decoder, tid ? tid : (uint32_t)decoder->config.pid, 0,
				      range.start_ns);
	const struct tp_gpu_range outer = {.start_ns = range.start_ns};
	if (!thread || event->t0 < range.start_ns || event->t0 > decoder->now_ns + TP_GPU_AHEAD_NS)
		return;
	count_range(decoder, thread->track, range.name, range.kind, event->t0);
	if (should_emit(decoder, &outer, 0, false))
		tp_gpu_decoder_emit_span(decoder, thread->track, range.kind, range.name,
					 range.start_ns, event->t0, 0, 0);
}

/* ---- payloads ------------------------------------------------------------------------------- */

static void decode_payload(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	struct tp_gpu_payload *payload = &decoder->payload;
	struct tp_nccl_call call;
	uint32_t n_words = event->dur / 8 + (event->dur % 8 != 0);
	uint32_t last = n_words < TP_GPU_PAYLOAD_WORDS ? n_words : TP_GPU_PAYLOAD_WORDS;
	if (payload->thread >= decoder->n_threads || event->place >= TP_GPU_PAYLOAD_WORDS)
		return;
	struct tp_gpu_thread *thread = &decoder->threads[payload->thread];
	payload->words[event->place] = event->x;
	if (event->place + 1u != last ||
	    !tp_nccl_payload_read(&call, event->id, event->dur, payload->words))
		return;
	uint32_t detail = tp_nccl_match_call(decoder->match, &call);
	if (payload->is_of_push && thread->n_ranges)
		thread->ranges[thread->n_ranges - 1].detail = detail;
}

/* ---- all events ----------------------------------------------------------------------------- */

void tp_nvtx_decode_event(struct tp_gpu_decoder *decoder, const struct tp_gpu_event *event)
{
	if (event->type == TP_GPU_EVENT_PUSH)
		decode_push(decoder, event);
	else if (event->type == TP_GPU_EVENT_POP)
		decode_pop(decoder, event);
	else if (event->type == TP_GPU_EVENT_START)
		decode_start(decoder, event);
	else if (event->type == TP_GPU_EVENT_END)
		decode_end(decoder, event);
	else
		decode_payload(decoder, event);
}

void tp_nvtx_decode_reset(struct tp_gpu_decoder *decoder)
{
	for (size_t i = 0; i < decoder->n_threads; i++)
		decoder->threads[i].n_ranges = 0;
	decoder->n_started = 0;
	tp_nccl_match_reset(decoder->match);
}
