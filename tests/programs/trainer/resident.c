/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and touches; malloc and memset would be merged into calloc, which touches nothing. */
#include "resident.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64 };

void *resident_alloc(size_t size)
{
	size_t whole = (size + LINE_BYTES) / LINE_BYTES * LINE_BYTES;
	void *memory = aligned_alloc(LINE_BYTES, whole);
	if (!memory)
		abort();
	memset(memory, 0, whole);
	return memory;
}
