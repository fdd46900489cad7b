/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the wire format of protocol buffers: the fields of a message one after the other, as slices
 * of its bytes. Nothing is copied or allocated, and nothing is read beyond the slice.
 *
 * Format: protobuf.dev, "Encoding", read 2026-11-25.
 */
#ifndef TRAINPROF_SRC_IMPORT_XPROF_PROTOBUF_READ_H
#define TRAINPROF_SRC_IMPORT_XPROF_PROTOBUF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_protobuf_type {
	TP_PROTOBUF_VARINT = 0,
	TP_PROTOBUF_FIXED64 = 1,
	TP_PROTOBUF_BYTES = 2, /* a text, bytes, or a message */
	TP_PROTOBUF_FIXED32 = 5,
};

/* Borrowed bytes of a message, or of what is left of one. */
struct tp_protobuf {
	const unsigned char *bytes;
	size_t len;
};

struct tp_protobuf_field {
	uint32_t number;
	enum tp_protobuf_type type;
	uint64_t value;          /* of the numeric types, as its bits */
	struct tp_protobuf body; /* of TP_PROTOBUF_BYTES */
};

/* Decodes a varint of any length and advances past it. Returns false, with `rest` unchanged, if it
 * is truncated or too long. */
bool tp_protobuf_long_varint(struct tp_protobuf *rest, uint64_t *out);

/* The same; most are of one byte. */
static inline bool tp_protobuf_varint(struct tp_protobuf *rest, uint64_t *out)
{
	if (!rest->len || rest->bytes[0] > 0x7f)
		return tp_protobuf_long_varint(rest, out);
	*out = rest->bytes[0];
	rest->bytes++;
	rest->len--;
	return true;
}

/* Decodes a field with any tag, type and length. */
bool tp_protobuf_long_next(struct tp_protobuf *rest, struct tp_protobuf_field *out);

/* Decodes the next field and advances past it; only `value` or `body` is set. Returns false at the
 * end, where `rest` is empty, and at bytes that are not a field (including groups), where `rest`
 * begins with these. */
static inline bool tp_protobuf_next(struct tp_protobuf *rest, struct tp_protobuf_field *out)
{
	/* The usual field: numbered below 16, and a number or less than 16 KiB. */
	if (rest->len < 2 || rest->bytes[0] > 0x7f || rest->bytes[0] < 8)
		return tp_protobuf_long_next(rest, out);
	struct tp_protobuf after = {rest->bytes + 1, rest->len - 1};
	out->number = rest->bytes[0] >> 3;
	out->type = (enum tp_protobuf_type)(rest->bytes[0] & 7);
	if (out->type == TP_PROTOBUF_VARINT && tp_protobuf_varint(&after, &out->value)) {
		*rest = after;
		return true;
	}
	size_t len = after.bytes[0] & 0x7f;
	size_t n = 1;
	if (after.bytes[0] > 0x7f && after.len > 1) {
		len |= (size_t)(after.bytes[1] & 0x7f) << 7;
		n = 2;
	}
	if (out->type != TP_PROTOBUF_BYTES || after.bytes[n - 1] > 0x7f || len > after.len - n)
		return tp_protobuf_long_next(rest, out);
	out->body = (struct tp_protobuf){after.bytes + n, len};
	*rest = (struct tp_protobuf){after.bytes + n + len, after.len - n - len};
	return true;
}

bool tp_protobuf_equals(const struct tp_protobuf *text, const char *expected);
bool tp_protobuf_begins(const struct tp_protobuf *text, const char *prefix);

#endif
