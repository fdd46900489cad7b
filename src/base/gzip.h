/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks gzip: any number of members, one after the other. */
#ifndef TRAINPROF_SRC_BASE_GZIP_H
#define TRAINPROF_SRC_BASE_GZIP_H

#include "trainprof/base/stream.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_gzip;

/* The first bytes of a gzip file: the magic number and "deflate" (RFC 1952, 2.3.1). */
enum { TP_GZIP_MAGIC_BYTES = 3 };
bool tp_gzip_detect(const unsigned char *head, size_t size);

/* Unpacks the bytes that the source delivers. */
struct tp_gzip *tp_gzip_new(tp_stream_source source, void *context);
void tp_gzip_free(struct tp_gzip *gzip); /* NULL is allowed */

/* Returns fewer than `size` bytes only at the end. */
size_t tp_gzip_read(struct tp_gzip *gzip, void *out, size_t size);
/* The way it ended: TP_STREAM_WHOLE, _CUT or _DAMAGED. */
enum tp_stream_end tp_gzip_ending(const struct tp_gzip *gzip);

#endif
