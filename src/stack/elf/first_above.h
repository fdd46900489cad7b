/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in sorted arrays of structs: symbols, regions, unwind tables. */
#ifndef TRAINPROF_SRC_STACK_ELF_FIRST_ABOVE_H
#define TRAINPROF_SRC_STACK_ELF_FIRST_ABOVE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the index of the first of `n` items whose key, a uint64_t at `offset` in each, is above
 * `key`; n if there is none. Items are `size` bytes long and sorted by their keys. Inline,
 * because unwinding searches for each frame, and with a constant size it is as fast as
 * hand-written code. */
static inline size_t tp_first_above(const void *items, size_t n, size_t size, size_t offset,
				    uint64_t key)
{
	size_t low = 0;
	size_t high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *at = (const char *)items + middle * size + offset;
		if (*(const uint64_t *)at <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
