/* SPDX-License-Identifier: Apache-2.0 */
/* Opens an interpreter that was already found, in any memory: a process, or an image of one. */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_OPEN_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_OPEN_H

#include "py_find.h"
#include "py_memory.h"

#include "trainprof/stack/python.h"

/* Like tp_python_open(); `mem` and `found` are copied. */
TP_MUST_CHECK enum tp_status tp_python_open_memory(struct tp_python **out,
						   const struct tp_py_memory *mem,
						   const struct tp_py_find_result *found,
						   const char *proc, struct tp_error *err);

#endif
