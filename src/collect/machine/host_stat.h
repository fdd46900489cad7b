/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of machine-wide files in /proc and of control groups. Reads no files; text is
 * NUL-terminated and may have any content. Each function returns false if the text does not contain
 * the value. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_HOST_STAT_H
#define TRAINPROF_SRC_COLLECT_MACHINE_HOST_STAT_H

#include "cpu_list.h"

#include <stdbool.h>
#include <stdint.h>

/* Sums over CPUs since boot. */
struct tp_host_stat_cpu {
	uint64_t busy_ns; /* user, nice, system, irq, softirq */
	uint64_t idle_ns; /* idle and waiting for disks */
	uint64_t steal_ns;
};

/* Parses /proc/stat for the CPUs in `allowed`. ticks_hz: sysconf(_SC_CLK_TCK). */
bool tp_host_stat_cpu(struct tp_host_stat_cpu *out, const char *text,
		      const struct tp_cpu_list *allowed, uint64_t ticks_hz);

/* Pressure: time in which some or all tasks stalled. full_ns is 0 if the kernel does not provide
 * it. */
struct tp_host_stat_pressure {
	uint64_t some_ns;
	uint64_t full_ns;
};

bool tp_host_stat_pressure(struct tp_host_stat_pressure *out, const char *text);

/* cpu.stat of a control group, version 1 (ns) or 2 (us). */
struct tp_host_stat_throttle {
	uint64_t periods;
	uint64_t throttled_periods;
	uint64_t throttled_ns;
};

bool tp_host_stat_throttle(struct tp_host_stat_throttle *out, const char *text);

/* One line of /proc/diskstats. */
struct tp_host_stat_disk {
	char name[32];
	uint64_t read_bytes;
	uint64_t write_bytes;
	uint64_t reads;
	uint64_t busy_ns;
};

/* One line of /proc/net/dev. */
struct tp_host_stat_net {
	char name[32];
	uint64_t bytes; /* received and sent */
};

/*
 * Parses the next valid line and moves *text after it; false at the end.
 *   for (const char *at = text; tp_host_stat_disk_next(&disk, &at);)
 */
bool tp_host_stat_disk_next(struct tp_host_stat_disk *out, const char **text);
bool tp_host_stat_net_next(struct tp_host_stat_net *out, const char **text);

/* Returns the number after `name` at the start of a line: "MemAvailable:", "pswpin". */
bool tp_host_stat_field(uint64_t *out, const char *text, const char *name);

#endif
