/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread state belongs to which thread.
 *
 * CPython keeps the kernel's number of a thread from 3.11 on, as its own pid namespace has it;
 * before, the C library does, at a place of struct pthread that is found by looking for the main
 * thread's.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_THREADS_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_THREADS_H

#include "py_layout.h"
#include "py_memory.h"
#include "py_stack.h"

#include "trainprof/base/map.h"

#include <stdbool.h>
#include <sys/types.h>

/* One of a process's thread states. */
struct tp_py_thread_state {
	uint64_t address;
	uint64_t interp;
	uint64_t pthread;
	uint32_t tid; /* as the process sees it */
};

struct tp_py_thread_list {
	struct tp_py_memory *mem;
	const struct tp_py_layout *layout;
	uint64_t runtime; /* address of _PyRuntime */
	const char *proc; /* lent */
	pid_t pid;
	bool has_namespace;  /* threads have other numbers inside */
	uint32_t main_tid;   /* as the process sees it */
	uint32_t tid_offset; /* in struct pthread, before 3.11; 0 = not found yet */
	struct tp_py_thread_state *states;
	size_t n_states;
	size_t states_capacity;
	uint64_t *stamps; /* per interpreter: address, first thread, how many there ever were */
	size_t n_stamps;
	size_t stamps_capacity;
	bool is_read;
	bool are_own;   /* numbers of threads: false while one is being started */
	uint32_t wait;  /* it made no sense: not before so many more questions */
	uint32_t pause; /* the wait after the next failure */
};

enum tp_py_thread_outcome {
	TP_PY_THREAD_SAME,    /* as it was */
	TP_PY_THREAD_CHANGED, /* and read anew */
	TP_PY_THREAD_BROKEN,  /* cannot be read, or makes no sense */
};

/* False when /proc tells nothing of the process. */
bool tp_py_thread_list_init(struct tp_py_thread_list *list, struct tp_py_memory *mem,
			    const struct tp_py_layout *layout, uint64_t runtime, const char *proc,
			    pid_t pid);
void tp_py_thread_list_release(struct tp_py_thread_list *list);

/* Read the list when it changed or `is_forced`. */
enum tp_py_thread_outcome tp_py_thread_list_update(struct tp_py_thread_list *list, bool is_forced);

/* The number of thread `tid` inside the process's pid namespace; 0 = there is no such thread. */
uint32_t tp_py_thread_inner_tid(const struct tp_py_thread_list *list, pid_t tid);
/* The other way round, by looking at all threads. 0 = there is none. */
pid_t tp_py_thread_outer_tid(const struct tp_py_thread_list *list, uint32_t inner);

/* The k-th thread state of a thread, that of the newest interpreter first; NULL = no more. */
const struct tp_py_thread_state *tp_py_thread_find(const struct tp_py_thread_list *list,
						   uint32_t tid, size_t k);

#endif
