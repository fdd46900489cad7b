/* SPDX-License-Identifier: Apache-2.0 */
/* Reads strings of the other process as UTF-8. */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_TEXT_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_TEXT_H

#include "py_layout.h"
#include "py_memory.h"

#include "trainprof/base/buf.h"

#include <stdbool.h>

enum {
	/* Longer strings are truncated there, marked by "…". */
	TP_PY_TEXT_MAX_CHARACTERS = 1000,
	/* The head of a text and the characters of most follow each other: both are read at once.
	 */
	TP_PY_TEXT_FIRST_BYTES = 160,
};

/* Reads the str object at `address` into `out`, which is cleared first. Unprintable characters
 * (control characters, halves of surrogate pairs) are escaped as in Python: \n, \x1b, \udc80.
 * Returns false if the memory cannot be read or is no string. */
bool tp_py_text_read(struct tp_buf *out, struct tp_py_memory *mem,
		     const struct tp_py_layout *layout, uint64_t address);

/* The same in two steps, so that one call reads the first bytes of many texts. Returns the range to
 * be read first, TP_PY_TEXT_FIRST_BYTES at most. */
struct tp_process_range tp_py_text_first(const struct tp_py_layout *layout, uint64_t address,
					 void *out);

/* `first` is such a range, which was read. What is not in it makes a call. */
bool tp_py_text_read_rest(struct tp_buf *out, struct tp_py_memory *mem,
			  const struct tp_py_layout *layout, const struct tp_process_range *first);

#endif
