/* SPDX-License-Identifier: Apache-2.0 */
/* Reads counters in attributes of instances of Python classes, such as self.step. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_OBJECT_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_OBJECT_H

#include "py_counter_list.h"

/* Allocates what is kept about objects; tp_py_counters_release() frees it. */
void tp_py_objects_init(struct tp_py_counters *self);

/* Reads the attributes of the object that the root points to. */
void tp_py_objects_read_attributes(struct tp_py_counters *self, struct tp_py_counter_list *list,
				   const struct tp_py_counter_root *root, uint64_t object);

/* Reads the instances in local variables of the outermost functions. */
void tp_py_objects_read(struct tp_py_counters *self, struct tp_py_counter_list *list,
			const struct tp_py_stack *stack, const struct tp_py_code_cache *codes);

#endif
