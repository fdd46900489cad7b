/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes records into blocks. */
#include "encoder.h"

#include "layout.h"
#include "wire_num.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIELDS_MAX = 13, /* fields of a record without text, each a varint */
	FRAMES_MAX = TP_STACK_MAX_FRAMES * 5,
	RECORD_MAX = LAYOUT_STRING_MAX + FRAMES_MAX + (FIELDS_MAX + 2) * TP_VARINT_MAX_BYTES,
	/* A gauge may be preceded by its metric's name: two records are added at once. */
	BLOCK_CAPACITY = BLOCK_HEADER_BYTES + LAYOUT_BLOCK_FULL + 2 * RECORD_MAX,
};

void tp_encoder_init(struct tp_encoder *encoder)
{
	*encoder = (struct tp_encoder){0};
	tp_checksum_init(&encoder->checksum);
	encoder->bytes = tp_alloc(BLOCK_CAPACITY);
	encoder->used = BLOCK_HEADER_BYTES;
}

void tp_encoder_release(struct tp_encoder *encoder)
{
	free(encoder->bytes);
	*encoder = (struct tp_encoder){0};
}

void tp_encoder_clear(struct tp_encoder *encoder)
{
	encoder->used = BLOCK_HEADER_BYTES;
	encoder->n_records = 0;
	encoder->number++;
	encoder->has_time = false;
	encoder->base_ns = 0;
	encoder->clock_ns = 0;
	encoder->first_ns = 0;
	encoder->last_ns = 0;
	encoder->address = 0;
	encoder->link = 0;
}

bool tp_encoder_is_full(const struct tp_encoder *encoder)
{
	return encoder->used >= BLOCK_HEADER_BYTES + LAYOUT_BLOCK_FULL;
}

void tp_encoder_finish_block(struct tp_encoder *encoder)
{
	unsigned char *p = encoder->bytes;
	tp_put_u32(p + BLOCK_TAG, LAYOUT_BLOCK_TAG);
	tp_put_u32(p + BLOCK_LENGTH, (uint32_t)(encoder->used - BLOCK_HEADER_BYTES));
	tp_put_u32(p + BLOCK_N_RECORDS, encoder->n_records);
	tp_put_u32(p + BLOCK_NUMBER, encoder->number);
	tp_put_u64(p + BLOCK_BASE_NS, encoder->base_ns);
	tp_put_u64(p + BLOCK_FIRST_NS, encoder->first_ns);
	tp_put_u64(p + BLOCK_LAST_NS, encoder->last_ns);
	tp_put_u32(p + BLOCK_ZERO, 0);
	uint32_t crc = tp_checksum_add(&encoder->checksum, 0, p, BLOCK_CRC);
	crc = tp_checksum_add(&encoder->checksum, crc, p + BLOCK_HEADER_BYTES,
			      encoder->used - BLOCK_HEADER_BYTES);
	tp_put_u32(p + BLOCK_CRC, crc);
}

/* Extends the time range of the block to this time. */
static void extend_times(struct tp_encoder *encoder, uint64_t time_ns)
{
	if (time_ns < encoder->first_ns)
		encoder->first_ns = time_ns;
	if (time_ns > encoder->last_ns)
		encoder->last_ns = time_ns;
}

static unsigned char *encode_time(struct tp_encoder *encoder, unsigned char *p, uint64_t time_ns)
{
	if (!encoder->has_time) {
		encoder->has_time = true;
		encoder->base_ns = time_ns;
		encoder->clock_ns = time_ns;
		encoder->first_ns = time_ns;
		encoder->last_ns = time_ns;
	}
	extend_times(encoder, time_ns);
	p = tp_varint_put(p, tp_delta_encode(time_ns, encoder->clock_ns));
	encoder->clock_ns = time_ns;
	return p;
}

/* Task ids are written plus one, so that "none" is the shortest of all. */
static unsigned char *encode_task_id(unsigned char *p, uint32_t task)
{
	return tp_varint_put(p, (uint32_t)(task + 1));
}

static unsigned char *encode_text(unsigned char *p, const char *text)
{
	size_t len = strnlen(text, LAYOUT_STRING_MAX);
	memcpy(p, text, len);
	return p + len;
}

