/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the position of an iterator: a field of those implemented in C, followed through zip, map,
 * filter, itertools and generators to the iterators that they read from. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_ITERATOR_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_ITERATOR_H

#include "py_attribute.h"
#include "stack/python/py_bytecode.h"
#include "stack/python/py_code.h"

#include <stdbool.h>
#include <stdint.h>

enum { TP_PY_ITERATOR_MAX_LIVE = 8, TP_PY_ITERATOR_MAX_STACK = 64 };

struct tp_py_iterators {
	struct tp_py_memory *mem;
	const struct tp_py_layout *layout;
	struct tp_py_attributes *attributes;
	struct tp_py_bytecodes *bytecodes;
	struct tp_py_code_cache *codes;
};

struct tp_py_position {
	uint64_t object;  /* the iterator that has the position */
	uint64_t address; /* address of the field; 0 = instance of a Python class: see its
			     attributes */
	uint64_t value;
	uint64_t total; /* value in the last iteration; 0 = unknown */
	bool is_falling;
	bool is_relative; /* falling, with unknown start: value is the number of iterations left */
	bool is_range;    /* the loop itself iterates over a range, not over data */
	bool is_number;   /* value is the number that a range yields, which may start anywhere */
	uint64_t inner;   /* the iterator that enumerate() reads from; else 0 */
};

/* Finds the loops whose body runs at `offset`, the outermost first, and the word of the value stack
 * that each is in. `words` has the whole value stack. Returns how many were found. */
struct tp_py_live_loop {
	struct tp_py_for_loop loop;
	size_t word;
	uint64_t object;
};
size_t tp_py_iterators_live(struct tp_py_iterators *self, const struct tp_py_bytecode *bytecode,
			    uint32_t offset, const uint64_t *words, size_t n_words,
			    struct tp_py_live_loop out[TP_PY_ITERATOR_MAX_LIVE]);

/* The head of an iterator has its type and its fields. */
enum { TP_PY_ITERATOR_HEAD_BYTES = 56 };

/* Sets the range that is read for the position after the iterator's head; returns false if there is
 * none. */
bool tp_py_iterators_second(struct tp_py_iterators *self, uint64_t object,
			    struct tp_process_range *out);

/* Returns false if nothing in it counts. */
bool tp_py_iterators_position(struct tp_py_iterators *self, uint64_t object,
			      struct tp_py_position *out);

#endif
