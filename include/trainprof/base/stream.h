/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file from the first to the last, unpacked when it is gzip. A thread of the
 * stream's own reads, hashes and unpacks ahead, so that this costs the reader no time while a CPU
 * is free. Memory is bounded whatever the file holds.
 */
#ifndef TRAINPROF_BASE_STREAM_H
#define TRAINPROF_BASE_STREAM_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_stream;

enum { TP_STREAM_HEAD_BYTES = 8 << 10 };

enum tp_stream_end {
	TP_STREAM_WHOLE,
	TP_STREAM_CUT,        /* gzip data that end too early */
	TP_STREAM_DAMAGED,    /* gzip data that make no sense, or whose checksum is wrong */
	TP_STREAM_UNREADABLE, /* reading failed in the middle */
};

/* Gives the next bytes: fewer than `size` at the end only. */
typedef size_t (*tp_stream_source)(void *context, void *out, size_t size);

/* Errors  TP_ABSENT, TP_DENIED, TP_IO; a directory is TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_stream_open(struct tp_stream **out, const char *path,
					    struct tp_error *err);
/* What another reader gives: a member of an archive. No thread, no hash. */
struct tp_stream *tp_stream_from_source(tp_stream_source source, void *context);
void tp_stream_close(struct tp_stream *stream); /* NULL is allowed */

/* Whether it is gzip that is unpacked. */
bool tp_stream_is_packed(const struct tp_stream *stream);

/* The first unpacked bytes, which stay to be read: TP_STREAM_HEAD_BYTES or all there are. Only
 * before the first read. Borrowed until then. */
size_t tp_stream_peek(struct tp_stream *stream, const unsigned char **head);

/* Unpacked bytes: fewer than `size` at the end only. What came before damage is given. */
size_t tp_stream_read(struct tp_stream *stream, void *out, size_t size);

/* How it ended, once a read gave fewer bytes than asked for. `why` (may be NULL) is what to say of
 * it; NULL when whole. */
enum tp_stream_end tp_stream_ending(const struct tp_stream *stream, const char **why);

/* Of the file as it lies on disk: 64 hex digits. Reads what is left of it. Borrowed. "" for a
 * stream over another reader. */
const char *tp_stream_sha256(struct tp_stream *stream);

#endif
