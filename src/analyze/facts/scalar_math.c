/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the time of functions and the kind of their arithmetic. */
#include "scalar_math.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct tp_scalar_function {
	double ns[TP_SCALAR_SLICES];
	double scalar_ns; /* part in scalar arithmetic instructions */
	double vector_ns;
};

static struct tp_scalar_function *row_of(struct tp_scalar *scalar, const struct tp_frame *frame)
{
	uint64_t key = tp_hash_mix(frame->module,
				   frame->function_start ? frame->function_start : frame->address);
	uint64_t row = scalar->n;
	if (!tp_map_get(&scalar->index, key, &row)) {
		TP_ARRAY_PUSH(scalar->rows, scalar->n, scalar->capacity) =
			(struct tp_scalar_function){0};
		tp_map_set(&scalar->index, key, row);
	}
	return &scalar->rows[row];
}

void tp_scalar_add(struct tp_scalar *scalar, const struct tp_trace *trace, uint32_t stack_id,
		   size_t slice, double ns)
{
	const struct tp_stack *stack = tp_trace_stack(trace, stack_id);
	if (!stack->n_frames)
		return;
	const struct tp_frame *leaf = &trace->frames[stack->frames[0]];
	if (leaf->kind == TP_FRAME_KERNEL)
		return;
	struct tp_scalar_function *row = row_of(scalar, leaf);
	row->ns[slice] += ns;
	row->scalar_ns += leaf->flags & TP_FRAME_SCALAR ? ns : 0;
	row->vector_ns += leaf->flags & TP_FRAME_VECTOR ? ns : 0;
}

bool tp_scalar_sum(const struct tp_scalar *scalar, double out[TP_SCALAR_SLICES])
{
	bool is_known = false;
	memset(out, 0, TP_SCALAR_SLICES * sizeof(*out));
	for (size_t i = 0; i < scalar->n; i++) {
		const struct tp_scalar_function *row = &scalar->rows[i];
		double arith_ns = row->scalar_ns + row->vector_ns;
		if (arith_ns <= 0)
			continue;
		is_known = true;
		for (size_t slice = 0; slice < TP_SCALAR_SLICES; slice++)
			out[slice] += row->ns[slice] * row->scalar_ns / arith_ns;
	}
	return is_known;
}

void tp_scalar_release(struct tp_scalar *scalar)
{
	tp_map_release(&scalar->index);
	free(scalar->rows);
	*scalar = (struct tp_scalar){0};
}
