/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of the other process, as UTF-8. */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_TEXT_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_TEXT_H

#include "py_layout.h"
#include "py_memory.h"

#include "trainprof/base/buf.h"

#include <stdbool.h>

/* Longer ones are cut there, and "…" says so. */
enum { TP_PY_TEXT_MAX_CHARACTERS = 1000 };

/*
 * The str object at `address` into `out`, cleared first. What cannot be printed (control
 * characters, halves of surrogate pairs) is escaped as Python would: \n, \x1b, \udc80. False when
 * the memory cannot be read or is no string.
 */
bool tp_py_text_read(struct tp_buf *out, struct tp_py_memory *mem,
		     const struct tp_py_layout *layout, uint64_t address);

#endif
