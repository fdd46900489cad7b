/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes blocks, without trusting their content. */
#include "decoder.h"

#include "layout.h"
#include "wire_num.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void id_map_init(struct tp_id_map *map)
{
	*map = (struct tp_id_map){0};
	TP_ARRAY_PUSH(map->ids, map->n, map->capacity) = 0;
}

void tp_decoder_init(struct tp_decoder *decoder, struct tp_sink *sink)
{
	*decoder = (struct tp_decoder){.sink = sink};
	id_map_init(&decoder->strings);
	id_map_init(&decoder->frames);
	id_map_init(&decoder->stacks);
	id_map_init(&decoder->details);
}

void tp_decoder_release(struct tp_decoder *decoder)
{
	free(decoder->strings.ids);
	free(decoder->frames.ids);
	free(decoder->stacks.ids);
	free(decoder->details.ids);
	tp_map_release(&decoder->source_names);
	tp_buf_release(&decoder->text);
	*decoder = (struct tp_decoder){0};
}

/* Ids are dense: the next definition must define the next id. */
static bool id_map_add(struct tp_id_map *map, uint32_t file_id, uint32_t id)
{
	if (file_id != map->n)
		return false;
	TP_ARRAY_PUSH(map->ids, map->n, map->capacity) = id;
	return true;
}

static uint32_t decode_id(struct tp_varint_cursor *cursor, const struct tp_id_map *map)
{
	uint64_t id = tp_varint_get(cursor);
	if (id >= map->n) {
		cursor->is_bad = true;
		return 0;
	}
	return map->ids[id];
}

/* Ids are stored plus one; 0 means none. */
static uint32_t decode_task_id(struct tp_varint_cursor *cursor)
{
	return tp_varint_get_u32(cursor) - 1;
}

static uint64_t decode_time(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	decoder->clock_ns = tp_delta_decode(tp_varint_get(cursor), decoder->clock_ns);
	return decoder->clock_ns;
}

/* Decodes a duration that ends at `end_ns`; returns the start. */
static uint64_t decode_start(struct tp_varint_cursor *cursor, uint64_t end_ns)
{
	uint64_t duration_ns = tp_varint_get(cursor);
	if (duration_ns > end_ns)
		cursor->is_bad = true;
	return end_ns - duration_ns;
}

/* Decodes an enumeration that newer versions may have extended: unknown values become `other`. */
static unsigned decode_choice(struct tp_varint_cursor *cursor, unsigned n, unsigned other)
{
	uint64_t value = tp_varint_get(cursor);
	return value < n ? (unsigned)value : other;
}

static const char *decode_text(struct tp_decoder *decoder, struct tp_varint_cursor *cursor,
			       size_t len)
{
	if (len > (size_t)(cursor->end - cursor->at)) {
		cursor->is_bad = true;
		len = 0;
	}
	tp_buf_clear(&decoder->text);
	tp_buf_add(&decoder->text, cursor->at, len);
	cursor->at += len;
	return tp_buf_text(&decoder->text);
}

static bool decode_string(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	uint32_t file_id = tp_varint_get_u32(cursor);
	const char *text = decode_text(decoder, cursor, (size_t)(cursor->end - cursor->at));
	return !cursor->is_bad &&
	       id_map_add(&decoder->strings, file_id, tp_sink_string(decoder->sink, text));
}

static bool decode_frame(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	uint32_t file_id = tp_varint_get_u32(cursor);
	struct tp_frame frame = {
		.kind = (enum tp_frame_kind)decode_choice(cursor, TP_N_FRAME_KINDS,
							  TP_FRAME_NATIVE),
		.flags = tp_varint_get_u32(cursor),
	};
	frame.module = decode_id(cursor, &decoder->strings);
	frame.symbol = decode_id(cursor, &decoder->strings);
	frame.file = decode_id(cursor, &decoder->strings);
	frame.line = tp_varint_get_u32(cursor);
	frame.address = tp_varint_get(cursor);
	frame.function_start = tp_varint_get(cursor);
	if (cursor->is_bad)
		return false;
	return id_map_add(&decoder->frames, file_id, tp_sink_frame(decoder->sink, &frame));
}

