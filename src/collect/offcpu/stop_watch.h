/* SPDX-License-Identifier: Apache-2.0 */
/* Detects whether a process is stopped, by a signal, a debugger or its control group, and since
 * when. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_STOP_WATCH_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_STOP_WATCH_H

#include "trainprof/model/sink.h"
#include "trainprof/model/stop.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_host;
struct tp_task_tree_task;

/* For one process; all zero at first. */
struct tp_stop_watch {
	uint64_t due_ns; /* time of the next reading */
	bool is_stopped;
	enum tp_stop_kind kind;
	uint64_t from_ns; /* when it was first found stopped, or the end of what was emitted */
	uint64_t seen_ns; /* when it was last found stopped */
};

/* Reads the state of the process's first thread if that is due and the thread has not run for a
 * while. A stop is emitted when it is over, and in pieces while it lasts. */
void tp_stop_watch_poll(struct tp_stop_watch *watch, struct tp_sink *sink,
			const struct tp_host *host, const struct tp_task_tree_task *leader,
			uint64_t now_ns);
/* Emits a pending stop without reading any more. */
void tp_stop_watch_finish(struct tp_stop_watch *watch, struct tp_sink *sink, pid_t pid);

#endif
