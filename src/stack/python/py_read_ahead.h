/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads ahead the ranges that are likely to be read next.
 *
 * A reader that follows pointers through another process's objects makes one small system call
 * after another, and usually the same ones as the last time. So each read is logged, in order; a
 * read that was made before also fetches those that followed it then, in the same system call.
 * These are returned only in the order in which they were read: a range read after another one is
 * not older than that one. An unexpected read goes to memory, and everything that was read ahead is
 * dropped, because it would be older than that read. What a reader says it will read soon
 * (tp_py_memory_expect()) is a read of its own in the log, and what was read ahead before it is
 * dropped as well.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_READ_AHEAD_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_READ_AHEAD_H

#include "py_memory.h"

#include <stdint.h>

struct tp_py_read_log;

struct tp_py_read_ahead {
	struct tp_py_memory mem;    /* interface for readers; must be the first member */
	struct tp_py_memory *below; /* borrowed; counts the calls */
	struct tp_py_read_log *log; /* heap */
};

void tp_py_read_ahead_init(struct tp_py_read_ahead *self, struct tp_py_memory *below);
void tp_py_read_ahead_release(struct tp_py_read_ahead *self);

/* Begins a new round of reads: nothing returned from here on is older than this call, and nothing
 * is read ahead beyond the end of a round. */
void tp_py_read_ahead_begin(struct tp_py_read_ahead *self);

#endif
