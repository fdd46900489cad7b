/* SPDX-License-Identifier: Apache-2.0 */
/* The state and stack of every thread of a program at one moment. */
#ifndef TRAINPROF_MODEL_THREAD_STACK_H
#define TRAINPROF_MODEL_THREAD_STACK_H

#include "trainprof/model/trace.h"

enum { TP_KERNEL_FUNCTION_SIZE = 64 };

struct tp_thread_stack {
	uint32_t task;
	char letter; /* state as in /proc: R S D T t Z; '\0' = it ended meanwhile */
	enum tp_state state;
	enum tp_cause cause;
	uint32_t target;                      /* string: what it waits for; 0 = unknown */
	uint32_t stack;                       /* 0 = could not be read */
	char kernel[TP_KERNEL_FUNCTION_SIZE]; /* kernel function in which it sleeps; "" = unknown */
	bool has_waits;
	uint64_t waits_ns; /* time since it last ran, accurate to some milliseconds */
};

struct tp_thread_stacks {
	struct tp_trace trace;         /* tasks, strings, frames, stacks */
	struct tp_thread_stack *items; /* heap; in order of processes, the first thread first */
	size_t n;
};

#endif
