/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes line tables of code objects. */
#include "py_line_table.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

/* 3.10: the bytes of an entry have no line. */
enum { NO_LINE_BEFORE_311 = -128 };

static void add(struct tp_py_line_table *out, uint64_t start, int64_t line)
{
	if (start > UINT32_MAX)
		return;
	uint32_t known = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
	struct tp_py_line_row *last = out->n_rows > 0 ? &out->rows[out->n_rows - 1] : NULL;
	if (last && last->line == known)
		return;
	if (last && last->start == start) {
		last->line = known;
		return;
	}
	TP_ARRAY_PUSH(out->rows, out->n_rows, out->rows_capacity) =
		(struct tp_py_line_row){(uint32_t)start, known};
}

/* Pairs of an increment of the byte offset and an increment of the line. */
static void load_old_lines(struct tp_py_line_table *out, const uint8_t *bytes, size_t size,
			   int64_t line)
{
	uint64_t at = 0;
	add(out, 0, line);
	for (size_t i = 0; i + 1 < size; i += 2) {
		at += bytes[i];
		line += (int8_t)bytes[i + 1];
		add(out, at, line);
	}
}

/* Pairs of a number of bytes and the line increment of these bytes. */
static void load_pairs(struct tp_py_line_table *out, const uint8_t *bytes, size_t size,
		       int64_t line)
{
	uint64_t at = 0;
	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t delta = (int8_t)bytes[i + 1];
		if (delta != NO_LINE_BEFORE_311)
			line += delta;
		if (bytes[i] > 0)
			add(out, at, delta == NO_LINE_BEFORE_311 ? 0 : line);
		at += bytes[i];
	}
}

/* Six bits per byte, the lowest first; bit 6 set means that more follow. */
static uint64_t varint(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;
	for (size_t i = 0; i < size && i < 10; i++) {
		value |= (uint64_t)(bytes[i] & 63) << (6 * i);
		if (!(bytes[i] & 64))
			break;
	}
	return value;
}

static int64_t signed_varint(const uint8_t *bytes, size_t size)
{
	uint64_t value = varint(bytes, size);
	int64_t half = (int64_t)(value >> 1);
	return value & 1 ? -half : half;
}

/* Kinds of entries, 3.11 and later. */
enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15 };

static void load_locations(struct tp_py_line_table *out, const uint8_t *bytes, size_t size,
			   int64_t line)
{
	uint64_t at = 0;
	size_t i = 0;
	while (i < size) {
		unsigned kind = bytes[i] >> 3 & 15;
		if (kind == NO_COLUMNS || kind == LONG)
			line += signed_varint(bytes + i + 1, size - i - 1);
		else if (kind >= ONE_LINE_0 && kind <= ONE_LINE_2)
			line += kind - ONE_LINE_0;
		add(out, at, kind == NO_LOCATION ? 0 : line);
		at += 2 * ((uint64_t)(bytes[i] & 7) + 1);
		/* Bit 7 is set in the first byte of each entry, and in no other. */
		for (i++; i < size && !(bytes[i] & 128);)
			i++;
	}
}

void tp_py_line_table_load(struct tp_py_line_table *out, unsigned minor, const uint8_t *bytes,
			   size_t size, uint32_t first_line)
{
	*out = (struct tp_py_line_table){0};
	if (minor < 10)
		load_old_lines(out, bytes, size, first_line);
	else if (minor == 10)
		load_pairs(out, bytes, size, first_line);
	else
		load_locations(out, bytes, size, first_line);
}

void tp_py_line_table_release(struct tp_py_line_table *table)
{
	free(table->rows);
	*table = (struct tp_py_line_table){0};
}

uint32_t tp_py_line_table_find(const struct tp_py_line_table *table, uint32_t offset)
{
	size_t at;
	TP_FIND_FIRST(at, 0, table->n_rows, table->rows[at].start > offset);
	return at > 0 ? table->rows[at - 1].line : 0;
}