/* The payload begins after the record's first byte; most records are so short that this byte is the
 * whole head. */
static unsigned char *record_begin(const struct tp_encoder *encoder)
{
	return encoder->bytes + encoder->used + 1;
}

static void record_end(struct tp_encoder *encoder, enum layout_kind kind, const unsigned char *end)
{
	unsigned char *head = encoder->bytes + encoder->used;
	size_t len = (size_t)(end - head) - 1;
	if (len < LAYOUT_LONG) {
		*head = (unsigned char)((unsigned)kind | len << 4);
	} else {
		unsigned char length[TP_VARINT_MAX_BYTES];
		size_t n = (size_t)(tp_varint_put(length, len) - length);
		memmove(head + 1 + n, head + 1, len);
		memcpy(head + 1, length, n);
		*head = (unsigned char)((unsigned)kind | LAYOUT_LONG << 4);
		end += n;
	}
	encoder->used = (size_t)(end - encoder->bytes);
	encoder->n_records++;
}

static void add_string(struct tp_encoder *encoder, uint32_t id, const char *text)
{
	unsigned char *p = tp_varint_put(record_begin(encoder), id);
	record_end(encoder, LAYOUT_STRING, encode_text(p, text));
}

static void add_frame(struct tp_encoder *encoder, uint32_t id, const struct tp_frame *frame)
{
	unsigned char *p = tp_varint_put(record_begin(encoder), id);
	p = tp_varint_put(p, frame->kind);
	p = tp_varint_put(p, frame->flags);
	p = tp_varint_put(p, frame->module);
	p = tp_varint_put(p, frame->symbol);
	p = tp_varint_put(p, frame->file);
	p = tp_varint_put(p, frame->line);
	p = tp_varint_put(p, frame->address);
	p = tp_varint_put(p, frame->function_start);
	record_end(encoder, LAYOUT_FRAME, p);
}

static void add_stack(struct tp_encoder *encoder, uint32_t id, const struct tp_stack *stack)
{
	uint32_t n = stack->n_frames < TP_STACK_MAX_FRAMES ? stack->n_frames : TP_STACK_MAX_FRAMES;
	unsigned char *p = tp_varint_put(record_begin(encoder), id);
	p = tp_varint_put(p, stack->flags);
	p = tp_varint_put(p, n);
	for (uint32_t i = 0; i < n; i++)
		p = tp_varint_put(p, stack->frames[i]);
	record_end(encoder, LAYOUT_STACK, p);
}

static void add_task(struct tp_encoder *encoder, const struct tp_task *task)
{
	unsigned char *p = tp_varint_put(record_begin(encoder), task->id);
	p = tp_varint_put(p, (uint32_t)task->tid);
	p = tp_varint_put(p, (uint32_t)task->pid);
	p = encode_task_id(p, task->parent);
	p = tp_varint_put(p, task->start_ns);
	p = tp_varint_put(p, task->end_ns);
	p = tp_varint_put(p, task->exec_ns);
	p = tp_varint_put(p, task->comm);
	p = tp_varint_put(p, task->exe);
	p = tp_varint_put(p, task->cmdline);
	p = tp_varint_put(p, task->utime_ns);
	p = tp_varint_put(p, task->stime_ns);
	record_end(encoder, LAYOUT_TASK, p);
}

/* Runs arrive in the order of their ends, so consecutive ends are close together. */
static void add_run(struct tp_encoder *encoder, const struct tp_run *run)
{
	unsigned char *p = encode_time(encoder, record_begin(encoder), run->end_ns);
	extend_times(encoder, run->start_ns);
	p = tp_varint_put(p, run->end_ns - run->start_ns);
	p = tp_varint_put(p, run->task);
	p = tp_varint_put(p, (uint64_t)run->cpu << RUN_HOW_BITS | run->how);
	record_end(encoder, LAYOUT_RUN, p);
}

