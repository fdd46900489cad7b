/* SPDX-License-Identifier: Apache-2.0 */
/* Finds CPython's state in a process, through the files that the process maps. */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_FIND_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_FIND_H

#include "py_memory.h"

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_py_find_result {
	uint64_t runtime;      /* address of _PyRuntime */
	uint64_t int_type;     /* address of PyLong_Type; 0 = not found */
	uint64_t version_word; /* PY_VERSION_HEX, from 3.11 on; 0 = unknown */
	unsigned minor;        /* from the name of the file; 0 = the name does not contain it */
	bool is_shared;
	char *path; /* as the process sees it; heap, owned by the caller */
};

/* Searches the program and libraries called libpython3*. Of several interpreters the one that was
 * started is used. Errors  TP_ABSENT if there is none, TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_py_find(struct tp_py_find_result *out, const char *proc, pid_t pid,
					struct tp_py_memory *mem, struct tp_error *err);

/* Returns N of "python3.N", "libpython3.N.so.1.0", "/usr/bin/python3.Nd"; 0 for other names. */
unsigned tp_py_find_minor(const char *path);

#endif
