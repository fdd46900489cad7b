/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the digits of CPython's int objects. */
#include "py_number.h"

#include "stack/python/py_memory.h"

enum {
	WORD = 8,
	DIGIT_BITS = 30,
	SIZE_SHIFT = 3, /* from 3.12 on above flag bits; sign: 0 positive, 1 zero */
	SIGN_BITS = 3,
};

bool tp_py_number_parse(const struct tp_py_layout *layout, const uint8_t *object, uint64_t *value)
{
	uint64_t size = tp_py_memory_u64(object + layout->object_size);
	if (layout->minor >= 12) {
		if ((size & SIGN_BITS) > 1)
			return false;
		size = size & 1 ? 0 : size >> SIZE_SHIFT;
	}
	if (size > 2)
		return false;
	const uint8_t *digits = object + layout->object_size + WORD;
	*value = size > 0 ? tp_py_memory_u32(digits) : 0;
	if (size > 1)
		*value |= (uint64_t)tp_py_memory_u32(digits + 4) << DIGIT_BITS;
	return true;
}
