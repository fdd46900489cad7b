/* SPDX-License-Identifier: Apache-2.0 */
/* Makes gzip data in memory, so that tests need neither zlib nor the gzip program. */
#ifndef TRAINPROF_TESTS_UNIT_BASE_PACKED_H
#define TRAINPROF_TESTS_UNIT_BASE_PACKED_H

#include "trainprof/base/buf.h"

#include <stddef.h>

/* Appends a gzip member of stored blocks (RFC 1951, 3.2.4) that unpacks to the bytes. */
void packed_add(struct tp_buf *out, const void *bytes, size_t size);

#endif
