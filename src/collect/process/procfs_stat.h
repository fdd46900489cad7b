/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one line of /proc/PID/stat or /proc/PID/task/TID/stat. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_PROCFS_STAT_H
#define TRAINPROF_SRC_COLLECT_PROCESS_PROCFS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_host;
struct tp_fd_cache; /* fd_cache.h */
struct tp_fd_cache_slot;

struct tp_procfs_stat {
	char comm[64]; /* 15 bytes for programs; kernel workers have longer ones */
	char state;    /* R S D T t Z X I */
	pid_t ppid;
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t utime_ns; /* in steps of a clock tick, 10 ms */
	uint64_t stime_ns;
	uint64_t children_ns; /* both, of its children that ended and were waited for */
	uint32_t nice;        /* 0 to 19; 0 for a negative one */
	uint32_t policy;      /* SCHED_IDLE and so on */
	uint64_t start_ticks; /* since boot: distinguishes a reused tid from its predecessor */
	uint64_t stack_start; /* address; the same in a forked child, random after each exec */
	uint32_t n_threads;
	uint32_t last_cpu;
};

/* Returns false if the text is not such a line; comm may contain blanks and parentheses. */
bool tp_procfs_stat_parse(struct tp_procfs_stat *out, const char *text);
/* tid 0 reads the whole process. Returns false if it is gone or unreadable. */
bool tp_procfs_stat_read(struct tp_procfs_stat *out, const struct tp_host *host, pid_t pid,
			 pid_t tid);
/* The same for one that is read repeatedly. */
bool tp_procfs_stat_reread(struct tp_procfs_stat *out, const struct tp_host *host, pid_t pid,
			   pid_t tid, struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot);
/* When that was, in CLOCK_MONOTONIC, rounded down to a tick; 0 if before this clock began. */
uint64_t tp_procfs_start_ns(uint64_t start_ticks);
/* True if the task exists and is not a zombie; tid 0 means the whole process. */
bool tp_procfs_stat_is_alive(const struct tp_host *host, pid_t pid, pid_t tid);

#endif
