/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/PID/stat. */
#include "procfs_stat.h"

#include "fd_cache.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/collect/host_info.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t ticks_to_ns(unsigned long long ticks)
{
	long hz = sysconf(_SC_CLK_TCK);
	return (uint64_t)ticks * (TP_NS_PER_S / (uint64_t)(hz > 0 ? hz : 100));
}

bool tp_procfs_stat_parse(struct tp_procfs_stat *out, const char *text)
{
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')'); /* comm itself may contain any character */
	if (!open || !close || close < open || close[1] != ' ')
		return false;
	int ppid;
	unsigned long long minflt;
	unsigned long long majflt;
	unsigned long long utime;
	unsigned long long stime;
	long n_threads;
	unsigned long long start;
	unsigned long long stack = 0;
	int cpu = 0;
	struct tp_procfs_stat stat = {0};
	int n = sscanf(close + 2,
		       "%c %d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu %*d %*d %*d %*d %ld "
		       "%*d %llu %*u %*d %*u %*u %*u %llu %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d "
		       "%d",
		       &stat.state, &ppid, &minflt, &majflt, &utime, &stime, &n_threads, &start,
		       &stack, &cpu);
	if (n < 8)
		return false;
	snprintf(stat.comm, sizeof(stat.comm), "%.*s", (int)(close - open - 1), open + 1);
	stat.ppid = ppid;
	stat.minor_faults = minflt;
	stat.major_faults = majflt;
	stat.utime_ns = ticks_to_ns(utime);
	stat.stime_ns = ticks_to_ns(stime);
	stat.start_ticks = start;
	stat.stack_start = stack;
	stat.n_threads = n_threads > 0 ? (uint32_t)n_threads : 0;
	stat.last_cpu = cpu > 0 ? (uint32_t)cpu : 0;
	*out = stat;
	return true;
}

enum { PATH_SIZE = 4096, TEXT_SIZE = 1024 };

static const char *stat_path(char *out, const struct tp_host *host, pid_t pid, pid_t tid)
{
	char relative[64];
	if (tid)
		snprintf(relative, sizeof(relative), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	else
		snprintf(relative, sizeof(relative), "/proc/%d/stat", (int)pid);
	return tp_host_path(host, out, PATH_SIZE, relative);
}

bool tp_procfs_stat_read(struct tp_procfs_stat *out, const struct tp_host *host, pid_t pid,
			 pid_t tid)
{
	char path[PATH_SIZE];
	char text[TEXT_SIZE];
	return tp_file_peek(stat_path(path, host, pid, tid), text, sizeof(text)) > 0 &&
	       tp_procfs_stat_parse(out, text);
}

bool tp_procfs_stat_reread(struct tp_procfs_stat *out, const struct tp_host *host, pid_t pid,
			   pid_t tid, struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot)
{
	char path[PATH_SIZE];
	char text[TEXT_SIZE];
	path[0] = '\0';
	if (!slot->is_open)
		stat_path(path, host, pid, tid);
	return tp_fd_cache_read(shelf, slot, path, text, sizeof(text)) &&
	       tp_procfs_stat_parse(out, text);
}

bool tp_procfs_stat_is_alive(const struct tp_host *host, pid_t pid, pid_t tid)
{
	struct tp_procfs_stat stat;
	return tp_procfs_stat_read(&stat, host, pid, tid) && stat.state != 'Z' && stat.state != 'X';
}
