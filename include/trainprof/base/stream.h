/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file from start to end, unpacked if it is gzip. A thread of the stream reads, hashes and
 * unpacks ahead, which costs the reader no time while a CPU is free. Memory is bounded, whatever
 * the file contains. */
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

/* Delivers the next bytes; fewer than `size` only at the end. */
typedef size_t (*tp_stream_source)(void *context, void *out, size_t size);

/* Errors  TP_ABSENT, TP_DENIED, TP_IO; a directory is TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_stream_open(struct tp_stream **out, const char *path,
					    struct tp_error *err);
/* Reads from another reader, for example a member of an archive. No thread, no hash. */
struct tp_stream *tp_stream_from_source(tp_stream_source source, void *context);
void tp_stream_close(struct tp_stream *stream); /* NULL is allowed */

/* True if the stream is gzip and is being unpacked. */
bool tp_stream_is_packed(const struct tp_stream *stream);

/* Returns the first unpacked bytes without consuming them: TP_STREAM_HEAD_BYTES, or all there are.
 * Only before the first read. Borrowed until then. */
size_t tp_stream_peek(struct tp_stream *stream, const unsigned char **head);

/* Returns unpacked bytes; fewer than `size` only at the end. Bytes before damage are delivered. */
size_t tp_stream_read(struct tp_stream *stream, void *out, size_t size);

/* Returns how the stream ended, once a read returned fewer bytes than requested. `why` (may be
 * NULL) receives the message for it; NULL if it is complete. */
enum tp_stream_end tp_stream_ending(const struct tp_stream *stream, const char **why);

/* Returns the hash of the file as it is on disk, 64 hex digits, after reading the rest of it.
 * Borrowed. "" for a stream over another reader. */
const char *tp_stream_sha256(struct tp_stream *stream);

#endif
