/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what is about to be read, too.
 *
 * Whoever follows pointers through another process's objects makes one small system call after
 * another, and mostly the same ones as the last time. So each read is remembered, in order; a read
 * that was made before takes along those that followed it then, in the same system call. They are
 * handed out only in the order in which they were read: what was read after something else is not
 * older than that. A read that is not the expected one goes to memory, and all that was read ahead
 * for later is forgotten, because it would be older than that read.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_READ_AHEAD_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_READ_AHEAD_H

#include "py_memory.h"

#include <stdint.h>

struct tp_py_read_log;

struct tp_py_read_ahead {
	struct tp_py_memory mem;    /* what readers use; first member */
	struct tp_py_memory *below; /* borrowed; counts the calls */
	struct tp_py_read_log *log; /* heap */
};

void tp_py_read_ahead_init(struct tp_py_read_ahead *self, struct tp_py_memory *below);
void tp_py_read_ahead_release(struct tp_py_read_ahead *self);

/* From here on nothing is older than this call. What follows is another round of reads: nothing is
 * read ahead beyond the end of a round. */
void tp_py_read_ahead_begin(struct tp_py_read_ahead *self);

#endif
