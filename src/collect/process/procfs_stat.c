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

/* Fields of the text, counted from 1 as proc_pid_stat(5) does. */
enum {
	FIELD_PPID = 4,
	FIELD_MINFLT = 10,
	FIELD_MAJFLT = 12,
	FIELD_UTIME = 14,
	FIELD_STIME = 15,
	FIELD_CUTIME = 16,
	FIELD_CSTIME = 17,
	FIELD_NICE = 19,
	FIELD_THREADS = 20,
	FIELD_START = 22, /* the last one that must be there */
	FIELD_STACK = 28,
	FIELD_CPU = 39,
	FIELD_POLICY = 41,
	N_FIELDS,
};

/* Reads the numbers from field 4 on; returns the number of the first field that is missing. By
 * hand: sscanf() was 2 % of all that trainprof takes beside a Python program. */
static int parse_fields(const char *text, uint64_t fields[N_FIELDS])
{
	int n = FIELD_PPID;
	while (n < N_FIELDS && *text) {
		bool is_negative = *text == '-';
		const char *digits = text + is_negative;
		uint64_t value = 0;
		for (text = digits; *text >= '0' && *text <= '9'; text++)
			value = value * 10 + (uint64_t)(*text - '0');
		if (text == digits)
			break;
		fields[n++] = is_negative ? 0 : value;
		while (*text == ' ')
			text++;
	}
	return n;
}

bool tp_procfs_stat_parse(struct tp_procfs_stat *out, const char *text)
{
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')'); /* comm itself may contain any character */
	uint64_t fields[N_FIELDS] = {0};
	if (!open || !close || close < open || close[1] != ' ' || !close[2] || close[3] != ' ' ||
	    parse_fields(close + 4, fields) <= FIELD_START)
		return false;
	*out = (struct tp_procfs_stat){
		.state = close[2],
		.ppid = (pid_t)fields[FIELD_PPID],
		.minor_faults = fields[FIELD_MINFLT],
		.major_faults = fields[FIELD_MAJFLT],
		.utime_ns = ticks_to_ns(fields[FIELD_UTIME]),
		.stime_ns = ticks_to_ns(fields[FIELD_STIME]),
		.children_ns = ticks_to_ns(fields[FIELD_CUTIME] + fields[FIELD_CSTIME]),
		.nice = (uint32_t)fields[FIELD_NICE],
		.policy = (uint32_t)fields[FIELD_POLICY],
		.start_ticks = fields[FIELD_START],
		.stack_start = fields[FIELD_STACK],
		.n_threads = (uint32_t)fields[FIELD_THREADS],
		.last_cpu = (uint32_t)fields[FIELD_CPU],
	};
	size_t length = (size_t)(close - open - 1);
	if (length >= sizeof(out->comm))
		length = sizeof(out->comm) - 1;
	memcpy(out->comm, open + 1, length);
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

/* By its age: in a time namespace each of the two clocks may be the greater one. A pause between
 * the two reads makes the start earlier: callers may take a new process for an old one, whose past
 * is unknown, but not the past of an old one for new. */
uint64_t tp_procfs_start_ns(uint64_t start_ticks)
{
	uint64_t now_ns = tp_clock_now_ns();
	uint64_t age_ns = tp_clock_boot_ns() - ticks_to_ns(start_ticks);
	return (int64_t)age_ns < 0 ? now_ns : age_ns < now_ns ? now_ns - age_ns : 0;
}