static bool decode_stack(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	uint32_t frames[TP_STACK_MAX_FRAMES];
	uint32_t file_id = tp_varint_get_u32(cursor);
	uint32_t flags = tp_varint_get_u32(cursor);
	uint64_t n = tp_varint_get(cursor);
	if (n == 0 || n > TP_STACK_MAX_FRAMES)
		return false;
	for (uint64_t i = 0; i < n; i++)
		frames[i] = decode_id(cursor, &decoder->frames);
	if (cursor->is_bad)
		return false;
	return id_map_add(&decoder->stacks, file_id,
			  tp_sink_stack(decoder->sink, frames, n, flags));
}

static bool decode_task(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	struct tp_task task = {.id = tp_varint_get_u32(cursor)};
	task.tid = (pid_t)tp_varint_get_u32(cursor);
	task.pid = (pid_t)tp_varint_get_u32(cursor);
	task.parent = decode_task_id(cursor);
	task.start_ns = tp_varint_get(cursor);
	task.end_ns = tp_varint_get(cursor);
	task.exec_ns = tp_varint_get(cursor);
	task.comm = decode_id(cursor, &decoder->strings);
	task.exe = decode_id(cursor, &decoder->strings);
	task.cmdline = decode_id(cursor, &decoder->strings);
	task.utime_ns = tp_varint_get(cursor);
	task.stime_ns = tp_varint_get(cursor);
	if (cursor->is_bad || task.id > decoder->n_tasks)
		return false;
	decoder->n_tasks += task.id == decoder->n_tasks;
	tp_sink_task(decoder->sink, &task);
	return true;
}

static bool task_is_known(const struct tp_decoder *decoder, uint32_t task)
{
	return task < decoder->n_tasks;
}

static bool decode_run(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	struct tp_run run = {.end_ns = decode_time(decoder, cursor)};
	run.start_ns = decode_start(cursor, run.end_ns);
	run.task = tp_varint_get_u32(cursor);
	uint64_t cpu_how = tp_varint_get(cursor);
	unsigned how = cpu_how & ((1u << RUN_HOW_BITS) - 1);
	run.cpu = (uint32_t)(cpu_how >> RUN_HOW_BITS);
	run.how = how < TP_N_RUN_ENDS ? (enum tp_run_end)how : TP_RUN_OPEN;
	if (cursor->is_bad || cpu_how >> RUN_HOW_BITS > UINT32_MAX ||
	    !task_is_known(decoder, run.task))
		return false;
	tp_sink_run(decoder->sink, &run);
	return true;
}

static bool decode_sample(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	struct tp_sample sample = {.cause = TP_CAUSE_NONE, .syscall = -1};
	uint64_t has = tp_varint_get(cursor);
	sample.state = (enum tp_state)(has & SAMPLE_STATE);
	sample.time_ns = decode_time(decoder, cursor);
	sample.task = tp_varint_get_u32(cursor);
	sample.cpu = tp_varint_get_u32(cursor);
	sample.stack = decode_id(cursor, &decoder->stacks);
	if (has & SAMPLE_HAS_FLAGS)
		sample.flags = tp_varint_get_u32(cursor);
	if (has & SAMPLE_HAS_CAUSE)
		sample.cause = (enum tp_cause)decode_choice(cursor, TP_N_CAUSES, TP_CAUSE_UNKNOWN);
	if (has & SAMPLE_HAS_TARGET)
		sample.target = decode_id(cursor, &decoder->strings);
	if (has & SAMPLE_HAS_SYSCALL)
		sample.syscall = (int32_t)(tp_varint_get_u32(cursor) - 1);
	if (has & SAMPLE_HAS_ADDRESS) {
		sample.address = tp_delta_decode(tp_varint_get(cursor), decoder->address);
		decoder->address = sample.address;
	}
	if (cursor->is_bad || sample.state >= TP_N_STATES || !task_is_known(decoder, sample.task))
		return false;
	tp_sink_sample(decoder->sink, &sample);
	return true;
}

/* A metric is identified by its name; its number is valid in this recording only. */
static bool decode_metric(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	uint32_t number = tp_varint_get_u32(cursor);
	uint64_t kind = tp_varint_get(cursor);
	uint64_t subject = tp_varint_get(cursor);
	char unit[32] = "";
	size_t unit_len = (size_t)tp_varint_get(cursor);
	if (cursor->is_bad || unit_len >= sizeof(unit) || number >= DECODER_METRICS_MAX)
		return false;
	snprintf(unit, sizeof(unit), "%s", decode_text(decoder, cursor, unit_len));
	enum tp_metric metric =
		tp_metric_find(decode_text(decoder, cursor, (size_t)(cursor->end - cursor->at)));
	if (cursor->is_bad)
		return false;
	if (metric == TP_N_METRICS) {
		decoder->n_skipped++;
		return true;
	}
	const struct tp_metric_desc *desc = tp_metric_desc(metric);
	if (kind != desc->kind || subject != desc->subject || strcmp(unit, desc->unit) != 0)
		return false;
	decoder->metrics[number] = (uint16_t)(metric + 1);
	return true;
}

