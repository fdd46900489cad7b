/*
 * The Python interpreters of the target: found as they appear, read for whoever builds a stack.
 * Reading is of the instant of the call, and never stops the target.
 */
#ifndef TRAINPROF_SRC_COLLECT_CALLSTACK_PYTHON_PROCESSES_H
#define TRAINPROF_SRC_COLLECT_CALLSTACK_PYTHON_PROCESSES_H

#include "collect/process/task_tree.h"

#include "trainprof/stack/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PYTHONS_MAX_PLACES = 256 };

/* Where one thread is in Python, innermost first. */
struct tp_pyplaces {
	size_t n;        /* 0: unknown, or no Python runs in it */
	bool is_unknown; /* it did not hold still, or could not be read */
	uint64_t owner;  /* number of the interpreter: equal pointers of one are equal texts */
	struct tp_python_place items[TP_PYTHONS_MAX_PLACES];
};

struct tp_pythons_counts {
	unsigned n_found;   /* interpreters so far */
	unsigned n_refused; /* that cannot be read */
	uint64_t n_read;    /* stacks */
	uint64_t n_unknown; /* that did not hold still, or could not be read */
};

struct tp_pythons;

/* host and tree are lent and outlive it. */
struct tp_pythons *tp_pythons_new(const struct tp_host *host, struct tp_tree *tree);
void tp_pythons_free(struct tp_pythons *pythons);

/* Look for interpreters in processes that are new, that called exec, or that may have loaded one;
 * forget those of processes that ended. Cheap when called often. */
void tp_pythons_search(struct tp_pythons *pythons, uint64_t now_ns);

/* Is this thread's process known to run Python? */
bool tp_pythons_has(const struct tp_pythons *pythons, const struct tp_tree_task *task);

/* Where the thread is now. False, with out->n 0, when that is unknown or when it runs no Python.
 * Strings in it live until the next tp_pythons_search(). */
bool tp_pythons_read(struct tp_pythons *pythons, const struct tp_tree_task *task,
		     struct tp_pyplaces *out);

/* Counters on the stack that tp_pythons_read() gave just now of this thread; see
 * tp_python_count(). */
size_t tp_pythons_count_loops(struct tp_pythons *pythons, const struct tp_tree_task *task,
			      struct tp_python_counter *out, size_t max);

/* Does a thread that waits at this futex wait for the interpreter lock (GIL)? */
bool tp_pythons_is_gil(struct tp_pythons *pythons, const struct tp_tree_task *task,
		       uint64_t futex_address);

/* The thread that holds the lock of this thread's interpreter; 0: nobody, or unknown. */
pid_t tp_pythons_gil_holder(struct tp_pythons *pythons, const struct tp_tree_task *task);

/* CPU time of ours that goes into reading at samples: it has a budget of its own
 * (python_sampling.h), so whoever keeps the rest has to leave it out. */
void tp_pythons_charge(struct tp_pythons *pythons, uint64_t cpu_ns);
uint64_t tp_pythons_charged_ns(const struct tp_pythons *pythons);

void tp_pythons_count(const struct tp_pythons *pythons, struct tp_pythons_counts *out);
/* Why an interpreter was refused, the first one; "" when none was. */
const char *tp_pythons_refusal(const struct tp_pythons *pythons);

#endif
