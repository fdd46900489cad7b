/* SPDX-License-Identifier: Apache-2.0 */
/* The Python interpreters of the target: found when they appear, read for the code that builds
 * stacks. A read reflects the moment of the call, and never stops the target. */
#ifndef TRAINPROF_SRC_COLLECT_CALLSTACK_PYTHON_PROCESSES_H
#define TRAINPROF_SRC_COLLECT_CALLSTACK_PYTHON_PROCESSES_H

#include "collect/process/task_tree.h"

#include "trainprof/stack/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PYTHON_PLACES_MAX = 256 };

/* The Python stack of one thread, innermost first. */
struct tp_python_places {
	size_t n;        /* 0 = unknown, or the thread runs no Python */
	bool is_unknown; /* it changed during the read, or could not be read */
	uint64_t owner;  /* number of the interpreter: for the same owner equal pointers are equal
			    texts */
	struct tp_python_place items[TP_PYTHON_PLACES_MAX];
};

struct tp_python_processes_stats {
	unsigned n_found;   /* interpreters so far */
	unsigned n_refused; /* Python processes whose memory or interpreter cannot be read */
	uint64_t n_read;    /* stacks read */
	uint64_t n_unknown; /* stacks that changed during the read, or could not be read */
};

struct tp_python_processes;

/* host and tree are borrowed and must outlive it. */
struct tp_python_processes *tp_python_processes_new(const struct tp_host *host,
						    struct tp_task_tree *tree);
void tp_python_processes_free(struct tp_python_processes *pythons);

/* Searches for interpreters in processes that are new, that called exec, or that may have loaded
 * one; removes those of processes that ended. Cheap if called often. */
void tp_python_processes_search(struct tp_python_processes *pythons, uint64_t now_ns);

/* True if this thread's process is known to run Python. */
bool tp_python_processes_has(const struct tp_python_processes *pythons,
			     const struct tp_task_tree_task *task);

/* Reads the thread's current Python stack. Returns false, with out->n 0, if it is unknown or the
 * thread runs no Python. Strings in it live until the next tp_python_processes_search(). */
bool tp_python_processes_read(struct tp_python_processes *pythons,
			      const struct tp_task_tree_task *task, struct tp_python_places *out);

/* Returns true if the counters of this thread are read: it is the first one of its process, or one
 * that works while the first one does not (counting_thread.h). is_sample: it was found on a CPU. */
bool tp_python_processes_is_counting(struct tp_python_processes *pythons,
				     const struct tp_task_tree_task *task, bool is_sample);

/* Reads the counters on the stack that tp_python_processes_read() has just returned for this
 * thread; see tp_python_count(). */
size_t tp_python_processes_count_loops(struct tp_python_processes *pythons,
				       const struct tp_task_tree_task *task,
				       struct tp_python_counter *out, size_t max);

/* True if that found a counter whose word is at this address. See tp_python_count_is_at(). */
bool tp_python_processes_count_is_at(const struct tp_python_processes *pythons,
				     const struct tp_task_tree_task *task, uint64_t address);

/* Called for each read of the counters of a thread, with those that changed and the string ids of
 * their names. One listener; NULL removes it. */
typedef void tp_python_counters_fn(void *context, const struct tp_task_tree_task *task,
				   const struct tp_python_counter *counters, const uint32_t *names,
				   size_t n, uint64_t now_ns);
void tp_python_processes_listen(struct tp_python_processes *pythons, tp_python_counters_fn *listen,
				void *context);
void tp_python_processes_notify(const struct tp_python_processes *pythons,
				const struct tp_task_tree_task *task,
				const struct tp_python_counter *counters, const uint32_t *names,
				size_t n, uint64_t now_ns);

/* True if a thread that waits at this futex waits for the interpreter lock (GIL). */
bool tp_python_processes_is_gil(struct tp_python_processes *pythons,
				const struct tp_task_tree_task *task, uint64_t futex_address);

/* Returns the thread that holds the lock of this thread's interpreter; 0 = none, or unknown. */
pid_t tp_python_processes_gil_holder(struct tp_python_processes *pythons,
				     const struct tp_task_tree_task *task);

/* Adds CPU time that we spent on reading at samples: it has its own budget (python_sampling.h), so
 * the budget for the rest must exclude it. */
void tp_python_processes_add_cost(struct tp_python_processes *pythons, uint64_t cpu_ns);
uint64_t tp_python_processes_cost_ns(const struct tp_python_processes *pythons);

void tp_python_processes_get_stats(const struct tp_python_processes *pythons,
				   struct tp_python_processes_stats *out);
/* Returns why the first interpreter was refused; "" if none was. */
const char *tp_python_processes_first_error(const struct tp_python_processes *pythons);

#endif
