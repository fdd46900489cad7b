/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds whole numbers in variables that grow by one now and then: the counters of loops.
 *
 * A loop whose body is one line looks the same in every stack, but its counter shows how many
 * iterations it made. The best counter is the iterator of a for loop, which is on the frame's value
 * stack; an instance of a Python class, there or in a local variable, may count in its attributes.
 * In the outermost frames of a stack the first local variables are read, in module bodies the
 * global ones; a variable that never was a whole number, or changes irregularly, is soon not read
 * any more. A number is valid if the variable still had it after it was read; it belongs to an
 * instant shortly after that of the stack.
 */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_COUNTER_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_COUNTER_H

#include "py_attribute.h"
#include "py_globals.h"
#include "py_iterator.h"
#include "py_live_loops.h"
#include "py_loader.h"
#include "stack/python/py_bytecode.h"
#include "stack/python/py_code.h"
#include "stack/python/py_stack.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/base/strtab.h"
#include "trainprof/stack/python.h"

#include <stddef.h>
#include <stdint.h>

struct tp_py_counter_slot;
struct tp_py_object_cache;
struct tp_py_typed_object;

/* The body of another script may run a script, as profilers and debuggers do. */
enum { TP_PY_COUNTERS_MAX_BODIES = 2 };
/* Last variables of a body that are examined for objects: those that are set in its loop come after
 * imports and functions. */
enum { TP_PY_COUNTERS_BODY_LAST = 12 };
/* Objects and addresses that are read per call. */
enum { TP_PY_COUNTERS_MAX_READ = 64, TP_PY_COUNTERS_MAX_ADDRESSES = 128 };

/* The variables of a module body, as they were read for their numbers. */
struct tp_py_counter_body {
	struct tp_py_globals globals;
	uint64_t look; /* number of the reading */
	size_t n_last;
	uint8_t last[TP_PY_COUNTERS_BODY_LAST * TP_PY_GLOBALS_ENTRY_BYTES]; /* entries */
};

/* Objects over which loops iterated: most loops iterate over the same objects the next time. */
enum { TP_PY_COUNTERS_MAX_SOURCES = 8 };
struct tp_py_counter_sources {
	size_t n;
	uint64_t iterators[TP_PY_COUNTERS_MAX_SOURCES];
	struct tp_process_range ranges[TP_PY_COUNTERS_MAX_SOURCES];
};

struct tp_py_counters {
	struct tp_py_memory *mem;
	const struct tp_py_layout *layout;
	uint64_t int_type;         /* address of PyLong_Type; 0 = unknown: no counters */
	struct tp_map by_key;      /* hash of code object and variable -> index */
	struct tp_map local_names; /* hash of bytecode and index -> name */
	struct tp_map labels;      /* hash of what a label says -> text */
	struct tp_py_counter_body bodies[TP_PY_COUNTERS_MAX_BODIES];
	struct tp_strtab names;
	struct tp_buf scratch;
	struct tp_py_attributes attributes;
	struct tp_py_bytecodes bytecodes;
	struct tp_py_object_cache *objects; /* heap: instances that were searched */
	struct tp_py_loader loader;         /* the settings that were emitted last */
	struct tp_py_typed_object *typed;   /* heap: types of recently seen objects */
	uint64_t n_looks;
	struct tp_py_live_loops loops;
	struct tp_py_counter_sources sources; /* of the last reading */
	size_t turn; /* start of the next reading if there are too many variables to read all */
	struct tp_py_counter_slot *slots;
	size_t n_slots;
	size_t capacity;
	uint64_t read_at[TP_PY_COUNTERS_MAX_ADDRESSES]; /* addresses that the last call read */
	size_t n_read;
};

void tp_py_counters_init(struct tp_py_counters *self, struct tp_py_memory *mem,
			 const struct tp_py_layout *layout, uint64_t int_type);
void tp_py_counters_release(struct tp_py_counters *self);

/* Returns the variables that changed since they were last read, of a stack that `codes` knows
 * from this round. Makes two to four system calls, some more if it has new variables. */
size_t tp_py_counters_read(struct tp_py_counters *self, const struct tp_py_stack *stack,
			   struct tp_py_code_cache *codes, struct tp_python_counter *out,
			   size_t max);

/* Returns true if the last call read a variable whose word is at this address. */
bool tp_py_counters_is_at(const struct tp_py_counters *self, uint64_t address);

#endif
