/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of one plane. Its names come after its lines, so all of it has to be at hand, and a
 * plane may be as large as the file. A large one is kept in an unlinked temporary file that is
 * mapped, and pages that were read are dropped: memory does not grow with it.
 */
#ifndef TRAINPROF_SRC_IMPORT_XPROF_PLANE_BYTES_H
#define TRAINPROF_SRC_IMPORT_XPROF_PLANE_BYTES_H

#include "protobuf_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_stream;

/* Zero-initialised is empty and valid, apart from `fd`, which is -1. */
struct tp_plane_bytes {
	char *memory; /* heap; unused while there is a file */
	size_t capacity;
	size_t len;
	int fd;             /* of the temporary file; -1 = none */
	bool has_no_file;   /* none can be made or written: memory only */
	unsigned char *map; /* of the file; NULL = in memory */
	size_t map_size;
	const unsigned char *drop_next; /* NULL = nothing is dropped */
	size_t n_dropped;
};

#define TP_PLANE_BYTES_INIT ((struct tp_plane_bytes){.fd = -1})

/* Reads the next `len` bytes, in place of the previous plane's. The length is not trusted. Returns
 * false if there are fewer: `out` has those. */
bool tp_plane_bytes_read(struct tp_plane_bytes *bytes, struct tp_stream *stream, uint64_t len,
			 struct tp_protobuf *out);
/* Drops the pages before `at`, which is inside of the plane; they are read again when needed. */
void tp_plane_bytes_drop(struct tp_plane_bytes *bytes, const unsigned char *at);
void tp_plane_bytes_release(struct tp_plane_bytes *bytes);

#endif
