/* SPDX-License-Identifier: Apache-2.0 */
/* Emits spans of the host's threads. The kind of an event follows from a feature that only this
 * kind has: a step (`step_num`), a call of the device's runtime (`correlation_id`), an operator of
 * XLA (`hlo_op`) or TensorFlow ("node:MatMul", displayed as "MatMul"), a Python function (its name
 * begins with $), otherwise a named range.
 *
 * On CPUs an operator of XLA divides its work among a pool of threads and may return before the
 * work is done, so its event is only a part of its time. The work itself lies between two marks on
 * the threads of the pool. */
#include "xplane_emit.h"

#include <inttypes.h>
#include <string.h>

/* TensorFlow fetches a batch on a thread of this name while the trainer's thread waits for it. */
static const char fetching_thread[] = "tf_data_iterator_get_next";
static const char fetching[] = "IteratorGetNext";
/* Operators on threads with that name prepare batches: they are not the training. */
static const char loading_thread[] = "tf_data_";

/* Names of the pools that XLA computes with, and of the marks around each piece of their work. */
static const char computing_thread[] = "tf_XLA";
static const char region_begins[] = "ThreadpoolListener::StartRegion";
static const char region_ends[] = "ThreadpoolListener::StopRegion";
static const char region_name[] = "XLA thread pool";

struct host_line {
	struct tp_xline line;
	uint16_t track;
	uint16_t trainer;       /* track of the Python thread; TP_NO_TRACK = none */
	uint64_t python_end_ns; /* end of the outermost function so far */
	uint64_t region_start_ns;
	bool is_in_region;
};

static uint32_t string_of(struct tp_xplane_emitter *emitter, const struct tp_protobuf *text)
{
	return tp_rank_writer_string(emitter->writer, (const char *)text->bytes, text->len);
}

/* Converts "$train.py:12 batch" to "train.py(12): batch", the form of Kineto. */
static uint32_t python_name(struct tp_xplane_emitter *emitter, const struct tp_protobuf *name)
{
	struct tp_protobuf text = {name->bytes + 1, name->len - 1};
	const unsigned char *blank = memchr(text.bytes, ' ', text.len);
	const unsigned char *colon =
		blank ? memrchr(text.bytes, ':', (size_t)(blank - text.bytes)) : NULL;
	if (!colon)
		return string_of(emitter, &text);
	tp_buf_clear(&emitter->scratch);
	tp_buf_add(&emitter->scratch, text.bytes, (size_t)(colon - text.bytes));
	tp_buf_putc(&emitter->scratch, '(');
	tp_buf_add(&emitter->scratch, colon + 1, (size_t)(blank - colon - 1));
	tp_buf_puts(&emitter->scratch, "):");
	tp_buf_add(&emitter->scratch, blank, text.len - (size_t)(blank - text.bytes));
	const char *bytes = tp_buf_text(&emitter->scratch);
	return tp_rank_writer_string(emitter->writer, bytes, strlen(bytes));
}

static uint32_t step_name(struct tp_xplane_emitter *emitter, uint64_t number)
{
	tp_buf_clear(&emitter->scratch);
	tp_buf_printf(&emitter->scratch, "step %" PRIu64, number);
	const char *bytes = tp_buf_text(&emitter->scratch);
	return tp_rank_writer_string(emitter->writer, bytes, strlen(bytes));
}

static void emit_python(struct tp_xplane_emitter *emitter, struct host_line *line,
			const struct tp_xevent *event, struct tp_span *span)
{
	bool is_inner = event->start_ns < line->python_end_ns;
	if (event->end_ns > line->python_end_ns)
		line->python_end_ns = event->end_ns;
	if (is_inner && !emitter->keeps_python)
		return;
	span->kind = TP_SPAN_PYTHON;
	span->name = python_name(emitter, &event->type->name);
	tp_rank_writer_span(emitter->writer, span);
}

