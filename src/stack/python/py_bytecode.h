/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the for loops of a function in its bytecode: a loop's iterator is on the frame's value
 * stack while the running instruction is between its FOR_ITER and the target of that instruction's
 * exit jump. */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_BYTECODE_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_BYTECODE_H

#include "py_code.h"

#include "trainprof/base/map.h"

#include <stddef.h>
#include <stdint.h>

enum tp_py_target_kind {
	TP_PY_TARGET_UNKNOWN, /* several variables, an attribute, … */
	TP_PY_TARGET_LOCAL,
	TP_PY_TARGET_NAME, /* variable of a module or class body, or global variable */
};

struct tp_py_for_loop {
	uint32_t start; /* byte offset of its FOR_ITER */
	uint32_t end;   /* byte offset of the first instruction after the loop */
	uint32_t line;  /* 0 = unknown */
	enum tp_py_target_kind target_kind;
	uint32_t target; /* index among local variables, or among names */
};

struct tp_py_bytecode {
	uint64_t identity;
	uint32_t n_locals;    /* words before the value stack */
	uint32_t n_stack;     /* words of the value stack */
	uint64_t local_names; /* address of a tuple */
	uint64_t names; /* address of the tuple with the names of global variables and attributes */
	struct tp_py_for_loop *loops; /* heap; an outer loop comes before its inner ones */
	size_t n_loops;
};

struct tp_py_bytecodes {
	struct tp_py_memory *mem;
	const struct tp_py_layout *layout;
	struct tp_map by_address; /* -> index */
	struct tp_py_bytecode *items;
	size_t n;
	size_t capacity;
};

void tp_py_bytecodes_init(struct tp_py_bytecodes *self, struct tp_py_memory *mem,
			  const struct tp_py_layout *layout);
void tp_py_bytecodes_release(struct tp_py_bytecodes *self);

/* Returns the loops of that code object, which is read once; without loops if it cannot be read.
 * Valid until the next call. */
const struct tp_py_bytecode *tp_py_bytecodes_get(struct tp_py_bytecodes *self,
						 const struct tp_py_code *code);

/* Writes the loops in these bytes to out[0 .. max), without lines; returns their number. Accepts
 * any bytes. */
size_t tp_py_bytecode_find_loops(unsigned minor, const uint8_t *bytes, size_t size,
				 struct tp_py_for_loop *out, size_t max);

#endif
