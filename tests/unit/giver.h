/* SPDX-License-Identifier: Apache-2.0 */
/* Provides bytes of a test to code that reads a stream: the source of tp_stream_from_source() and
 * tp_gzip_new(). */
#ifndef TRAINPROF_TESTS_UNIT_GIVER_H
#define TRAINPROF_TESTS_UNIT_GIVER_H

#include <stddef.h>
#include <string.h>

struct giver {
	const void *bytes; /* borrowed; may be NULL when none are left */
	size_t left;
};

static inline size_t give(void *context, void *out, size_t size)
{
	struct giver *giver = context;
	size_t n = size < giver->left ? size : giver->left;
	if (!n)
		return 0;
	memcpy(out, giver->bytes, n);
	giver->bytes = (const char *)giver->bytes + n;
	giver->left -= n;
	return n;
}

#endif
