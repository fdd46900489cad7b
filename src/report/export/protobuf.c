/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of Protocol Buffers, as its page "Encoding" describes it. */
#include "protobuf.h"

#include <string.h>

enum wire_type { VARINT = 0, BYTES_64 = 1, LENGTH = 2, BYTES_32 = 5 };

void tp_proto_add_varint(struct tp_buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		tp_buf_putc(out, (char)(value | 0x80));
	tp_buf_putc(out, (char)value);
}

static void add_key(struct tp_buf *out, unsigned field, enum wire_type type)
{
	tp_proto_add_varint(out, (uint64_t)field << 3 | type);
}

void tp_proto_add_uint(struct tp_buf *out, unsigned field, uint64_t value)
{
	add_key(out, field, VARINT);
	tp_proto_add_varint(out, value);
}

void tp_proto_add_bool(struct tp_buf *out, unsigned field, int value)
{
	tp_proto_add_uint(out, field, value != 0);
}

/* Lowest byte first, on any machine. */
static void add_fixed(struct tp_buf *out, uint64_t bits, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		tp_buf_putc(out, (char)(bits >> 8 * i));
}

void tp_proto_add_double(struct tp_buf *out, unsigned field, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	add_key(out, field, BYTES_64);
	add_fixed(out, bits, sizeof(bits));
}

void tp_proto_add_float(struct tp_buf *out, unsigned field, float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof(bits));
	add_key(out, field, BYTES_32);
	add_fixed(out, bits, sizeof(bits));
}

static void add_bytes(struct tp_buf *out, unsigned field, const void *bytes, size_t size)
{
	add_key(out, field, LENGTH);
	tp_proto_add_varint(out, size);
	tp_buf_add(out, bytes, size);
}

void tp_proto_add_text(struct tp_buf *out, unsigned field, const char *text)
{
	add_bytes(out, field, text, strlen(text));
}

void tp_proto_add_message(struct tp_buf *out, unsigned field, struct tp_buf *message)
{
	add_bytes(out, field, tp_buf_text(message), message->len);
	tp_buf_clear(message);
}
