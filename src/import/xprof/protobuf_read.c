/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the wire format of protocol buffers. */
#include "protobuf_read.h"

#include <endian.h>
#include <string.h>

enum { VARINT_BYTES_MAX = 10, FIELD_NUMBER_MAX = (1 << 29) - 1 };

/* Joins the lower seven bits of each byte, first byte lowest. */
static uint64_t join_groups(uint64_t word)
{
	word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
	word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
	return (word & 0x0fffffff) | (word & 0x0fffffff00000000) >> 4;
}

/* Decodes a varint that ends within the next eight bytes, as nearly all do. */
static bool decode_word(struct tp_protobuf *rest, uint64_t *out)
{
	uint64_t word;
	if (rest->len < sizeof(word))
		return false;
	memcpy(&word, rest->bytes, sizeof(word));
	word = le64toh(word);
	uint64_t ends = ~word & UINT64_C(0x8080808080808080);
	if (!ends)
		return false;
	size_t n = (size_t)__builtin_ctzll(ends) / 8 + 1;
	*out = join_groups(word & (ends ^ (ends - 1)));
	rest->bytes += n;
	rest->len -= n;
	return true;
}

bool tp_protobuf_long_varint(struct tp_protobuf *rest, uint64_t *out)
{
	uint64_t value = 0;
	if (decode_word(rest, out))
		return true;
	for (size_t i = 0; i < rest->len && i < VARINT_BYTES_MAX; i++) {
		value |= (uint64_t)(rest->bytes[i] & 0x7f) << (7 * i);
		if (rest->bytes[i] & 0x80)
			continue;
		rest->bytes += i + 1;
		rest->len -= i + 1;
		*out = value;
		return true;
	}
	return false;
}

static bool decode_fixed(struct tp_protobuf *rest, size_t size, uint64_t *out)
{
	if (rest->len < size)
		return false;
	*out = 0;
	for (size_t i = 0; i < size; i++)
		*out |= (uint64_t)rest->bytes[i] << (8 * i);
	rest->bytes += size;
	rest->len -= size;
	return true;
}

static bool decode_bytes(struct tp_protobuf *rest, struct tp_protobuf *out)
{
	uint64_t len;
	if (!tp_protobuf_varint(rest, &len) || len > rest->len)
		return false;
	*out = (struct tp_protobuf){rest->bytes, (size_t)len};
	rest->bytes += len;
	rest->len -= (size_t)len;
	return true;
}

static bool decode_value(struct tp_protobuf *rest, struct tp_protobuf_field *out)
{
	switch (out->type) {
	case TP_PROTOBUF_VARINT:
		return tp_protobuf_varint(rest, &out->value);
	case TP_PROTOBUF_FIXED64:
		return decode_fixed(rest, 8, &out->value);
	case TP_PROTOBUF_FIXED32:
		return decode_fixed(rest, 4, &out->value);
	case TP_PROTOBUF_BYTES:
		return decode_bytes(rest, &out->body);
	}
	return false;
}

bool tp_protobuf_long_next(struct tp_protobuf *rest, struct tp_protobuf_field *out)
{
	struct tp_protobuf after = *rest;
	uint64_t tag;
	if (!after.len || !tp_protobuf_varint(&after, &tag))
		return false;
	*out = (struct tp_protobuf_field){.number = (uint32_t)(tag >> 3),
					  .type = (enum tp_protobuf_type)(tag & 7)};
	if (tag >> 3 == 0 || tag >> 3 > FIELD_NUMBER_MAX || !decode_value(&after, out))
		return false;
	*rest = after;
	return true;
}

bool tp_protobuf_equals(const struct tp_protobuf *text, const char *expected)
{
	return text->len == strlen(expected) && tp_protobuf_begins(text, expected);
}

bool tp_protobuf_begins(const struct tp_protobuf *text, const char *prefix)
{
	size_t len = strlen(prefix);
	return text->len >= len && (!len || memcmp(text->bytes, prefix, len) == 0);
}