static double decode_double(struct tp_varint_cursor *cursor)
{
	double value = 0;
	if (cursor->end - cursor->at < (ptrdiff_t)sizeof(value)) {
		cursor->is_bad = true;
		return 0;
	}
	uint64_t bits = tp_get_u64(cursor->at);
	cursor->at += sizeof(bits);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static bool decode_gauge(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	uint64_t head = tp_varint_get(cursor);
	uint64_t time_ns = decode_time(decoder, cursor);
	uint32_t task = decode_task_id(cursor);
	double value = head & 1 ? (double)tp_varint_get(cursor) : decode_double(cursor);
	if (cursor->is_bad || head >> 1 >= DECODER_METRICS_MAX || !isfinite(value) ||
	    (task != TP_NO_TASK && !task_is_known(decoder, task)))
		return false;
	unsigned metric = decoder->metrics[head >> 1];
	if (metric && tp_metric_desc(metric - 1)->subject == TP_METRIC_OF_DEVICE) {
		task = tp_varint_get_u32(cursor);
		if (cursor->is_bad || task >= decoder->n_tracks)
			return false;
	}
	if (metric)
		tp_sink_gauge(decoder->sink, (enum tp_metric)(metric - 1), task, time_ns, value);
	else
		decoder->n_skipped++;
	return true;
}

static bool decode_mark(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	uint64_t kind = tp_varint_get(cursor);
	struct tp_mark mark = {.kind = (enum tp_mark_kind)kind};
	mark.time_ns = decode_time(decoder, cursor);
	mark.task = decode_task_id(cursor);
	mark.name = decode_id(cursor, &decoder->strings);
	mark.value = tp_varint_get(cursor);
	if (cursor->is_bad || (mark.task != TP_NO_TASK && !task_is_known(decoder, mark.task)))
		return false;
	if (kind < TP_N_MARK_KINDS)
		tp_sink_mark(decoder->sink, &mark);
	else
		decoder->n_skipped++;
	return true;
}

/* Gaps and sources go to the sink as records: its convenience functions need texts, these are ids
 * already. */
static bool decode_gap(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	struct tp_record record = {.kind = TP_RECORD_GAP};
	struct tp_gap *gap = &record.of.gap;
	gap->end_ns = decode_time(decoder, cursor);
	gap->start_ns = decode_start(cursor, gap->end_ns);
	gap->source = decode_id(cursor, &decoder->strings);
	gap->reason = decode_id(cursor, &decoder->strings);
	gap->n_lost = tp_varint_get(cursor);
	if (cursor->is_bad)
		return false;
	decoder->sink->type->put(decoder->sink, &record);
	return true;
}

static bool decode_source(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	struct tp_record record = {.kind = TP_RECORD_SOURCE};
	struct tp_source *source = &record.of.source;
	source->name = decode_id(cursor, &decoder->strings);
	source->summary = decode_id(cursor, &decoder->strings);
	source->presence =
		(enum tp_presence)decode_choice(cursor, TP_N_PRESENCES, TP_PRESENCE_DEGRADED);
	source->reason = decode_id(cursor, &decoder->strings);
	source->remedy = decode_id(cursor, &decoder->strings);
	source->n_records = tp_varint_get(cursor);
	source->n_lost = tp_varint_get(cursor);
	if (cursor->is_bad || decoder->source_names.n >= DECODER_SOURCES_MAX)
		return false;
	tp_map_set(&decoder->source_names, source->name, 1);
	decoder->sink->type->put(decoder->sink, &record);
	return true;
}

static bool decode_track(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	struct tp_track track = {.id = tp_varint_get_u32(cursor)};
	track.rank = tp_varint_get_u32(cursor);
	int64_t device = (int64_t)tp_delta_decode(tp_varint_get(cursor), 0);
	track.device = (int32_t)device;
	track.name = decode_id(cursor, &decoder->strings);
	track.number = (int64_t)tp_delta_decode(tp_varint_get(cursor), 0);
	if (cursor->at < cursor->end)
		track.task_plus_1 = tp_varint_get_u32(cursor);
	if (track.task_plus_1 > decoder->n_tasks)
		return false;
	if (cursor->is_bad || device < TP_TRACK_THREAD || device > INT32_MAX ||
	    track.id > decoder->n_tracks || track.id >= TP_TRACKS_MAX)
		return false;
	decoder->n_tracks += track.id == decoder->n_tracks;
	tp_sink_track(decoder->sink, &track);
	return true;
}

static bool decode_detail(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	uint32_t file_id = tp_varint_get_u32(cursor);
	struct tp_detail detail = {.bytes = tp_varint_get(cursor)};
	detail.blocks = tp_varint_get(cursor);
	detail.threads = tp_varint_get_u32(cursor);
	detail.op = decode_id(cursor, &decoder->strings);
	detail.type = decode_id(cursor, &decoder->strings);
	detail.group = decode_id(cursor, &decoder->strings);
	detail.n_ranks = tp_varint_get_u32(cursor);
	detail.sequence = tp_varint_get_u32(cursor);
	if (cursor->is_bad)
		return false;
	return id_map_add(&decoder->details, file_id, tp_sink_detail(decoder->sink, &detail));
}

static bool decode_span(struct tp_decoder *decoder, struct tp_varint_cursor *cursor)
{
	uint64_t has = tp_varint_get(cursor);
	struct tp_span span = {.kind = (uint8_t)(has & SPAN_KIND)};
	span.start_ns = decode_time(decoder, cursor);
	uint64_t length_ns = tp_varint_get(cursor);
	span.end_ns = span.start_ns + length_ns;
	uint32_t track = tp_varint_get_u32(cursor);
	span.track = (uint16_t)track;
	span.name = decode_id(cursor, &decoder->strings);
	if (has & SPAN_HAS_LINK) {
		decoder->link = tp_delta_decode(tp_varint_get(cursor), decoder->link);
		span.link = (uint32_t)decoder->link;
	}
	if (has & SPAN_HAS_DETAIL)
		span.detail = decode_id(cursor, &decoder->details);
	if (cursor->is_bad || span.end_ns < span.start_ns || track >= decoder->n_tracks)
		return false;
	if (span.kind < TP_N_SPAN_KINDS)
		tp_sink_span(decoder->sink, &span);
	else
		decoder->n_skipped++;
	return true;
}

static bool (*const decoders[])(struct tp_decoder *, struct tp_varint_cursor *) = {
	[LAYOUT_STRING] = decode_string, [LAYOUT_FRAME] = decode_frame,
	[LAYOUT_STACK] = decode_stack,   [LAYOUT_TASK] = decode_task,
	[LAYOUT_RUN] = decode_run,       [LAYOUT_SAMPLE] = decode_sample,
	[LAYOUT_GAUGE] = decode_gauge,   [LAYOUT_MARK] = decode_mark,
	[LAYOUT_GAP] = decode_gap,       [LAYOUT_SOURCE] = decode_source,
	[LAYOUT_METRIC] = decode_metric, [LAYOUT_TRACK] = decode_track,
	[LAYOUT_DETAIL] = decode_detail, [LAYOUT_SPAN] = decode_span,
};

static void decode_record(struct tp_decoder *decoder, unsigned kind,
			  struct tp_varint_cursor *payload)
{
	decoder->n_met++;
	if (kind >= TP_ARRAY_LEN(decoders) || !decoders[kind])
		decoder->n_skipped++;
	else if (!decoders[kind](decoder, payload))
		decoder->n_refused++;
}

bool tp_decoder_add(struct tp_decoder *decoder, const unsigned char *payload, size_t len,
		    uint64_t base_ns)
{
	decoder->clock_ns = base_ns;
	decoder->address = 0;
	decoder->link = 0;
	struct tp_varint_cursor block = {.at = payload, .end = payload + len};
	while (block.at < block.end) {
		unsigned head = *block.at++;
		uint64_t size = head >> 4;
		if (size == LAYOUT_LONG)
			size = tp_varint_get(&block);
		if (block.is_bad || size > (uint64_t)(block.end - block.at))
			return false;
		struct tp_varint_cursor fields = {.at = block.at, .end = block.at + size};
		block.at += size;
		decode_record(decoder, head & 0xf, &fields);
	}
	return true;
}
