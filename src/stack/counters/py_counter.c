/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the counters of a stack: of its loops, its variables, and the objects in them. */
#include "py_counter.h"

#include "py_loop.h"
#include "py_object.h"
#include "py_variable.h"

#include <stdlib.h>

enum {
	IMPORTS_PER_LOOK = 4,
	IMPORTS_MAX = 400, /* stacks: 4 to 8 s, or more where imports wait */
};

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
	free(self->places);
	tp_map_release(&self->place_by_key);
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

static bool is_importing(const struct tp_py_stack *stack, const struct tp_py_code_cache *codes)
{
	for (size_t i = 0; i < stack->n_frames; i++) {
		const struct tp_py_code *code = tp_py_code_get(codes, stack->frames[i].code);
		if (code && code->is_import)
			return true;
	}
	return false;
}

/* What imports a module does not go on before that is done, and modules make no steps: but they
 * have the most new functions, which are expensive. A training that runs while its module is
 * imported lasts longer than imports do. */
static bool is_left_out(struct tp_py_counters *self, const struct tp_py_stack *stack,
			const struct tp_py_code_cache *codes)
{
	self->n_imports = is_importing(stack, codes) ? self->n_imports + 1 : 0;
	return self->n_imports % IMPORTS_PER_LOOK != 0 && self->n_imports < IMPORTS_MAX;
}

size_t tp_py_counters_read(struct tp_py_counters *self, const struct tp_py_stack *stack,
			   struct tp_py_code_cache *codes, struct tp_python_counter *out,
			   size_t max)
{
	if (self->int_type == 0 || is_left_out(self, stack, codes))
		return 0;
	self->n_read = 0;
	self->n_looks++;
	struct tp_py_counter_list list = {.out = out, .max = max};
	tp_py_loops_read(self, &list, stack, codes);
	list.n += tp_py_live_loops_ends(&self->loops, out + list.n, max - list.n);
	list.n += tp_py_variables_read(self, stack, codes, out + list.n, max - list.n);
	tp_py_memory_end_group(self->mem);
	tp_py_objects_read(self, &list, stack, codes);
	return list.n;
}
