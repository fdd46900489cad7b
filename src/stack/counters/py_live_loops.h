/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out when the loops of a thread are over, so that a count can be called exact.
 *
 * A loop is over when its function is at an instruction outside of the loop, or not on the stack.
 * The latter shows only in whole stacks: of one that changed while it was read only the outermost
 * frames remain. That the counter of a loop could not be read shows nothing.
 *
 * For each reading: begin, then everything that it saw, then the ends. One thread, one owner.
 */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_LIVE_LOOPS_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_LIVE_LOOPS_H

#include "trainprof/stack/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PY_LIVE_LOOPS_MAX = 8 };

/* A loop that has counted. */
struct tp_py_live_loop_state {
	uint64_t slot;     /* identity of the counter */
	uint64_t code;     /* address of the function's code object */
	uint32_t start;    /* offset of the loop in the bytecode */
	uint64_t ran;      /* number of the reading that last saw it running */
	uint64_t in_frame; /* number of the reading that last saw its function on the stack */
	struct tp_python_counter counter; /* as it was last read */
};

struct tp_py_live_loops {
	struct tp_py_live_loop_state items[TP_PY_LIVE_LOOPS_MAX];
	size_t n;
	uint64_t reading; /* number of the current reading */
	bool is_whole;    /* it saw all frames */
};

/* A zeroed structure is an empty one. */
void tp_py_live_loops_begin(struct tp_py_live_loops *self, bool is_whole);
/* A frame whose function is not known, so any function may be on the stack. */
void tp_py_live_loops_note_unknown(struct tp_py_live_loops *self);
/* The function is on the stack, at a known instruction. */
void tp_py_live_loops_note_function(struct tp_py_live_loops *self, uint64_t code);
/* The function is in this loop. */
void tp_py_live_loops_note_loop(struct tp_py_live_loops *self, uint64_t code, uint32_t start);
/* The counter of a loop was read. More than TP_PY_LIVE_LOOPS_MAX loops are ignored. */
void tp_py_live_loops_note_counter(struct tp_py_live_loops *self, uint64_t slot, uint64_t code,
				   uint32_t start, const struct tp_python_counter *counter);
/* Removes up to `max` loops that are over and returns how many; their counters get the kind
 * TP_PYTHON_COUNTER_LOOP_END. */
size_t tp_py_live_loops_ends(struct tp_py_live_loops *self, struct tp_python_counter *out,
			     size_t max);

#endif