static void add_sample(struct tp_encoder *encoder, const struct tp_sample *sample)
{
	unsigned has = sample->state & SAMPLE_STATE;
	has |= sample->flags ? SAMPLE_HAS_FLAGS : 0;
	has |= sample->cause != TP_CAUSE_NONE ? SAMPLE_HAS_CAUSE : 0;
	has |= sample->target ? SAMPLE_HAS_TARGET : 0;
	has |= sample->syscall != -1 ? SAMPLE_HAS_SYSCALL : 0;
	has |= sample->address ? SAMPLE_HAS_ADDRESS : 0;
	unsigned char *p = tp_varint_put(record_begin(encoder), has);
	p = encode_time(encoder, p, sample->time_ns);
	p = tp_varint_put(p, sample->task);
	p = tp_varint_put(p, sample->cpu);
	p = tp_varint_put(p, sample->stack);
	if (has & SAMPLE_HAS_FLAGS)
		p = tp_varint_put(p, sample->flags);
	if (has & SAMPLE_HAS_CAUSE)
		p = tp_varint_put(p, sample->cause);
	if (has & SAMPLE_HAS_TARGET)
		p = tp_varint_put(p, sample->target);
	if (has & SAMPLE_HAS_SYSCALL)
		p = tp_varint_put(p, (uint32_t)sample->syscall + 1u);
	if (has & SAMPLE_HAS_ADDRESS) {
		p = tp_varint_put(p, tp_delta_encode(sample->address, encoder->address));
		encoder->address = sample->address;
	}
	record_end(encoder, LAYOUT_SAMPLE, p);
}

static void add_metric(struct tp_encoder *encoder, enum tp_metric metric)
{
	const struct tp_metric_desc *desc = tp_metric_desc(metric);
	unsigned char *p = tp_varint_put(record_begin(encoder), metric);
	p = tp_varint_put(p, desc->kind);
	p = tp_varint_put(p, desc->subject);
	p = tp_varint_put(p, strlen(desc->unit));
	p = encode_text(p, desc->unit);
	record_end(encoder, LAYOUT_METRIC, encode_text(p, desc->name));
}

/* Most values are counts; a whole number of up to 2^53 reads back as the same double. */
static bool is_count(double value)
{
	return value >= 0 && value <= 9007199254740992.0 && value == floor(value) &&
	       !signbit(value);
}

static void add_gauge(struct tp_encoder *encoder, const struct tp_gauge *gauge)
{
	if ((unsigned)gauge->metric >= TP_N_METRICS)
		return;
	if (!encoder->metric_is_named[gauge->metric]) {
		encoder->metric_is_named[gauge->metric] = true;
		add_metric(encoder, gauge->metric);
	}
	bool whole = is_count(gauge->value);
	bool of_device = tp_metric_desc(gauge->metric)->subject == TP_METRIC_OF_DEVICE;
	unsigned char *p =
		tp_varint_put(record_begin(encoder), (unsigned)gauge->metric << 1 | whole);
	p = encode_time(encoder, p, gauge->time_ns);
	/* The track comes last: older readers take the value for one of the host. */
	p = encode_task_id(p, of_device ? TP_NO_TASK : gauge->task);
	if (whole) {
		p = tp_varint_put(p, (uint64_t)gauge->value);
	} else {
		uint64_t bits;
		memcpy(&bits, &gauge->value, sizeof(bits));
		tp_put_u64(p, bits);
		p += sizeof(bits);
	}
	if (of_device)
		p = tp_varint_put(p, gauge->task);
	record_end(encoder, LAYOUT_GAUGE, p);
}

static void add_mark(struct tp_encoder *encoder, const struct tp_mark *mark)
{
	unsigned char *p = tp_varint_put(record_begin(encoder), mark->kind);
	p = encode_time(encoder, p, mark->time_ns);
	p = encode_task_id(p, mark->task);
	p = tp_varint_put(p, mark->name);
	p = tp_varint_put(p, mark->value);
	record_end(encoder, LAYOUT_MARK, p);
}

static void add_gap(struct tp_encoder *encoder, const struct tp_gap *gap)
{
	unsigned char *p = encode_time(encoder, record_begin(encoder), gap->end_ns);
	extend_times(encoder, gap->start_ns);
	p = tp_varint_put(p, gap->end_ns - gap->start_ns);
	p = tp_varint_put(p, gap->source);
	p = tp_varint_put(p, gap->reason);
	p = tp_varint_put(p, gap->n_lost);
	record_end(encoder, LAYOUT_GAP, p);
}

