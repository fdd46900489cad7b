/* SPDX-License-Identifier: Apache-2.0 */
/* Reads strings of the other process as UTF-8. */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_TEXT_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_TEXT_H

#include "py_layout.h"
#include "py_memory.h"

#include "trainprof/base/buf.h"

#include <stdbool.h>

/* Longer strings are truncated there, marked by "…". */
enum { TP_PY_TEXT_MAX_CHARACTERS = 1000 };

/* Reads the str object at `address` into `out`, which is cleared first. Unprintable characters
 * (control characters, halves of surrogate pairs) are escaped as in Python: \n, \x1b, \udc80.
 * Returns false if the memory cannot be read or is no string. */
bool tp_py_text_read(struct tp_buf *out, struct tp_py_memory *mem,
		     const struct tp_py_layout *layout, uint64_t address);

#endif
