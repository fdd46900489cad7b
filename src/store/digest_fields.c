/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the fields of digests according to tables. */
#include "digest_fields.h"

#include "checksum.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <string.h>

/* Value types with their Protocol Buffers numbers. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

#define RANK(number, type, member)                                                                 \
	{                                                                                          \
		number, TP_DIGEST_##type, offsetof(struct tp_job_rank, member)                     \
	}

const struct tp_digest_field tp_digest_rank_fields[] = {
	RANK(1, TEXT, launcher),
	RANK(2, TEXT, job_id),
	RANK(3, S64, number), /* 0 is not written, -1 is */
	RANK(4, U32, n_ranks),
	RANK(5, U32, attempt),
	RANK(6, TEXT, host),
	RANK(7, INT, pid),
	RANK(8, TEXT, contradiction),
	RANK(9, INT, end),
	RANK(10, INT, end_code),
	RANK(11, FLAG, is_cut),
	RANK(12, U64, started_ns),
	RANK(13, U64, ended_ns),
	RANK(14, U64, started_wall_ns),
	RANK(15, U64, peer_tail_ns),
	RANK(16, TEXT, label),
	RANK(TP_DIGEST_UNREADABLE, TEXT, unreadable),
	RANK(18, U32, n_places),
	RANK(19, U64, overhead_ns),
	RANK(20, RATIO, n_cpus),
	RANK(21, TIME, sample_ns),
	RANK(22, U32, n_host_cpus),
};

#define CODE(number, type, member)                                                                 \
	{                                                                                          \
		number, TP_DIGEST_##type, offsetof(struct tp_digest_code, member)                  \
	}

const struct tp_digest_field tp_digest_code_fields[] = {
	CODE(1, TEXT, code.file), CODE(2, TEXT, code.function), CODE(3, U32, code.line),
	CODE(4, TEXT, label),     CODE(5, TIME, code.step_ns),  CODE(6, TIME, code.queue_ns),
};

#define ADVICE(number, type, member)                                                               \
	{                                                                                          \
		number, TP_DIGEST_##type, offsetof(struct tp_job_advice, member)                   \
	}

const struct tp_digest_field tp_digest_advice_fields[] = {
	ADVICE(1, TEXT, rule),      ADVICE(2, TEXT, headline),    ADVICE(3, TEXT, because),
	ADVICE(4, RATIO, gain_low), ADVICE(5, RATIO, gain_value), ADVICE(6, RATIO, gain_high),
};

const size_t tp_digest_n_rank_fields = TP_ARRAY_LEN(tp_digest_rank_fields);
const size_t tp_digest_n_code_fields = TP_ARRAY_LEN(tp_digest_code_fields);
const size_t tp_digest_n_advice_fields = TP_ARRAY_LEN(tp_digest_advice_fields);

/* Covers the head up to the checksum, and the payload. */
uint32_t tp_digest_checksum(const struct tp_checksum *checksum, const unsigned char *frame,
			    size_t size)
{
	uint32_t sum = tp_checksum_add(checksum, 0, frame, 8);
	return tp_checksum_add(checksum, sum, frame + TP_DIGEST_FRAME_HEAD,
			       size - TP_DIGEST_FRAME_HEAD);
}

/* ---- writing --------------------------------------------------------------------------------- */

void tp_digest_put_varint(struct tp_buf *out, uint64_t value)
{
	unsigned char bytes[TP_VARINT_MAX_BYTES];
	tp_buf_add(out, bytes, (size_t)(tp_varint_put(bytes, value) - bytes));
}

static void put_key(struct tp_buf *out, unsigned number, unsigned wire)
{
	tp_digest_put_varint(out, (uint64_t)number << 3 | wire);
}

void tp_digest_put_bytes(struct tp_buf *out, unsigned number, const void *bytes, size_t size)
{
	put_key(out, number, WIRE_BYTES);
	tp_digest_put_varint(out, size);
	tp_buf_add(out, bytes, size);
}

