/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the counters of a stack: of its loops, its variables, and the objects in them. */
#include "py_counter.h"

#include "py_loop.h"
#include "py_object.h"
#include "py_variable.h"

#include <stdlib.h>

void tp_py_counters_init(struct tp_py_counters *self, struct tp_py_memory *mem,
			 const struct tp_py_layout *layout, uint64_t int_type)
{
	*self = (struct tp_py_counters){.mem = mem, .layout = layout, .int_type = int_type};
	tp_strtab_init(&self->names);
	tp_py_attributes_init(&self->attributes, mem, layout, int_type);
	tp_py_bytecodes_init(&self->bytecodes, mem, layout);
	tp_py_objects_init(self);
}

void tp_py_counters_release(struct tp_py_counters *self)
{
	free(self->slots);
	free(self->objects);
	free(self->typed);
	tp_py_attributes_release(&self->attributes);
	tp_py_bytecodes_release(&self->bytecodes);
	tp_strtab_release(&self->names);
	tp_buf_release(&self->scratch);
	tp_map_release(&self->by_key);
	tp_map_release(&self->local_names);
	tp_map_release(&self->labels);
}

bool tp_py_counters_is_at(const struct tp_py_counters *self, uint64_t address)
{
	for (size_t i = 0; i < self->n_read; i++)
		if (self->read_at[i] == address)
			return true;
	return false;
}

size_t tp_py_counters_read(struct tp_py_counters *self, const struct tp_py_stack *stack,
			   struct tp_py_code_cache *codes, struct tp_python_counter *out,
			   size_t max)
{
	self->n_read = 0;
	if (self->int_type == 0)
		return 0;
	self->n_looks++;
	struct tp_py_counter_list list = {.out = out, .max = max};
	tp_py_loops_read(self, &list, stack, codes);
	list.n += tp_py_live_loops_ends(&self->loops, out + list.n, max - list.n);
	list.n += tp_py_variables_read(self, stack, codes, out + list.n, max - list.n);
	tp_py_objects_read(self, &list, stack, codes);
	return list.n;
}