static void add_source(struct tp_encoder *encoder, const struct tp_source *source)
{
	unsigned char *p = tp_varint_put(record_begin(encoder), source->name);
	p = tp_varint_put(p, source->summary);
	p = tp_varint_put(p, source->presence);
	p = tp_varint_put(p, source->reason);
	p = tp_varint_put(p, source->remedy);
	p = tp_varint_put(p, source->n_records);
	p = tp_varint_put(p, source->n_lost);
	record_end(encoder, LAYOUT_SOURCE, p);
}

static void add_track(struct tp_encoder *encoder, const struct tp_track *track)
{
	unsigned char *p = tp_varint_put(record_begin(encoder), track->id);
	p = tp_varint_put(p, track->rank);
	p = tp_varint_put(p, tp_delta_encode((uint64_t)track->device, 0));
	p = tp_varint_put(p, track->name);
	p = tp_varint_put(p, tp_delta_encode((uint64_t)track->number, 0));
	/* Not written if there is none, as in recordings of writers that did not have it. */
	if (track->task_plus_1)
		p = tp_varint_put(p, track->task_plus_1);
	record_end(encoder, LAYOUT_TRACK, p);
}

static void add_detail(struct tp_encoder *encoder, uint32_t id, const struct tp_detail *detail)
{
	unsigned char *p = tp_varint_put(record_begin(encoder), id);
	p = tp_varint_put(p, detail->bytes);
	p = tp_varint_put(p, detail->blocks);
	p = tp_varint_put(p, detail->threads);
	p = tp_varint_put(p, detail->op);
	p = tp_varint_put(p, detail->type);
	p = tp_varint_put(p, detail->group);
	p = tp_varint_put(p, detail->n_ranks);
	p = tp_varint_put(p, detail->sequence);
	record_end(encoder, LAYOUT_DETAIL, p);
}

/* Spans arrive almost in the order of their starts. */
static void add_span(struct tp_encoder *encoder, const struct tp_span *span)
{
	unsigned has = span->kind & SPAN_KIND;
	has |= span->link ? SPAN_HAS_LINK : 0;
	has |= span->detail ? SPAN_HAS_DETAIL : 0;
	unsigned char *p = tp_varint_put(record_begin(encoder), has);
	p = encode_time(encoder, p, span->start_ns);
	extend_times(encoder, span->end_ns);
	p = tp_varint_put(p, span->end_ns - span->start_ns);
	p = tp_varint_put(p, span->track);
	p = tp_varint_put(p, span->name);
	if (has & SPAN_HAS_LINK) {
		p = tp_varint_put(p, tp_delta_encode(span->link, encoder->link));
		encoder->link = span->link;
	}
	if (has & SPAN_HAS_DETAIL)
		p = tp_varint_put(p, span->detail);
	record_end(encoder, LAYOUT_SPAN, p);
}

void tp_encoder_add(struct tp_encoder *encoder, const struct tp_record *record)
{
	switch (record->kind) {
	case TP_RECORD_STRING:
		add_string(encoder, record->id, record->of.string);
		break;
	case TP_RECORD_FRAME:
		add_frame(encoder, record->id, &record->of.frame);
		break;
	case TP_RECORD_STACK:
		add_stack(encoder, record->id, &record->of.stack);
		break;
	case TP_RECORD_TASK:
		add_task(encoder, &record->of.task);
		break;
	case TP_RECORD_RUN:
		add_run(encoder, &record->of.run);
		break;
	case TP_RECORD_SAMPLE:
		add_sample(encoder, &record->of.sample);
		break;
	case TP_RECORD_GAUGE:
		add_gauge(encoder, &record->of.gauge);
		break;
	case TP_RECORD_MARK:
		add_mark(encoder, &record->of.mark);
		break;
	case TP_RECORD_GAP:
		add_gap(encoder, &record->of.gap);
		break;
	case TP_RECORD_SOURCE:
		add_source(encoder, &record->of.source);
		break;
	case TP_RECORD_TRACK:
		add_track(encoder, &record->of.track);
		break;
	case TP_RECORD_DETAIL:
		add_detail(encoder, record->id, &record->of.detail);
		break;
	case TP_RECORD_SPAN:
		add_span(encoder, &record->of.span);
		break;
	case TP_N_RECORDS:
		break;
	}
}
