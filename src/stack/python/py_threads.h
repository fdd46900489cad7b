/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps threads to their thread states.
 *
 * From 3.11 on CPython keeps the kernel's tid of a thread, as its own pid namespace has it; in
 * older versions the C library keeps it, at an offset in struct pthread that is found by searching
 * for the main thread's tid.
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
	const char *proc; /* borrowed */
	pid_t pid;
	bool has_namespace;  /* threads have other tids inside their pid namespace */
	uint32_t main_tid;   /* as the process sees it */
	uint32_t tid_offset; /* in struct pthread, before 3.11; 0 = not found yet */
	struct tp_py_thread_state *states;
	size_t n_states;
	size_t states_capacity;
	uint64_t *stamps; /* per interpreter: address, first thread, number of threads so far */
	size_t n_stamps;
	size_t stamps_capacity;
	bool is_read;
	uint64_t version; /* grows each time the list is read again */
	bool are_own;     /* the tids are the threads' own: false while a thread is being started */
	uint32_t wait;    /* number of calls to wait after an invalid list */
	uint32_t pause;   /* the wait after the next failure */
};

enum tp_py_thread_outcome {
	TP_PY_THREAD_SAME,    /* unchanged */
	TP_PY_THREAD_CHANGED, /* changed and read again */
	TP_PY_THREAD_BROKEN,  /* cannot be read, or is invalid */
};

/* Returns false if /proc has no entry of the process. */
bool tp_py_thread_list_init(struct tp_py_thread_list *list, struct tp_py_memory *mem,
			    const struct tp_py_layout *layout, uint64_t runtime, const char *proc,
			    pid_t pid);
void tp_py_thread_list_release(struct tp_py_thread_list *list);

/* Reads the list if it has changed or `is_forced`. */
enum tp_py_thread_outcome tp_py_thread_list_update(struct tp_py_thread_list *list, bool is_forced);

/* Returns the tid of thread `tid` inside the process's pid namespace; 0 = there is no such
 * thread. */
uint32_t tp_py_thread_inner_tid(const struct tp_py_thread_list *list, pid_t tid);
/* The reverse, by searching all threads. 0 = there is none. */
pid_t tp_py_thread_outer_tid(const struct tp_py_thread_list *list, uint32_t inner);

/* Returns the k-th thread state of a thread, that of the newest interpreter first; NULL = no
 * more. */
const struct tp_py_thread_state *tp_py_thread_find(const struct tp_py_thread_list *list,
						   uint32_t tid, size_t k);

#endif
