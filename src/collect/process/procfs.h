/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of files in /proc/PID and /proc/PID/task/TID. Reads no files; text is
 * NUL-terminated and may have any content. Each function returns false if the text makes no sense.
 * (stat: see procfs_stat.h.) */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_PROCFS_H
#define TRAINPROF_SRC_COLLECT_PROCESS_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

/* schedstat: exact, whereas stat counts ticks. */
struct tp_procfs_schedstat {
	uint64_t run_ns;
	uint64_t delay_ns; /* runnable without a CPU */
	uint64_t n_runs;
};

bool tp_procfs_schedstat(struct tp_procfs_schedstat *out, const char *text);

/* syscall: where a thread that is off CPU left user space. */
struct tp_procfs_syscall {
	bool is_running; /* on a CPU or waiting for one: nothing else is known */
	int32_t number;  /* -1: off CPU outside any system call, i.e. in a page fault */
	uint64_t args[6];
	uint64_t sp;
	uint64_t pc;
};

bool tp_procfs_syscall(struct tp_procfs_syscall *out, const char *text);

#endif