/* Never cuts inside a character. */
static size_t cut_length(const char *text)
{
	size_t len = strnlen(text, TP_DIGEST_TEXT_MAX + 1);
	if (len <= TP_DIGEST_TEXT_MAX)
		return len;
	len = TP_DIGEST_TEXT_MAX;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static uint64_t whole_ns(double ns)
{
	return ns >= 0.5 && ns < 1e18 ? (uint64_t)llround(ns) : 0;
}

/* Returns the value of a member that is written as a varint; zero is not written. */
static uint64_t varint_of(const struct tp_digest_field *field, const void *at)
{
	switch (field->type) {
	case TP_DIGEST_U64:
		return *(const uint64_t *)at;
	case TP_DIGEST_U32:
		return *(const uint32_t *)at;
	case TP_DIGEST_S64:
		return tp_delta_encode((uint64_t) * (const int64_t *)at, 0);
	case TP_DIGEST_INT:
		return tp_delta_encode((uint64_t)(int64_t) * (const int *)at, 0);
	case TP_DIGEST_FLAG:
		return *(const bool *)at;
	case TP_DIGEST_TIME:
		return whole_ns(*(const double *)at);
	default:
		return 0;
	}
}

static void put_ratio(struct tp_buf *out, unsigned number, double value)
{
	unsigned char bytes[8];
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	tp_put_u64(bytes, bits);
	put_key(out, number, WIRE_FIXED64);
	tp_buf_add(out, bytes, sizeof(bytes));
}

void tp_digest_put_fields(struct tp_buf *out, const struct tp_digest_field *fields, size_t n,
			  const void *item)
{
	for (size_t i = 0; i < n; i++) {
		const struct tp_digest_field *field = &fields[i];
		const void *at = (const char *)item + field->offset;
		if (field->type == TP_DIGEST_TEXT) {
			const char *text = *(const char *const *)at;
			if (text)
				tp_digest_put_bytes(out, field->number, text, cut_length(text));
		} else if (field->type == TP_DIGEST_RATIO) {
			put_ratio(out, field->number, *(const double *)at);
		} else if (varint_of(field, at)) {
			put_key(out, field->number, WIRE_VARINT);
			tp_digest_put_varint(out, varint_of(field, at));
		}
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

bool tp_digest_get_value(struct tp_varint_cursor *cursor, struct tp_digest_value *out)
{
	*out = (struct tp_digest_value){0};
	if (cursor->is_bad || cursor->at >= cursor->end)
		return false;
	uint64_t key = tp_varint_get(cursor);
	unsigned wire = (unsigned)(key & 7);
	uint64_t size = wire == WIRE_FIXED64 ? 8 : wire == WIRE_FIXED32 ? 4 : 0;
	out->number = (unsigned)(key >> 3);
	if (wire == WIRE_VARINT)
		out->value = tp_varint_get(cursor);
	else if (wire == WIRE_BYTES)
		size = tp_varint_get(cursor);
	else if (!size)
		cursor->is_bad = true;
	if (size > (uint64_t)(cursor->end - cursor->at))
		cursor->is_bad = true;
	if (cursor->is_bad)
		return false;
	out->bytes = cursor->at;
	out->size = (size_t)size;
	out->is_bytes = wire == WIRE_BYTES;
	if (wire == WIRE_FIXED64)
		out->value = tp_get_u64(cursor->at);
	cursor->at += size;
	return true;
}

static void set_number(void *at, enum tp_digest_type type, uint64_t value)
{
	int64_t folded = (int64_t)tp_delta_decode(value, 0);
	switch (type) {
	case TP_DIGEST_U64:
		*(uint64_t *)at = value;
		break;
	case TP_DIGEST_U32:
		*(uint32_t *)at = value <= UINT32_MAX ? (uint32_t)value : 0;
		break;
	case TP_DIGEST_S64:
		*(int64_t *)at = folded;
		break;
	case TP_DIGEST_INT:
		*(int *)at = folded >= INT32_MIN && folded <= INT32_MAX ? (int)folded : 0;
		break;
	case TP_DIGEST_FLAG:
		*(bool *)at = value != 0;
		break;
	case TP_DIGEST_TIME:
		*(double *)at = value < (uint64_t)1e18 ? (double)value : 0;
		break;
	default:
		break;
	}
}

void tp_digest_set_field(void *item, const struct tp_digest_field *fields, size_t n,
			 const struct tp_digest_value *value, struct tp_strtab *texts)
{
	for (size_t i = 0; i < n; i++) {
		const struct tp_digest_field *field = &fields[i];
		void *at = (char *)item + field->offset;
		if (field->number != value->number ||
		    (field->type == TP_DIGEST_TEXT) != value->is_bytes)
			continue;
		if (field->type == TP_DIGEST_TEXT) {
			uint32_t id = tp_strtab_intern_len(texts, (const char *)value->bytes,
							   value->size);
			*(const char **)at = tp_strtab_text(texts, id);
		} else if (field->type == TP_DIGEST_RATIO) {
			double number;
			memcpy(&number, &value->value, sizeof(number));
			*(double *)at = isfinite(number) ? number : 1;
		} else {
			set_number(at, field->type, value->value);
		}
		return;
	}
}

bool tp_digest_get_fields(void *item, const struct tp_digest_field *fields, size_t n,
			  const struct tp_digest_value *message, struct tp_strtab *texts)
{
	struct tp_varint_cursor cursor = {.at = message->bytes,
					  .end = message->bytes + message->size};
	struct tp_digest_value value;
	while (tp_digest_get_value(&cursor, &value))
		tp_digest_set_field(item, fields, n, &value, texts);
	return !cursor.is_bad;
}
