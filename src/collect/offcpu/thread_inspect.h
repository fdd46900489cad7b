/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look at a thread that is off CPU: what it waits for, and where. Reads /proc and the thread's
 * own stack; never stops it.
 */
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

/* What was found. */
struct tp_wait_info {
	enum tp_state state; /* RUNNABLE also stands for running: /proc does not tell */
	enum tp_cause cause;
	int32_t syscall;
	uint64_t address; /* of the futex */
	uint32_t target;  /* string */
	uint32_t stack;
};

/* What is kept of a thread between looks. Zero-initialised is a thread never looked at. */
struct tp_inspect_state {
	struct tp_fd_cache_slot call_file;
	struct tp_wait_info sight;
	/* The syscall file when it was last looked at closely; equal = still there, or again. A
	 * thread that just runs is not, unless it runs Python. */
	char call_text[192];
	struct tp_wait_info wait; /* what was found then */
	uint64_t stack_ns;        /* when the stack was last walked; 0 never */
	uint64_t n_runs;          /* of the task then */
	bool lacks_stack;         /* it went on while its stack was copied: try again */
	bool knew_python;         /* then its process was known to run Python */
	bool reads_anew;          /* asked for: Python of one that runs, or wants a CPU */
	/* Of a thread that runs Python: the machine's half of its stack, heap. */
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
	uint32_t stack_bytes;                /* copied at most */
	unsigned char *stack;                /* stack_bytes long */
	struct tp_map maps_read_ns;          /* pid -> when its maps were last read */
	struct tp_python_processes *pythons; /* may be NULL */
	struct tp_python_places places;
	struct tp_stage_clock *stages; /* lent; may be NULL */
};

/* pythons: lent; NULL: Python frames are not told. */
void tp_inspector_init(struct tp_inspector *looker, const struct tp_host *host,
		       struct tp_sink *sink, struct tp_python_processes *pythons,
		       uint32_t stack_bytes);
void tp_inspector_release(struct tp_inspector *looker);

/* A stack older than this is walked again although the thread is where it was. */
#define TP_INSPECT_STACK_AGE_NS UINT64_C(10000000000)

/*
 * Look at a thread. Without task->maps there is no stack. False when the thread is gone. The sight
 * is in looked->sight.
 */
bool tp_inspect_thread(struct tp_inspector *looker, struct tp_inspect_state *looked,
		       const struct tp_task_tree_task *task, uint64_t now_ns);
/* Before looked is freed. */
void tp_inspect_state_release(struct tp_inspector *looker, struct tp_inspect_state *looked);

#endif
