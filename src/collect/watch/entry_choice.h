/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of one thread, by function, and the functions that may be called once per step. Not
 * thread-safe; memory is bounded. */
#ifndef TRAINPROF_SRC_COLLECT_WATCH_ENTRY_CHOICE_H
#define TRAINPROF_SRC_COLLECT_WATCH_ENTRY_CHOICE_H

#include "trainprof/base/map.h"
#include "trainprof/model/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_ENTRY_DEPTH_MAX = 24, TP_ENTRY_SAMPLES_MAX = 256, TP_ENTRY_CANDIDATES_MAX = 8 };

/* A function of one file; `start` is 0 if it is unknown. */
struct tp_entry_function {
	uint32_t path; /* strings of the sink */
	uint32_t symbol;
	uint64_t start;
};

/* Outermost function first, as many as fit; and the innermost one. */
struct tp_entry_stack {
	uint32_t functions[TP_ENTRY_DEPTH_MAX]; /* numbers */
	size_t n;
	uint32_t leaf;
};

struct tp_entry_stacks {
	struct tp_entry_function *functions; /* heap, by number */
	size_t n_functions;
	size_t functions_capacity;
	struct tp_map by_key;
	struct tp_entry_stack items[TP_ENTRY_SAMPLES_MAX];
	size_t n; /* only the first n are used */
	bool has_python;
};

void tp_entry_stacks_init(struct tp_entry_stacks *stacks);
void tp_entry_stacks_release(struct tp_entry_stacks *stacks);
void tp_entry_stacks_clear(struct tp_entry_stacks *stacks); /* keeps the functions */

/* Adds a stack of the sink; one that is cut or empty is ignored. */
void tp_entry_stacks_add(struct tp_entry_stacks *stacks, const struct tp_sink *sink,
			 uint32_t stack);

/* Returns the numbers of functions that may be called once per step, in the order in which to try
 * them: the callees at the first branch, *n_parts of them, then the functions on the path to it,
 * the innermost first. */
size_t tp_entry_stacks_choose(const struct tp_entry_stacks *stacks,
			      uint32_t out[TP_ENTRY_CANDIDATES_MAX], size_t *n_parts);

/* True if the function does most of its work in functions that also run outside of it, as an
 * evaluation does. */
bool tp_entry_stacks_overlap(const struct tp_entry_stacks *stacks, uint32_t function);

#endif
