/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whole numbers in local variables, and in those of module bodies. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_VARIABLE_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_VARIABLE_H

#include "py_counter.h"

/* Returns the variables that changed and may be counters: two system calls, three with a body. */
size_t tp_py_variables_read(struct tp_py_counters *self, const struct tp_py_stack *stack,
			    const struct tp_py_code_cache *codes, struct tp_python_counter *out,
			    size_t max);

#endif
