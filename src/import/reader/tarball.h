/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the members of a tar archive one after the other from a stream: ustar, GNU (long names,
 * sizes in base 256) and pax (path and size). Never trusts a header. */
#ifndef TRAINPROF_SRC_IMPORT_READER_TARBALL_H
#define TRAINPROF_SRC_IMPORT_READER_TARBALL_H

#include "trainprof/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_stream;

enum { TP_TAR_BLOCK = 512 };

struct tp_tarball {
	struct tp_stream *stream;
	struct tp_buf name; /* of the member */
	uint64_t left;      /* bytes of the member not read yet */
	uint64_t padding;   /* after them, up to the next header */
	bool is_cut;        /* the archive is truncated */
	bool is_damaged;    /* a header is invalid: everything after it is unreachable */
};

/* Returns true if the first bytes are the header of a member. */
bool tp_tarball_probe(const unsigned char *head, size_t size);

void tp_tarball_init(struct tp_tarball *tar, struct tp_stream *stream);
void tp_tarball_release(struct tp_tarball *tar);

/* Advances to the next member that is a file, skipping the rest of the previous one. Returns false
 * at the end, even if it comes too early. */
bool tp_tarball_next(struct tp_tarball *tar);

/* Reads bytes of the member, as a tp_stream_source: `context` is the struct tp_tarball. */
size_t tp_tarball_read(void *context, void *out, size_t size);

#endif
