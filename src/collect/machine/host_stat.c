/* SPDX-License-Identifier: Apache-2.0 */
/* Parses machine-wide statistics: CPUs, pressure, throttling, disks, network. */
#include "host_stat.h"

#include "trainprof/base/clock.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR_BYTES = 512 }; /* of /proc/diskstats, independent of the device */

/* Returns the start of the next line, or the end of the text. */
static const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');
	return end ? end + 1 : text + strlen(text);
}

/* Parses up to n unsigned numbers separated by blanks, within the line. Returns how many. */
static unsigned scan_numbers(const char *at, uint64_t *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		at += strspn(at, " \t");
		if (!isdigit((unsigned char)*at))
			return i;
		char *end;
		out[i] = strtoull(at, &end, 10);
		at = end;
	}
	return n;
}

/* Copies a word up to one of `stops` into out; returns NULL if it is empty or does not fit. */
static const char *scan_word(const char *at, const char *stops, char *out, size_t size)
{
	at += strspn(at, " \t");
	size_t len = strcspn(at, stops);
	if (len == 0 || len >= size)
		return NULL;
	memcpy(out, at, len);
	out[len] = '\0';
	return at + len;
}

bool tp_host_stat_cpu(struct tp_host_stat_cpu *out, const char *text,
		      const struct tp_cpu_list *allowed, uint64_t ticks_hz)
{
	enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N_FIELDS };
	struct tp_host_stat_cpu sum = {0};
	const uint64_t tick_ns = TP_NS_PER_S / ticks_hz;
	bool found = false;
	for (const char *line = text; *line; line = next_line(line)) {
		uint64_t fields[N_FIELDS] = {0};
		char *end;
		if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
			continue;
		unsigned long cpu = strtoul(line + 3, &end, 10);
		if (cpu >= TP_CPU_LIST_MAX || !tp_cpu_list_has(allowed, (uint32_t)cpu) ||
		    scan_numbers(end, fields, N_FIELDS) <= IDLE)
			continue;
		found = true;
		sum.busy_ns += (fields[USER] + fields[NICE] + fields[SYSTEM] + fields[IRQ] +
				fields[SOFTIRQ]) *
			       tick_ns;
		sum.idle_ns += (fields[IDLE] + fields[IOWAIT]) * tick_ns;
		sum.steal_ns += fields[STEAL] * tick_ns;
	}
	if (found)
		*out = sum;
	return found;
}

bool tp_host_stat_pressure(struct tp_host_stat_pressure *out, const char *text)
{
	struct tp_host_stat_pressure totals = {0};
	bool found = false;
	for (const char *line = text; *line; line = next_line(line)) {
		const char *total = strstr(line, "total=");
		uint64_t us;
		if (!total || total >= next_line(line) || scan_numbers(total + 6, &us, 1) != 1)
			continue;
		if (strncmp(line, "some ", 5) == 0) {
			totals.some_ns = us * TP_NS_PER_US;
			found = true;
		} else if (strncmp(line, "full ", 5) == 0) {
			totals.full_ns = us * TP_NS_PER_US;
		}
	}
	if (found)
		*out = totals;
	return found;
}

bool tp_host_stat_field(uint64_t *out, const char *text, const char *name)
{
	size_t len = strlen(name);
	for (const char *line = text; *line; line = next_line(line)) {
		if (strncmp(line, name, len) == 0 && strchr(" \t", line[len]) && line[len])
			return scan_numbers(line + len, out, 1) == 1;
	}
	return false;
}

bool tp_host_stat_throttle(struct tp_host_stat_throttle *out, const char *text)
{
	struct tp_host_stat_throttle found;
	uint64_t us;
	if (!tp_host_stat_field(&found.periods, text, "nr_periods") ||
	    !tp_host_stat_field(&found.throttled_periods, text, "nr_throttled"))
		return false;
	if (tp_host_stat_field(&us, text, "throttled_usec"))
		found.throttled_ns = us * TP_NS_PER_US;
	else if (!tp_host_stat_field(&found.throttled_ns, text, "throttled_time"))
		return false;
	*out = found;
	return true;
}

bool tp_host_stat_disk_next(struct tp_host_stat_disk *out, const char **text)
{
	/* Columns after the name; Documentation/admin-guide/iostats.rst. */
	enum {
		READS,
		READS_MERGED,
		READ_SECTORS,
		READ_MS,
		WRITES,
		WRITES_MERGED,
		WRITE_SECTORS,
		WRITE_MS,
		IN_FLIGHT,
		BUSY_MS,
		N_FIELDS
	};
	while (**text) {
		const char *line = *text;
		uint64_t numbers[2];
		uint64_t fields[N_FIELDS];
		char device[16];
		*text = next_line(line);
		const char *at = scan_numbers(line, numbers, 2) == 2 ? line : NULL;
		for (int i = 0; at && i < 2; i++)
			at = scan_word(at, " \t\n", device, sizeof(device));
		at = at ? scan_word(at, " \t\n", out->name, sizeof(out->name)) : NULL;
		if (!at || scan_numbers(at, fields, N_FIELDS) != N_FIELDS)
			continue;
		out->read_bytes = fields[READ_SECTORS] * SECTOR_BYTES;
		out->write_bytes = fields[WRITE_SECTORS] * SECTOR_BYTES;
		out->reads = fields[READS];
		out->busy_ns = fields[BUSY_MS] * TP_NS_PER_MS;
		return true;
	}
	return false;
}

bool tp_host_stat_net_next(struct tp_host_stat_net *out, const char **text)
{
	enum { RECEIVED = 0, SENT = 8, N_FIELDS = 9 };
	while (**text) {
		const char *line = *text;
		uint64_t fields[N_FIELDS];
		*text = next_line(line);
		const char *at = scan_word(line, ": \t\n", out->name, sizeof(out->name));
		if (!at || *at != ':' || scan_numbers(at + 1, fields, N_FIELDS) != N_FIELDS)
			continue;
		out->bytes = fields[RECEIVED] + fields[SENT];
		return true;
	}
	return false;
}
