/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tar archives. Layout: POSIX.1-2017, pax, "ustar Interchange Format", and GNU tar's manual,
 * "Basic Tar Format", both read 2026-11-22. */
#include "tarball.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAME_AT = 0,
	NAME_BYTES = 100,
	SIZE_AT = 124,
	SIZE_BYTES = 12,
	SUM_AT = 148,
	SUM_BYTES = 8,
	TYPE_AT = 156,
	MAGIC_AT = 257,
	PREFIX_AT = 345,
	PREFIX_BYTES = 155,

	/* Names and pax headers beyond that are invalid. */
	TEXT_MAX = 64 << 10,
};

/* Parses octal digits between spaces and NULs, or GNU's base 256, with the highest bit set. Returns
 * false for anything else, for negative numbers and for impossible sizes. */
static bool number_read(const unsigned char *p, size_t size, uint64_t *out)
{
	uint64_t value = 0;
	size_t i = 0;
	if (p[0] & 0x80) {
		value = p[0] & 0x7f;
		for (i = 1; i < size; i++) {
			if (value > INT64_MAX >> 8)
				return false;
			value = value << 8 | p[i];
		}
		*out = value;
		return p[0] != 0xff && value <= INT64_MAX;
	}
	while (i < size && p[i] == ' ')
		i++;
	for (; i < size && p[i] >= '0' && p[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(p[i] - '0');
	*out = value;
	return i == size || p[i] == ' ' || p[i] == '\0';
}

/* Checks the sum of all bytes, with those of the checksum counted as spaces. Some old programs
 * added signed bytes. */
static bool sum_is_right(const unsigned char *header)
{
	uint64_t wanted;
	long plain = 0;
	long as_signed = 0;
	for (size_t i = 0; i < TP_TAR_BLOCK; i++) {
		bool is_sum = i >= SUM_AT && i < SUM_AT + SUM_BYTES;
		plain += is_sum ? ' ' : header[i];
		as_signed += is_sum ? ' ' : (signed char)header[i];
	}
	return number_read(header + SUM_AT, SUM_BYTES, &wanted) &&
	       ((long)wanted == plain || (long)wanted == as_signed);
}

static bool is_zero(const unsigned char *header)
{
	for (size_t i = 0; i < TP_TAR_BLOCK; i++)
		if (header[i])
			return false;
	return true;
}

bool tp_tarball_probe(const unsigned char *head, size_t size)
{
	return size >= TP_TAR_BLOCK && !is_zero(head) && sum_is_right(head);
}

void tp_tarball_init(struct tp_tarball *tar, struct tp_stream *stream)
{
	*tar = (struct tp_tarball){.stream = stream};
}

void tp_tarball_release(struct tp_tarball *tar)
{
	tp_buf_release(&tar->name);
	*tar = (struct tp_tarball){0};
}

size_t tp_tarball_read(void *context, void *out, size_t size)
{
	struct tp_tarball *tar = context;
	size_t wanted = tar->left < size ? (size_t)tar->left : size;
	size_t n = tp_stream_read(tar->stream, out, wanted);
	tar->left -= n;
	if (n < wanted) {
		tar->is_cut = true;
		tar->left = 0;
		tar->padding = 0;
	}
	return n;
}

static void pass_over(struct tp_tarball *tar)
{
	enum { DISCARD_BYTES = 64 << 10 };
	char *scrap = tp_alloc(DISCARD_BYTES);
	while (tar->left)
		(void)tp_tarball_read(tar, scrap, DISCARD_BYTES);
	tar->is_cut |= tp_stream_read(tar->stream, scrap, (size_t)tar->padding) < tar->padding;
	tar->padding = 0;
	free(scrap);
}

/* Reads the data of a member that is a text; longer texts are cut. */
static void read_text(struct tp_tarball *tar, struct tp_buf *out)
{
	char *text = tp_alloc(TEXT_MAX);
	size_t n = tp_tarball_read(tar, text, TEXT_MAX);
	tp_buf_clear(out);
	tp_buf_add(out, text, n);
	free(text);
	pass_over(tar);
}

/* The contents of the extended headers before a member. */
struct ext_header {
	struct tp_buf name; /* empty = none */
	uint64_t size;
	bool has_size;
	bool is_malformed;
};

static void ext_header_name(struct ext_header *ext_header, const char *text, size_t len)
{
	tp_buf_clear(&ext_header->name);
	tp_buf_add(&ext_header->name, text, strnlen(text, len));
}

static void ext_header_size(struct ext_header *ext_header, const char *text, size_t len)
{
	uint64_t size = 0;
	for (size_t i = 0; i < len; i++) {
		bool is_digit = text[i] >= '0' && text[i] <= '9';
		if (!is_digit || size > INT64_MAX / 10 - 1) {
			ext_header->is_malformed = true;
			return;
		}
		size = size * 10 + (uint64_t)(text[i] - '0');
	}
	ext_header->size = size;
	ext_header->has_size = len > 0;
}

/* Parses "LENGTH KEY=VALUE\n", where LENGTH counts all of it. Returns its length; 0 if it is
 * malformed. */
static size_t ext_header_record(struct ext_header *ext_header, const char *text, size_t size)
{
	size_t len = 0;
	size_t i = 0;
	for (; i < size && text[i] >= '0' && text[i] <= '9' && len < TEXT_MAX; i++)
		len = len * 10 + (size_t)(text[i] - '0');
	if (i == 0 || i >= size || text[i] != ' ' || len > size || len < i + 2)
		return 0;
	const char *key = text + i + 1;
	const char *end = text + len - 1; /* the newline */
	const char *equals = memchr(key, '=', (size_t)(end - key));
	if (!equals)
		return 0;
	size_t key_len = (size_t)(equals - key);
	size_t value_len = (size_t)(end - equals) - 1;
	if (key_len == 4 && memcmp(key, "path", 4) == 0)
		ext_header_name(ext_header, equals + 1, value_len);
	else if (key_len == 4 && memcmp(key, "size", 4) == 0)
		ext_header_size(ext_header, equals + 1, value_len);
	return len;
}

static void ext_header_read(struct ext_header *ext_header, struct tp_tarball *tar)
{
	struct tp_buf text = {0};
	read_text(tar, &text);
	size_t at = 0;
	size_t len = 1;
	for (; at < text.len && len; at += len)
		len = ext_header_record(ext_header, text.data + at, text.len - at);
	tp_buf_release(&text);
}

static void name_from_header(struct tp_buf *name, const unsigned char *header)
{
	const char *text = (const char *)header;
	tp_buf_clear(name);
	if (memcmp(header + MAGIC_AT, "ustar\0", 6) == 0 && text[PREFIX_AT]) {
		tp_buf_add(name, text + PREFIX_AT, strnlen(text + PREFIX_AT, PREFIX_BYTES));
		tp_buf_putc(name, '/');
	}
	tp_buf_add(name, text + NAME_AT, strnlen(text + NAME_AT, NAME_BYTES));
}

/* Links, devices and folders are followed by no data, whatever their size. */
static bool has_data(char type)
{
	return type < '1' || type > '6';
}

static bool header_read(struct tp_tarball *tar, unsigned char header[TP_TAR_BLOCK])
{
	size_t n = tp_stream_read(tar->stream, header, TP_TAR_BLOCK);
	if (n < TP_TAR_BLOCK) {
		/* Without the two blocks of zeros at the end the archive is complete between two
		 * members. */
		tar->is_cut |= n > 0;
		return false;
	}
	if (is_zero(header))
		return false;
	tar->is_damaged = !sum_is_right(header);
	return !tar->is_damaged;
}

/* Processes one header. Returns true if it is that of a file. */
static bool header_use(struct tp_tarball *tar, const unsigned char *header,
		       struct ext_header *ext_header)
{
	char type = (char)header[TYPE_AT];
	bool is_about_next = type == 'L' || type == 'K' || type == 'x' || type == 'g';
	uint64_t size;
	if (!number_read(header + SIZE_AT, SIZE_BYTES, &size) || ext_header->is_malformed) {
		tar->is_damaged = true;
		return false;
	}
	if (ext_header->has_size && !is_about_next)
		size = ext_header->size;
	tar->left = has_data(type) ? size : 0;
	tar->padding = (TP_TAR_BLOCK - tar->left % TP_TAR_BLOCK) % TP_TAR_BLOCK;
	if (type == 'L')
		read_text(tar, &ext_header->name);
	else if (type == 'x')
		ext_header_read(ext_header, tar);
	else if (type == '0' || type == '\0' || type == '7')
		return true;
	else
		pass_over(tar);
	if (!is_about_next) {
		tp_buf_clear(&ext_header->name);
		ext_header->has_size = false;
	}
	return false;
}

bool tp_tarball_next(struct tp_tarball *tar)
{
	unsigned char header[TP_TAR_BLOCK];
	struct ext_header ext_header = {0};
	bool is_file = false;
	pass_over(tar);
	while (!is_file && !tar->is_cut && !tar->is_damaged && header_read(tar, header))
		is_file = header_use(tar, header, &ext_header);
	if (is_file) {
		const char *promised = tp_buf_text(&ext_header.name);
		name_from_header(&tar->name, header);
		if (*promised) {
			tp_buf_clear(&tar->name);
			tp_buf_puts(&tar->name, promised);
		}
	}
	tp_buf_release(&ext_header.name);
	return is_file;
}
