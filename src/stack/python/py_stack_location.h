/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to read of a thread so that one system call gets its whole stack, twice: learned from the
 * last time, put right when the stack turns out to lie elsewhere. A plan is a guess about addresses
 * only; what is believed is checked in what was read.
 *
 * From 3.11 on frames lie one behind the other in chunks of 16 KiB; those of generators and,
 * from 3.12 on, the marks that C functions leave lie elsewhere ("loose"). Before 3.11 all frames
 * are loose.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_STACK_LOCATION_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_STACK_LOCATION_H

#include "py_layout.h"
#include "py_memory.h"

#include <stdbool.h>

enum {
	TP_PY_STACK_LOCATION_INNER_CHUNKS = 6, /* of a deep stack: these and … */
	TP_PY_STACK_LOCATION_OUTER_CHUNKS = 2, /* … these are read, what is between is not */
	TP_PY_STACK_LOCATION_CHUNKS =
		TP_PY_STACK_LOCATION_INNER_CHUNKS + TP_PY_STACK_LOCATION_OUTER_CHUNKS,
	TP_PY_STACK_LOCATION_INNER_LOOSE = 256,
	TP_PY_STACK_LOCATION_OUTER_LOOSE = 64,
	TP_PY_STACK_LOCATION_LOOSE = 512, /* those and what lies between chunks */
};

struct tp_py_stack_location_chunk {
	uint64_t address;
	uint64_t size; /* to be read */
};

struct tp_py_stack_location {
	uint64_t cframe;
	struct tp_py_stack_location_chunk *chunks; /* all that the thread has, newest first; heap */
	size_t n_chunks;
	size_t chunks_capacity;
	uint64_t loose[TP_PY_STACK_LOCATION_LOOSE]; /* frames, innermost first */
	size_t n_loose;
	/* The outermost loose frames, of the last time that the way to them was walked: of a stack
	 * with too many, the walk goes on at the first of these. */
	uint64_t outer[TP_PY_STACK_LOCATION_OUTER_LOOSE];
	uint64_t outer_codes[TP_PY_STACK_LOCATION_OUTER_LOOSE];
	size_t n_outer;
	/* Looking for those failed: not before so many more attempts. */
	uint32_t scout_wait;
	uint32_t scout_pause; /* the wait after the next failure */
};

void tp_py_stack_location_release(struct tp_py_stack_location *plan);
/* Forget all: the thread is another one. */
void tp_py_stack_location_clear(struct tp_py_stack_location *plan);

/* The i-th chunk that is read, of tp_py_stack_location_n_read(); inner ones first. */
size_t tp_py_stack_location_n_read(const struct tp_py_stack_location *plan);
const struct tp_py_stack_location_chunk *
tp_py_stack_location_read(const struct tp_py_stack_location *plan, size_t i);
/* Whether chunks in the middle are left out. */
bool tp_py_stack_location_is_partial(const struct tp_py_stack_location *plan);

/* The thread's newest chunk is `address`, used up to `top`. False when the chain makes no sense. */
bool tp_py_stack_location_follow_chunks(struct tp_py_stack_location *plan, struct tp_py_memory *mem,
					const struct tp_py_layout *layout, uint64_t address,
					uint64_t top);
/* The newest chunk is used up to `top` now: read as much of it. */
void tp_py_stack_location_fit_top(struct tp_py_stack_location *plan,
				  const struct tp_py_layout *layout, uint64_t size, uint64_t top);
#endif
