/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the frames of Python belong among those of the machine: each call from C into Python is one
 * evaluation frame of the interpreter, which stands for the Python frame that C called and, from
 * 3.11 on, for those that it calls in turn. The two halves were taken a moment apart: where they do
 * not fit, only what is common to both is told.
 */
#ifndef TRAINPROF_SRC_COLLECT_CALLSTACK_PYTHON_MERGE_H
#define TRAINPROF_SRC_COLLECT_CALLSTACK_PYTHON_MERGE_H

#include "trainprof/stack/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One frame of the merged stack. */
struct tp_python_merge_slot {
	bool is_python;
	uint32_t at; /* index among the Python places, or among the native frames */
};

/* Is it a frame in which the interpreter runs bytecode? By the name of the function. */
bool tp_python_merge_is_evaluation(const char *symbol);

/*
 * Merge; everything innermost first.
 * is_evaluation  n_native flags, by native frame.
 * is_cut         the native half does not reach the root: the Python half, which does, goes on.
 * out            up to max slots. fits: set to whether both halves tell of the same calls.
 * Returns the number of slots; what does not fit into max is left out at the outer end.
 */
size_t tp_python_merge(struct tp_python_merge_slot *out, size_t max, const bool *is_evaluation,
		       size_t n_native, bool is_cut, const struct tp_python_place *places,
		       size_t n_places, bool *fits);

#endif
