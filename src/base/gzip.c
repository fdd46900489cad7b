/* SPDX-License-Identifier: Apache-2.0 */
/* Packs and unpacks gzip through zlib, the only file that knows it. */
#include "gzip.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/pack.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* zlib does not write into what it reads */
#include <zlib.h>

enum { IN_BYTES = 128 << 10, GZIP_ONLY = 16 /* added to the window bits: see zlib.h */ };

struct tp_gzip {
	z_stream z;
	tp_stream_source source;
	void *context;
	unsigned char *in;
	bool is_over;
	enum tp_stream_end ending;
};

bool tp_gzip_detect(const unsigned char *head, size_t size)
{
	return size >= TP_GZIP_MAGIC_BYTES && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}

struct tp_gzip *tp_gzip_new(tp_stream_source source, void *context)
{
	struct tp_gzip *gzip = tp_alloc(sizeof(*gzip));
	gzip->source = source;
	gzip->context = context;
	gzip->in = tp_alloc(IN_BYTES);
	if (inflateInit2(&gzip->z, GZIP_ONLY + MAX_WBITS) != Z_OK)
		tp_oom(sizeof(gzip->z));
	return gzip;
}

void tp_gzip_free(struct tp_gzip *gzip)
{
	if (!gzip)
		return;
	inflateEnd(&gzip->z);
	free(gzip->in);
	free(gzip);
}

/* Moves the unread input to the front and lets the source fill the rest. */
static void input_refill(struct tp_gzip *gzip)
{
	size_t left = gzip->z.avail_in;
	if (left)
		memmove(gzip->in, gzip->z.next_in, left);
	left += gzip->source(gzip->context, gzip->in + left, IN_BYTES - left);
	gzip->z.next_in = gzip->in;
	gzip->z.avail_in = (unsigned)left;
}

/* True if another member follows. Anything else after a member is padding, as in gzip itself. */
static bool begin_next_member(struct tp_gzip *gzip)
{
	if (gzip->z.avail_in < TP_GZIP_MAGIC_BYTES)
		input_refill(gzip);
	return tp_gzip_detect(gzip->z.next_in, gzip->z.avail_in) && inflateReset(&gzip->z) == Z_OK;
}

static void gzip_end(struct tp_gzip *gzip, enum tp_stream_end ending)
{
	gzip->is_over = true;
	gzip->ending = ending;
}

/* zlib may still hold output when the input has ended: only when nothing moves is it the end. */
static void unpack_some(struct tp_gzip *gzip)
{
	if (!gzip->z.avail_in)
		input_refill(gzip);
	bool has_input = gzip->z.avail_in > 0;
	int result = inflate(&gzip->z, Z_NO_FLUSH);
	if (result == Z_STREAM_END) {
		if (!begin_next_member(gzip))
			gzip_end(gzip, TP_STREAM_WHOLE);
	} else if (result == Z_BUF_ERROR) {
		if (!has_input)
			gzip_end(gzip, TP_STREAM_CUT);
	} else if (result != Z_OK) {
		gzip_end(gzip, TP_STREAM_DAMAGED);
	}
}

size_t tp_gzip_read(struct tp_gzip *gzip, void *out, size_t size)
{
	unsigned char *at = out;
	size_t left = size;
	while (left && !gzip->is_over) {
		unsigned room = left < (1U << 30) ? (unsigned)left : 1U << 30;
		gzip->z.next_out = at;
		gzip->z.avail_out = room;
		unpack_some(gzip);
		at += room - gzip->z.avail_out;
		left -= room - gzip->z.avail_out;
	}
	return size - left;
}

enum tp_stream_end tp_gzip_ending(const struct tp_gzip *gzip)
{
	return gzip->ending;
}

void tp_pack_gzip(struct tp_buf *out, const void *bytes, size_t size)
{
	unsigned char packed[16 << 10];
	z_stream z = {0};
	int result;
	/* 8: zlib's own default for its memory. */
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_ONLY + MAX_WBITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		tp_oom(sizeof(z));
	const unsigned char *next = bytes;
	do {
		if (!z.avail_in && size) {
			z.avail_in = size < IN_BYTES ? (uInt)size : IN_BYTES;
			z.next_in = next;
			next += z.avail_in;
			size -= z.avail_in;
		}
		z.next_out = packed;
		z.avail_out = sizeof(packed);
		result = deflate(&z, size ? Z_NO_FLUSH : Z_FINISH);
		tp_buf_add(out, packed, sizeof(packed) - z.avail_out);
	} while (result != Z_STREAM_END);
	deflateEnd(&z);
}
