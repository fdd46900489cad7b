/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the messages of an XSpace, innermost first, as buffers that the caller releases. */
#ifndef TRAINPROF_TESTS_UNIT_IMPORT_XPROF_XSPACE_H
#define TRAINPROF_TESTS_UNIT_IMPORT_XPROF_XSPACE_H

#include "trainprof/base/buf.h"

#include <stdint.h>
#include <string.h>

static inline void put_varint(struct tp_buf *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		tp_buf_putc(out, (char)(value | 0x80));
	tp_buf_putc(out, (char)value);
}

static inline void put_number(struct tp_buf *out, uint32_t field, uint64_t value)
{
	put_varint(out, (uint64_t)field << 3);
	put_varint(out, value);
}

static inline void put_bytes(struct tp_buf *out, uint32_t field, const void *bytes, size_t size)
{
	put_varint(out, (uint64_t)field << 3 | 2);
	put_varint(out, size);
	tp_buf_add(out, bytes, size);
}

static inline void put_text(struct tp_buf *out, uint32_t field, const char *text)
{
	put_bytes(out, field, text, strlen(text));
}

/* Releases the message. */
static inline void put_message(struct tp_buf *out, uint32_t field, struct tp_buf *message)
{
	put_bytes(out, field, tp_buf_text(message), message->len);
	tp_buf_release(message);
}

/* A statistic by the number of its name: a text, or a number where `text` is NULL. */
static inline void put_stat(struct tp_buf *out, uint32_t field, uint64_t name, const char *text,
			    uint64_t number)
{
	struct tp_buf stat = {0};
	put_number(&stat, 1, name);
	if (text)
		put_text(&stat, 5, text);
	else
		put_number(&stat, 3, number);
	put_message(out, field, &stat);
}

/* An event of that name's number at an offset; its statistics are in `stats`, which is released and
 * may be NULL. */
static inline void put_event(struct tp_buf *line, uint64_t name, uint64_t offset_ps,
			     uint64_t duration_ps, struct tp_buf *stats)
{
	struct tp_buf event = {0};
	put_number(&event, 1, name);
	put_number(&event, 2, offset_ps);
	put_number(&event, 3, duration_ps);
	if (stats) {
		tp_buf_add(&event, tp_buf_text(stats), stats->len);
		tp_buf_release(stats);
	}
	put_message(line, 4, &event);
}

static inline void put_line_head(struct tp_buf *line, uint64_t id, const char *name,
				 uint64_t timestamp_ns)
{
	put_number(line, 1, id);
	put_text(line, 2, name);
	put_number(line, 3, timestamp_ns);
}

/* An entry of the table of events' names (4) or of statistics' (5). `stats` as above. */
static inline void put_name(struct tp_buf *plane, uint32_t field, uint64_t id, const char *name,
			    struct tp_buf *stats)
{
	struct tp_buf meta = {0};
	struct tp_buf entry = {0};
	put_number(&meta, 1, id);
	put_text(&meta, 2, name);
	if (stats) {
		tp_buf_add(&meta, tp_buf_text(stats), stats->len);
		tp_buf_release(stats);
	}
	put_number(&entry, 1, id);
	put_message(&entry, 2, &meta);
	put_message(plane, field, &entry);
}

#endif
