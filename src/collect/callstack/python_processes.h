/* SPDX-License-Identifier: Apache-2.0 */
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

enum { TP_PYTHON_PLACES_MAX = 256 };

/* Where one thread is in Python, innermost first. */
struct tp_python_places {
	size_t n;        /* 0: unknown, or no Python runs in it */
	bool is_unknown; /* it did not hold still, or could not be read */
	uint64_t owner;  /* number of the interpreter: equal pointers of one are equal texts */
	struct tp_python_place items[TP_PYTHON_PLACES_MAX];
};

struct tp_python_processes_stats {
	unsigned n_found;   /* interpreters so far */
	unsigned n_refused; /* that cannot be read */
	uint64_t n_read;    /* stacks */
	uint64_t n_unknown; /* that did not hold still, or could not be read */
};

struct tp_python_processes;

/* host and tree are lent and outlive it. */
struct tp_python_processes *tp_python_processes_new(const struct tp_host *host,
						    struct tp_task_tree *tree);
void tp_python_processes_free(struct tp_python_processes *pythons);

/* Look for interpreters in processes that are new, that called exec, or that may have loaded one;
 * forget those of processes that ended. Cheap when called often. */
void tp_python_processes_search(struct tp_python_processes *pythons, uint64_t now_ns);

/* Is this thread's process known to run Python? */
bool tp_python_processes_has(const struct tp_python_processes *pythons,
			     const struct tp_task_tree_task *task);

/* Where the thread is now. False, with out->n 0, when that is unknown or when it runs no Python.
 * Strings in it live until the next tp_python_processes_search(). */
bool tp_python_processes_read(struct tp_python_processes *pythons,
			      const struct tp_task_tree_task *task, struct tp_python_places *out);

/* Counters on the stack that tp_python_processes_read() gave just now of this thread; see
 * tp_python_count(). */
size_t tp_python_processes_count_loops(struct tp_python_processes *pythons,
				       const struct tp_task_tree_task *task,
				       struct tp_python_counter *out, size_t max);

/* Did that find a counter whose word lies at this address? See tp_python_count_is_at(). */
bool tp_python_processes_count_is_at(const struct tp_python_processes *pythons,
				     const struct tp_task_tree_task *task, uint64_t address);

/* Called for each look at the counters of a program's first thread, with those that changed and the
 * string ids of their names. One listener; NULL ends that. */
typedef void tp_python_counters_fn(void *context, const struct tp_task_tree_task *task,
				   const struct tp_python_counter *counters, const uint32_t *names,
				   size_t n, uint64_t now_ns);
void tp_python_processes_listen(struct tp_python_processes *pythons, tp_python_counters_fn *listen,
				void *context);
void tp_python_processes_notify(const struct tp_python_processes *pythons,
				const struct tp_task_tree_task *task,
				const struct tp_python_counter *counters, const uint32_t *names,
				size_t n, uint64_t now_ns);

/* Does a thread that waits at this futex wait for the interpreter lock (GIL)? */
bool tp_python_processes_is_gil(struct tp_python_processes *pythons,
				const struct tp_task_tree_task *task, uint64_t futex_address);

/* The thread that holds the lock of this thread's interpreter; 0: nobody, or unknown. */
pid_t tp_python_processes_gil_holder(struct tp_python_processes *pythons,
				     const struct tp_task_tree_task *task);

/* CPU time of ours that goes into reading at samples: it has a budget of its own
 * (python_sampling.h), so whoever keeps the rest has to leave it out. */
void tp_python_processes_add_cost(struct tp_python_processes *pythons, uint64_t cpu_ns);
uint64_t tp_python_processes_cost_ns(const struct tp_python_processes *pythons);

void tp_python_processes_get_stats(const struct tp_python_processes *pythons,
				   struct tp_python_processes_stats *out);
/* Why an interpreter was refused, the first one; "" when none was. */
const char *tp_python_processes_first_error(const struct tp_python_processes *pythons);

#endif
