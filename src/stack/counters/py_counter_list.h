/* SPDX-License-Identifier: Apache-2.0 */
/* The counters that one reading emits, and how each got there. Shared by the files that read
 * objects and loops; not for others. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_COUNTER_LIST_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_COUNTER_LIST_H

#include "py_counter.h"

/* Output list for the counters of one call. */
struct tp_py_counter_list {
	struct tp_python_counter *out;
	size_t n;
	size_t max;
	size_t n_searches;
	size_t n_objects;
	bool has_loader;
};

/* A word of a frame, and the object it points to. */
struct tp_py_counter_root {
	const struct tp_py_code *code;
	uint64_t frame; /* address of the frame; it may be that of another function meanwhile */
	const struct tp_py_globals *globals; /* whose entry has the word; NULL = it is in the frame
					      */
	uint64_t address;
	uint64_t word;
	uint64_t object;
	uint32_t line;    /* line of the loop; 0 = a local variable */
	bool is_range;    /* the loop goes over a range */
	bool is_number;   /* the iterator has the number itself, not its position */
	bool is_down;     /* the iterator has the number of iterations left, not done */
	uint32_t number;  /* index of the loop or the variable */
	const char *name; /* name of the variable or of the loop's variable; NULL = unknown */
};

/* Returns a permanent label; `attribute` is NULL for an iterator's own position. */
const char *tp_py_counter_label(struct tp_py_counters *self, const struct tp_py_counter_root *root,
				const char *attribute);

/* Returns the slot of a loop or attribute with that label. */
uint64_t tp_py_counter_slot_of_label(struct tp_py_counters *self,
				     const struct tp_py_counter_root *root, const char *label);

/* Adds the counter if it changed; a loop each time, so that its last iteration is known. */
void tp_py_counter_emit(struct tp_py_counters *self, struct tp_py_counter_list *list,
			const struct tp_py_counter_root *root, struct tp_python_counter counter,
			uint64_t slot);

#endif