/* Emits the work between two marks of a pool's thread. */
static void emit_region(struct tp_xplane_emitter *emitter, struct host_line *line,
			const struct tp_xevent *event)
{
	if (!tp_protobuf_begins(&line->line.name, computing_thread))
		return;
	if (tp_protobuf_equals(&event->type->name, region_begins)) {
		line->is_in_region = true;
		line->region_start_ns = event->start_ns;
	} else if (line->is_in_region && tp_protobuf_equals(&event->type->name, region_ends)) {
		line->is_in_region = false;
		if (event->start_ns <= line->region_start_ns)
			return;
		struct tp_span span = {.start_ns = line->region_start_ns,
				       .end_ns = event->start_ns,
				       .track = line->track,
				       .kind = TP_SPAN_OPERATOR};
		span.name = tp_rank_writer_string(emitter->writer, region_name,
						  sizeof(region_name) - 1);
		tp_rank_writer_span(emitter->writer, &span);
	}
}

static bool is_tensorflow_op(const struct host_line *line, const struct tp_xevent_type *type)
{
	size_t len = type->display_name.len;
	const struct tp_protobuf *name = &type->name;
	if (!len || name->len <= len || tp_protobuf_begins(&line->line.name, loading_thread))
		return false;
	const unsigned char *tail = name->bytes + name->len - len;
	return tail[-1] == ':' && memcmp(tail, type->display_name.bytes, len) == 0;
}

static void emit_event(struct tp_xplane_emitter *emitter, struct host_line *line,
		       const struct tp_xevent *event)
{
	const struct tp_protobuf *name = &event->type->name;
	const struct tp_xstats *stats = &event->stats;
	struct tp_span span = tp_xplane_span(event, line->track);
	if (tp_xstats_have(stats, TP_XSTAT_STEP)) {
		span.kind = TP_SPAN_ANNOTATION;
		span.name = step_name(emitter, stats->of[TP_XSTAT_STEP].number);
	} else if (name->len && name->bytes[0] == '$') {
		emit_python(emitter, line, event, &span);
		return;
	} else if (event->start_ns == event->end_ns) {
		emit_region(emitter, line, event);
		return; /* an instant */
	} else {
		span.kind = TP_SPAN_ANNOTATION;
		if (tp_xstats_have(stats, TP_XSTAT_CORRELATION))
			span.kind = TP_SPAN_CALL;
		else if (tp_xstats_have(stats, TP_XSTAT_HLO_OP) ||
			 is_tensorflow_op(line, event->type))
			span.kind = TP_SPAN_OPERATOR;
		span.name = tp_xplane_type_name(emitter, event->type);
		if (line->trainer != TP_NO_TRACK && tp_protobuf_begins(name, fetching) &&
		    tp_protobuf_begins(&line->line.name, fetching_thread))
			span.track = line->trainer;
	}
	tp_rank_writer_span(emitter->writer, &span);
}

static uint16_t track_of(struct tp_xplane_emitter *emitter, const struct tp_xline *line)
{
	uint16_t track = tp_rank_writer_track(emitter->writer, TP_TRACK_THREAD, line->id);
	tp_rank_writer_name_track(emitter->writer, track, string_of(emitter, &line->name));
	return track;
}

static uint16_t python_track(struct tp_xplane_emitter *emitter)
{
	for (size_t i = 0; i < emitter->plane->n_lines; i++) {
		struct tp_xline line;
		tp_xline_init(&line, &emitter->plane->lines[i]);
		if (tp_protobuf_begins(&line.name, "python"))
			return track_of(emitter, &line);
	}
	return TP_NO_TRACK;
}

void tp_xplane_emit_host(struct tp_xplane_emitter *emitter)
{
	uint16_t trainer = python_track(emitter);
	for (size_t i = 0; i < emitter->plane->n_lines; i++) {
		struct host_line line = {.trainer = trainer};
		struct tp_xevent event;
		tp_xline_init(&line.line, &emitter->plane->lines[i]);
		line.track = track_of(emitter, &line.line);
		struct tp_protobuf rest = line.line.message;
		while (tp_xplane_next_event(emitter, &line.line, &rest, &event))
			emit_event(emitter, &line, &event);
	}
}
