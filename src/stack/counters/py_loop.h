/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the positions of the for loops that run. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_LOOP_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_LOOP_H

#include "py_counter_list.h"

/* Adds the positions to the list, and notes which loops run in self->loops. */
void tp_py_loops_read(struct tp_py_counters *self, struct tp_py_counter_list *list,
		      const struct tp_py_stack *stack, struct tp_py_code_cache *codes);

#endif
