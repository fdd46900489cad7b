/* SPDX-License-Identifier: Apache-2.0 */
/* Inspects a thread that is off CPU: what it waits for, and where. Reads /proc and the thread's own
 * stack; never stops it. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_THREAD_INSPECT_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_THREAD_INSPECT_H

#include "collect/callstack/python_processes.h"
#include "collect/callstack/stack_intern.h"
#include "collect/process/fd_cache.h"

#include "trainprof/base/map.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The result. */
struct tp_wait_info {
	enum tp_state state; /* RUNNABLE includes running: /proc does not distinguish them */
	enum tp_cause cause;
	int32_t syscall;
	uint64_t address; /* of the futex */
	uint32_t target;  /* string */
	uint32_t stack;
};

/* Data kept for a thread between inspections. All zero = never inspected. */
struct tp_inspect_state {
	struct tp_fd_cache_slot call_file;
	struct tp_wait_info sight;
	/* Content of the syscall file at the last full inspection; equal = same wait, or again. Not
	 * updated for a thread that just runs, unless it runs Python. */
	char call_text[192];
	struct tp_wait_info wait; /* result of that inspection */
	uint64_t stack_ns;        /* when the stack was last unwound; 0 = never */
	uint64_t n_runs;          /* of the task at that time */
	bool lacks_stack;         /* the thread continued while its stack was copied: try again */
	bool knew_python;         /* its process was known to run Python at that time */
	bool reads_anew; /* requested: read Python even if the thread runs or waits for a CPU */
	/* For a thread that runs Python: the native part of its stack, heap. */
	struct tp_stack_frame *frames;
	size_t n_frames;
	uint32_t stack_flags;
};

struct tp_stage_clock;

struct tp_inspector {
	const struct tp_host *host;
	struct tp_sink *sink;
	struct tp_fd_cache shelf;
	struct tp_stack_intern stackput;
	uint32_t stack_bytes;                /* maximum to copy */
	unsigned char *stack;                /* stack_bytes long */
	struct tp_map maps_read_ns;          /* pid -> time when its maps were last read */
	struct tp_python_processes *pythons; /* may be NULL */
	struct tp_python_places places;
	struct tp_stage_clock *stages; /* borrowed; may be NULL */
};

/* pythons: borrowed; NULL = Python frames are not read. */
void tp_inspector_init(struct tp_inspector *looker, const struct tp_host *host,
		       struct tp_sink *sink, struct tp_python_processes *pythons,
		       uint32_t stack_bytes);
void tp_inspector_release(struct tp_inspector *looker);

/* An older stack is unwound again even if the thread has not moved. */
#define TP_INSPECT_STACK_AGE_NS UINT64_C(10000000000)

/* Inspects a thread. Without task->maps there is no stack. Returns false if the thread is gone. The
 * result is in looked->sight. */
bool tp_inspect_thread(struct tp_inspector *looker, struct tp_inspect_state *looked,
		       const struct tp_task_tree_task *task, uint64_t now_ns);
/* Call before freeing looked. */
void tp_inspect_state_release(struct tp_inspector *looker, struct tp_inspect_state *looked);

#endif
