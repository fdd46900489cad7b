/* SPDX-License-Identifier: Apache-2.0 */
/* Merges Python frames into native frames: each call from C into Python is one evaluation frame of
 * the interpreter, which represents the Python frame that C called and, from 3.11 on, those that it
 * calls in turn. The two parts were read one after the other: if they do not fit, only the common
 * part is reported. */
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

/* True if the interpreter runs bytecode in this frame, by the name of the function. */
bool tp_python_merge_is_evaluation(const char *symbol);

/*
 * Merges; everything innermost first. Returns the number of slots; frames beyond max are left out
 * at the outer end.
 * is_evaluation  n_native flags, by native frame.
 * is_cut         the native part does not reach the root: the Python part, which does, continues.
 * out            up to max slots.
 * fits           set to whether both parts contain the same calls.
 */
size_t tp_python_merge(struct tp_python_merge_slot *out, size_t max, const bool *is_evaluation,
		       size_t n_native, bool is_cut, const struct tp_python_place *places,
		       size_t n_places, bool *fits);

#endif
