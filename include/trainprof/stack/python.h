/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Python stacks of another process while it runs: nothing in it is stopped, changed or
 * called. CPython 3.8 to 3.14, with a GIL, not a debug build; x86-64 and aarch64.
 *
 * The result is a snapshot: everything that makes up a stack (the thread's entry pointer, each
 * frame's link, code object and position) is read twice by one system call, and is accepted only if
 * both copies are equal, so that all of it held at the instant between them. Otherwise the read is
 * retried a few times and then reported as unknown. Work is bounded for any memory contents:
 * lengths, depths and loops. Not thread-safe: one thread per struct tp_python.
 */
#ifndef TRAINPROF_STACK_PYTHON_H
#define TRAINPROF_STACK_PYTHON_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_python; /* the interpreter of one process */

/* One frame. */
struct tp_python_place {
	const char *file;    /* from the code object; borrowed until tp_python_close() */
	const char *name;    /* qualified from 3.11 on, else plain; borrowed as `file` is */
	uint32_t line;       /* the line being executed; 0 = unknown */
	uint32_t first_line; /* of the function */
	uint32_t offset; /* byte offset of the instruction in the bytecode; distinguishes call sites
			    on one line */
	bool is_generator; /* the function is a generator or a coroutine */
	bool is_entry; /* called from C: the native stack has one evaluation frame for it and the
			  functions that it called, up to the next entry. Before 3.11: always */
};

/* The kind of memory that a counter is read from. */
enum tp_python_counter_kind {
	TP_PYTHON_COUNTER_VARIABLE,  /* local or global variable that holds an int */
	TP_PYTHON_COUNTER_ITERATOR,  /* position of a for loop's iterator, a C field or an int */
	TP_PYTHON_COUNTER_ATTRIBUTE, /* int attribute of an object that a variable holds */
	TP_PYTHON_COUNTER_SETTING,   /* counts nothing: what a data loader is set to; `variable` is
				      * the name of the fact */
	TP_PYTHON_COUNTER_LOOP_END,  /* a loop that was read before is over; `value` was its last */
	TP_PYTHON_COUNTER_N_KINDS,
};

/* Value of a setting that is None or cannot be read. */
#define TP_PYTHON_UNKNOWN_SETTING UINT64_MAX

/* An integer of the program that appears to count. */
struct tp_python_counter {
	const char *file; /* file of the function whose variable or loop it is, as in a place */
	const char *name;
	uint32_t first_line;  /* of the function */
	const char *variable; /* "step", "for loop", "self.global_step"; NULL = only its number is
				 known */
	uint32_t local; /* its index among the function's variables, from 0; for a module body any
			   stable number */
	enum tp_python_counter_kind kind;
	uint64_t value;
	uint64_t total; /* value in the loop's last round, if it is known and was not reported
			   before; else 0 */
	/*
	 * The word in the process's memory that is written when the counter advances: for an
	 * iterator implemented in C the field itself, otherwise the slot that points to an int
	 * object. It is valid while the function runs and the object that contains it lives, so a
	 * caller that keeps it must call tp_python_count_is_at() after each tp_python_count(). 0 =
	 * unknown.
	 */
	uint64_t address;
	uint8_t width;   /* bytes; 0 = unknown */
	bool is_object;  /* a pointer to an int object instead of the number itself */
	bool is_falling; /* the word counts down: `value` is the amount it has fallen by */
};

enum tp_python_outcome {
	TP_PYTHON_READ,
	TP_PYTHON_NONE,    /* the thread runs no Python code now */
	TP_PYTHON_MOVING,  /* it kept changing: unknown */
	TP_PYTHON_LOST,    /* memory that cannot be read or is invalid: unknown */
	TP_PYTHON_PARTIAL, /* the places are the outer part of the stack, which was stable; its
			      innermost callees were not */
	TP_PYTHON_N_OUTCOMES,
};

struct tp_python_info {
	unsigned major, minor;
	unsigned micro; /* TP_PYTHON_UNKNOWN_MICRO if the program does not contain it (before 3.11)
			 */
	const char
		*path;  /* path of the file that contains the interpreter, as the process sees it */
	bool is_shared; /* in a library instead of the program itself */
};

enum { TP_PYTHON_UNKNOWN_MICRO = 255 };

struct tp_python_counts {
	uint64_t n[TP_PYTHON_N_OUTCOMES]; /* reads by outcome */
	uint64_t n_retries;               /* attempts beyond the first one of each read */
	uint64_t n_syscalls;              /* reads of the process's memory */
};

/*
 * Finds the interpreter of process `pid` (our pid namespace); `proc` is "/proc". Its files are
 * parsed once, which takes some hundred microseconds. An interpreter that has not started yet is no
 * error: its threads run no Python until it has.
 *
 * Errors:
 *   TP_ABSENT   no CPython in it: normal for most processes
 *   TP_VERSION  one that this reader does not support (too old, too new, free-threaded, debug)
 *   TP_DENIED   its memory may not be read
 *   TP_IO       gone, or unreadable
 */
TP_MUST_CHECK enum tp_status tp_python_open(struct tp_python **out, const char *proc, pid_t pid,
					    struct tp_error *err);
void tp_python_close(struct tp_python *self); /* NULL is allowed */

const struct tp_python_info *tp_python_info(const struct tp_python *self);
/* Since tp_python_open(). */
const struct tp_python_counts *tp_python_counts(const struct tp_python *self);

/*
 * Reads the stack of thread `tid` (our pid namespace), innermost first, into out[0 .. *n). If it is
 * deeper than `max` or than the depth that is read, the middle is left out: out[0 .. *cut) are the
 * innermost places and out[*cut .. *n) the outermost ones; else *cut = *n. Only TP_PYTHON_READ has
 * places.
 *
 * After exec the process has another interpreter or none: close and open again.
 */
enum tp_python_outcome tp_python_read(struct tp_python *self, pid_t tid,
				      struct tp_python_place *out, size_t max, size_t *n,
				      size_t *cut);

/* Returns counters of the outermost functions on the stack of the last tp_python_read() whose
 * values changed since the previous call for that thread; none if that read gave no places.
 * Counters of the first thread and of one other are remembered: a call for a third thread forgets
 * those of the second. Values are those at the time of this call. Global variables are included
 * while the body of their module runs; attributes of objects that globals hold are not. */
size_t tp_python_count(struct tp_python *self, struct tp_python_counter *out, size_t max);

/* True if the last tp_python_count() read a counter whose word is at this address. */
bool tp_python_count_is_at(const struct tp_python *self, uint64_t address);

/* The thread that holds the GIL of the main interpreter (our pid namespace); 0 = none, or
 * unknown. */
pid_t tp_python_gil_holder(struct tp_python *self);
/* True if a futex wait at this address is a wait for the GIL. Exact, not a guess by names. */
bool tp_python_is_gil_wait(struct tp_python *self, uint64_t futex_address);

#endif
