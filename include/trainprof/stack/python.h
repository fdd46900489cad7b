/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python stacks of another process, read from outside while it runs: nothing in it is stopped,
 * changed or called. CPython 3.8 to 3.14, with a GIL, not built for debugging; x86-64 and aarch64.
 *
 * What was read is a snapshot: everything that makes up a stack (the thread's entry pointer, each
 * frame's link, code object and place) is read twice by one system call, and only when both copies
 * are equal did it all hold at the instant between them. What did not hold still is tried again a
 * few times and then said to be unknown. Work is bounded whatever the memory says: lengths, depths
 * and loops. Not thread-safe: one thread per struct tp_python.
 */
#ifndef TRAINPROF_STACK_PYTHON_H
#define TRAINPROF_STACK_PYTHON_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_python; /* one process's interpreter */

/* One frame. */
struct tp_python_place {
	const char *file;    /* as the code object says; lent until tp_python_close() */
	const char *name;    /* qualified from 3.11 on, else plain; lent likewise */
	uint32_t line;       /* being run; 0 = unknown */
	uint32_t first_line; /* of the function */
	uint32_t offset;   /* of the instruction in the bytecode, in bytes: tells call sites on one
			    * line apart */
	bool is_generator; /* the function yields: a generator or a coroutine */
	bool is_entry; /* C called it: the native stack has one evaluation frame for it and those
			* it called, up to the next entry. Before 3.11: always */
};

/* What kind of memory a counter is read from. */
enum tp_python_counter_kind {
	TP_PYTHON_COUNTER_VARIABLE,  /* local or global variable that holds an int */
	TP_PYTHON_COUNTER_ITERATOR,  /* position of a for loop's iterator, a C field or an int */
	TP_PYTHON_COUNTER_ATTRIBUTE, /* int attribute of an object that a variable holds */
	TP_PYTHON_COUNTER_SETTING,   /* counts nothing: what a data loader is set to; `variable` is
				      * the name of the fact */
	TP_PYTHON_COUNTER_LOOP_END,  /* a loop that was read before is over; `value` was its last */
	TP_PYTHON_COUNTER_N_KINDS,
};

/* Value of a setting that is None, or cannot be read. */
#define TP_PYTHON_UNKNOWN_SETTING UINT64_MAX

/* A whole number of the program that seems to count. */
struct tp_python_counter {
	const char *file; /* of the function whose variable or loop it is, as of a place */
	const char *name;
	uint32_t first_line;  /* of the function */
	const char *variable; /* "step", "for loop", "self.global_step"; NULL = only its number is
			       * known */
	uint32_t local;       /* its number among the function's variables, from 0 on; of a module
			       * body's any that stays its own */
	enum tp_python_counter_kind kind;
	uint64_t value;
	uint64_t total; /* value in the loop's last round, where it is known and was not given
			 * before; else 0 */
	/*
	 * The word that is written when it advances, in the memory of the process: of an iterator
	 * implemented in C the field itself, else the slot that holds a pointer to an int object.
	 * It is valid for as long as the function runs and the object that it lies in lives, so
	 * whoever keeps it asks tp_python_count_is_at() after each tp_python_count(). 0 = not
	 * known.
	 */
	uint64_t address;
	uint8_t width;   /* bytes; 0 = not known */
	bool is_object;  /* a pointer to an int object rather than the number itself */
	bool is_falling; /* the word counts down: `value` is what it has fallen by */
};

enum tp_python_outcome {
	TP_PYTHON_READ,
	TP_PYTHON_NONE,    /* the thread runs no Python now */
	TP_PYTHON_MOVING,  /* it did not hold still: unknown */
	TP_PYTHON_LOST,    /* memory that cannot be read or makes no sense: unknown */
	TP_PYTHON_PARTIAL, /* the places are the outer part of the stack, which held still; what the
			    * innermost of them called did not */
	TP_PYTHON_N_OUTCOMES,
};

struct tp_python_info {
	unsigned major, minor;
	unsigned micro; /* TP_PYTHON_UNKNOWN_MICRO where the program does not tell (before 3.11) */
	const char *path; /* of the file with the interpreter in it, as the process sees it */
	bool is_shared;   /* in a library rather than in the program itself */
};

enum { TP_PYTHON_UNKNOWN_MICRO = 255 };

struct tp_python_counts {
	uint64_t n[TP_PYTHON_N_OUTCOMES]; /* reads, by outcome */
	uint64_t n_retries;               /* attempts beyond the first of each read */
	uint64_t n_syscalls;              /* reads of the process's memory */
};

/*
 * Finds the interpreter of process `pid` (our pid namespace); `proc` is "/proc". Its files are
 * looked at once, some hundred microseconds. An interpreter that has not started yet is no error:
 * its threads run no Python until it has.
 * Errors  TP_ABSENT   no CPython in it: normal, and said of most processes;
 *         TP_VERSION  one that this reader does not know (too old, too new, free-threaded, debug);
 *         TP_DENIED   its memory may not be read;
 *         TP_IO       gone, or unreadable.
 */
TP_MUST_CHECK enum tp_status tp_python_open(struct tp_python **out, const char *proc, pid_t pid,
					    struct tp_error *err);
void tp_python_close(struct tp_python *self); /* NULL is allowed */

const struct tp_python_info *tp_python_info(const struct tp_python *self);
/* Since tp_python_open(). */
const struct tp_python_counts *tp_python_counts(const struct tp_python *self);

/*
 * The stack of thread `tid` (our pid namespace), innermost first, into out[0 .. *n). When it is
 * deeper than `max` or than what is read of a stack, the middle is left out: out[0 .. *cut) are the
 * innermost places and out[*cut .. *n) the outermost ones; else *cut = *n. Only TP_PYTHON_READ has
 * places.
 *
 * After exec the process has another interpreter or none: close and open again.
 */
enum tp_python_outcome tp_python_read(struct tp_python *self, pid_t tid,
				      struct tp_python_place *out, size_t max, size_t *n,
				      size_t *cut);

/*
 * Counters of the outermost functions on the stack that the last tp_python_read() gave, whole or in
 * part, whose values changed since they were last asked for; none when it gave no places. Values
 * are of the instant of this call. Global variables are among them while the body of their module
 * runs; those of objects are not.
 */
size_t tp_python_count(struct tp_python *self, struct tp_python_counter *out, size_t max);

/* Did the last tp_python_count() read a counter whose word lies at this address? */
bool tp_python_count_is_at(const struct tp_python *self, uint64_t address);

/* Who holds the GIL of the main interpreter (our pid namespace); 0 = nobody, or unknown. */
pid_t tp_python_gil_holder(struct tp_python *self);
/* Is a futex wait at this address a wait for the GIL? Exact, not a guess by names. */
bool tp_python_is_gil_wait(struct tp_python *self, uint64_t futex_address);

#endif
