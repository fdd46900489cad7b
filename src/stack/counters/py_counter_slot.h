/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what is remembered of each variable: its last value, and whether it counts. Shared by the
 * files that read variables, objects and loops; not for others. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_COUNTER_SLOT_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_COUNTER_SLOT_H

#include "py_counter.h"

enum {
	/* From the outermost one: layers of the model are further in. */
	TP_PY_COUNTER_MAX_FRAMES = 16,
	TP_PY_COUNTER_MAX_FAILED = 4, /* number of times that a variable was no number */
	/* Local variables per frame: trainers have many. Words after the last variable are soon
	 * given up. */
	TP_PY_COUNTER_MAX_LOCALS = 64,
	TP_PY_COUNTER_MIN_LOCALS = 16,
	/* Between two readings, in units of what it grows by: faster counters do not count
	 * steps. */
	TP_PY_COUNTER_MAX_GROWTH = 16,
};

#define TP_PY_COUNTER_NO_SLOT UINT64_MAX

struct tp_py_counter_slot {
	uint64_t value;
	const char *name; /* NULL until read */
	bool has_value;
	uint8_t n_misses;
	uint32_t n_counted; /* changes that fit a counter */
	uint32_t n_odd;
	uint64_t stride;  /* greatest common divisor of all growths; 0 = none so far */
	uint64_t highest; /* start value, of a falling counter */
	uint64_t object;  /* the object that has it */
	uint64_t total;
	uint8_t n_plain; /* objects in a row that had no numbers in attributes; stops at its maximum
			  */
	bool is_row_given_up; /* first slot of a row: none of it is read any more, for good */
};

/* Returns the slot of a variable, identified by the address of its name if global, otherwise by a
 * hash; TP_PY_COUNTER_NO_SLOT if there are too many. */
uint64_t tp_py_counter_slot_of(struct tp_py_counters *self, const struct tp_py_code *code,
			       uint64_t variable);

/* Returns the first of `*n` slots in a row for the local variables of a function that are read: one
 * search finds them all. TP_PY_COUNTER_NO_SLOT if there are too many. */
uint64_t tp_py_counter_slots_of_locals(struct tp_py_counters *self, const struct tp_py_code *code,
				       uint32_t *n);

/* Returns true if no local variable of such a row is read any more. */
bool tp_py_counter_is_row_given_up(struct tp_py_counters *self, uint64_t first, uint32_t n);

/* Returns true if the variable is not read any more: it never was a number, or jumped about. */
bool tp_py_counter_is_given_up(const struct tp_py_counters *self, uint64_t index);

/* Parses the memory of an object; returns false if it is no whole number. */
bool tp_py_counter_number(const struct tp_py_counters *self, const uint8_t *object,
			  uint64_t *value);

/* Returns true if it is a value of a counter that was not emitted yet. */
bool tp_py_counter_update(struct tp_py_counters *self, uint64_t index, uint64_t value,
			  uint64_t max_growth);

/* Gets words of a frame: as the stack was read, or from memory, where frames are not in chunks. */
bool tp_py_counter_stack_words(struct tp_py_counters *self, const struct tp_py_stack *stack,
			       uint64_t address, uint64_t *out, size_t n);

/* Returns the address of the object in a word of a frame: from 3.14 on such words have tags. */
uint64_t tp_py_counter_object(const struct tp_py_counters *self, uint64_t word);

/* Returns true if a frame whose word for its code is `word` is one of this function. */
bool tp_py_counter_is_code(const struct tp_py_counters *self, uint64_t word,
			   const struct tp_py_code *code);

/* Returns true if an object may have this address. */
bool tp_py_counter_is_address(uint64_t word);

/* Returns the text at an address; NULL = it cannot be read. */
const char *tp_py_counter_text(struct tp_py_counters *self, uint64_t address);

/* Returns the text in a tuple of names; NULL = it cannot be read. */
const char *tp_py_counter_name_in(struct tp_py_counters *self, uint64_t tuple, uint32_t number);

/* Remembers it for tp_py_counters_is_at(). */
void tp_py_counter_note_address(struct tp_py_counters *self, uint64_t address);

#endif
