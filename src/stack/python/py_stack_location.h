/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of which memory of a thread to read so that one system call gets its whole stack, twice:
 * learned from the last reading, corrected if the stack turns out to be elsewhere. A plan is only a
 * guess about addresses; the bytes that were read are always checked.
 *
 * From 3.11 on frames are contiguous in chunks of 16 KiB; those of generators and, from 3.12 on,
 * the marks that C functions leave are elsewhere ("loose"). Before 3.11 all frames are loose.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_STACK_LOCATION_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_STACK_LOCATION_H

#include "py_layout.h"
#include "py_memory.h"

#include <stdbool.h>

enum {
	TP_PY_STACK_LOCATION_INNER_CHUNKS = 6, /* of a deep stack these chunks and … */
	TP_PY_STACK_LOCATION_OUTER_CHUNKS = 2, /* … these are read, those in between are not */
	TP_PY_STACK_LOCATION_CHUNKS =
		TP_PY_STACK_LOCATION_INNER_CHUNKS + TP_PY_STACK_LOCATION_OUTER_CHUNKS,
	TP_PY_STACK_LOCATION_INNER_LOOSE = 256,
	TP_PY_STACK_LOCATION_OUTER_LOOSE = 64,
	TP_PY_STACK_LOCATION_LOOSE = 512, /* inner and outer ones, and those between chunks */
};

struct tp_py_stack_location_chunk {
	uint64_t address;
	uint64_t size; /* number of bytes to read */
};

struct tp_py_stack_location {
	uint64_t cframe;
	struct tp_py_stack_location_chunk *chunks; /* all chunks, newest first; heap */
	size_t n_chunks;
	size_t chunks_capacity;
	/* The newest chunk as the last readings saw it: what to read of it shrinks with them. */
	uint64_t peak_bytes;
	uint32_t n_peaks; /* readings that peak_bytes is the largest size of */
	uint64_t loose[TP_PY_STACK_LOCATION_LOOSE]; /* frames, innermost first */
	size_t n_loose;
	/* The outermost frames that are not in the interpreter's frame chunks, from the last
	 * complete walk. If a stack has more of them than are walked, the walk continues at the
	 * first of these. */
	uint64_t outer[TP_PY_STACK_LOCATION_OUTER_LOOSE];
	uint64_t outer_codes[TP_PY_STACK_LOCATION_OUTER_LOOSE];
	size_t n_outer;
	/* attempts to wait until the next search for them, after a failure */
	uint32_t scout_wait;
	uint32_t scout_pause; /* the wait after the next failure */
};

void tp_py_stack_location_release(struct tp_py_stack_location *plan);
/* Clears the plan: it is used for another thread. */
void tp_py_stack_location_clear(struct tp_py_stack_location *plan);

/* The i-th chunk that is read, of tp_py_stack_location_n_read(); inner chunks first. */
size_t tp_py_stack_location_n_read(const struct tp_py_stack_location *plan);
const struct tp_py_stack_location_chunk *
tp_py_stack_location_read(const struct tp_py_stack_location *plan, size_t i);
/* Returns true if chunks in the middle are left out. */
bool tp_py_stack_location_is_partial(const struct tp_py_stack_location *plan);

/* Follows the chain from the newest chunk `address`, used up to `top`. Returns false if the chain
 * is invalid. */
bool tp_py_stack_location_follow_chunks(struct tp_py_stack_location *plan, struct tp_py_memory *mem,
					const struct tp_py_layout *layout, uint64_t address,
					uint64_t top);
/* Notes that the newest chunk of `size` bytes is used up to `top`. Returns false if the stack has
 * outgrown what was read of it: then the plan has more. */
bool tp_py_stack_location_fit_top(struct tp_py_stack_location *plan,
				  const struct tp_py_layout *layout, uint64_t size, uint64_t top);
/* Called before a reading: what no recent reading needed is read no more. */
void tp_py_stack_location_shrink(struct tp_py_stack_location *plan);
#endif
