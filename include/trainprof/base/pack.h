/* SPDX-License-Identifier: Apache-2.0 */
/* Packs bytes as a gzip file. */
#ifndef TRAINPROF_BASE_PACK_H
#define TRAINPROF_BASE_PACK_H

#include "trainprof/base/buf.h"

#include <stddef.h>

/* Appends one gzip member. The same bytes give the same result: it has no time and no name. */
void tp_pack_gzip(struct tp_buf *out, const void *bytes, size_t size);

#endif
