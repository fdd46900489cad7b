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

/* Decodes a varint and advances past it. Returns false, with `rest` unchanged, if it is truncated
 * or too long. */
bool tp_protobuf_varint(struct tp_protobuf *rest, uint64_t *out);

/* Decodes the next field and advances past it. Returns false at the end, where `rest` is empty, and
 * at bytes that are not a field (including groups), where `rest` begins with these. */
bool tp_protobuf_next(struct tp_protobuf *rest, struct tp_protobuf_field *out);

bool tp_protobuf_equals(const struct tp_protobuf *text, const char *expected);
bool tp_protobuf_begins(const struct tp_protobuf *text, const char *prefix);

#endif
