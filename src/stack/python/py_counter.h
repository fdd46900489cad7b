/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole numbers in variables that grow by one now and then: the counters of loops.
 *
 * A loop whose body is one line looks the same in every stack, but its counter says how often it
 * came round. Best is the iterator of a for loop, which lies on the frame's value stack; an
 * instance of a Python class, there or in a local variable, may count in its attributes. Of the
 * outermost frames of a stack the first local variables are read, of module bodies the global ones;
 * one that never was a whole number, or jumps about, is soon not read any more. A number counts
 * when the variable still had it after it was read; it is of an instant shortly after the stack's.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_COUNTER_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_COUNTER_H

#include "py_attribute.h"
#include "py_bytecode.h"
#include "py_code.h"
#include "py_globals.h"
#include "py_iterator.h"
#include "py_loader.h"
#include "py_stack.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/base/strtab.h"
#include "trainprof/stack/python.h"

#include <stddef.h>
#include <stdint.h>

struct tp_py_counter_slot;
struct tp_py_object_cache;
struct tp_py_typed_object;

/* A script may be run by the body of another one, as those of profilers and debuggers are. */
enum { TP_PY_COUNTERS_MAX_BODIES = 2 };
/* Numbers that are read by one call. */
enum { TP_PY_COUNTERS_MAX_LIVE = 8 };
enum { TP_PY_COUNTERS_MAX_READ = 64, TP_PY_COUNTERS_MAX_ADDRESSES = 128 };

/* A loop that has counted, and in which look it was there last. */
struct tp_py_live_counter {
	uint64_t slot;
	uint64_t look;
	struct tp_python_counter counter;
};

struct tp_py_counters {
	struct tp_py_memory *mem;
	const struct tp_py_layout *layout;
	uint64_t int_type;         /* address of PyLong_Type; 0 = not known: nothing is counted */
	struct tp_map by_key;      /* hash of code object and variable -> index */
	struct tp_map local_names; /* hash of bytecode and number -> name */
	struct tp_py_globals bodies[TP_PY_COUNTERS_MAX_BODIES];
	struct tp_strtab names;
	struct tp_buf scratch;
	struct tp_py_attributes attributes;
	struct tp_py_bytecodes bytecodes;
	struct tp_py_object_cache *objects; /* heap: instances that were looked through */
	struct tp_py_loader loader;         /* whose settings were emitted last */
	struct tp_py_typed_object *typed;   /* heap: types of objects that were met lately */
	uint64_t n_looks;
	struct tp_py_live_counter live[TP_PY_COUNTERS_MAX_LIVE]; /* loops, as last read */
	size_t n_live;
	size_t turn; /* where to begin when there are too many variables to read all */
	struct tp_py_counter_slot *slots;
	size_t n_slots;
	size_t capacity;
	uint64_t read_at[TP_PY_COUNTERS_MAX_ADDRESSES]; /* addresses of those that the last call
							   read */
	size_t n_read;
};

void tp_py_counters_init(struct tp_py_counters *self, struct tp_py_memory *mem,
			 const struct tp_py_layout *layout, uint64_t int_type);
void tp_py_counters_release(struct tp_py_counters *self);

/* Those that changed since they were last read, of a stack that `codes` knows from this round. Two
 * system calls, three beside a module body; some more when it has new variables. */
size_t tp_py_counters_read(struct tp_py_counters *self, const struct tp_py_stack *stack,
			   struct tp_py_code_cache *codes, struct tp_python_counter *out,
			   size_t max);

/* Did the last call read a variable whose word lies at this address? */
bool tp_py_counters_is_at(const struct tp_py_counters *self, uint64_t address);

#endif
