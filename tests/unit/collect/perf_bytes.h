/* SPDX-License-Identifier: Apache-2.0 */
/* Builds perf records byte by byte, as the kernel writes them. For tests. */
#ifndef TRAINPROF_TESTS_COLLECT_PERF_BYTES_H
#define TRAINPROF_TESTS_COLLECT_PERF_BYTES_H

#include "collect/perf/perf_decode.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

/* A record under construction; aligned as in a ring. */
struct bytes {
	_Alignas(8) uint8_t data[TP_PERF_MAX_RECORD];
	size_t size;
};

static struct bytes record;

static inline void begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};
	record.size = 0;
	memcpy(record.data, &header, sizeof(header));
	record.size = sizeof(header);
}

static inline void put_u32(uint32_t value)
{
	memcpy(record.data + record.size, &value, sizeof(value));
	record.size += sizeof(value);
}

static inline void put_u64(uint64_t value)
{
	memcpy(record.data + record.size, &value, sizeof(value));
	record.size += sizeof(value);
}

static inline void put_text(const char *text)
{
	size_t padded = (strlen(text) + 8) / 8 * 8;
	memset(record.data + record.size, 0, padded);
	memcpy(record.data + record.size, text, strlen(text));
	record.size += padded;
}

/* TID, TIME and CPU, as they follow every record and stand inside samples. */
static inline void put_id(uint32_t pid, uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
	put_u32(pid);
	put_u32(tid);
	put_u64(time_ns);
	put_u32(cpu);
	put_u32(0);
}

/* The same with the event's ID. */
static inline void put_event_id(uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t event,
				uint32_t cpu)
{
	put_u32(pid);
	put_u32(tid);
	put_u64(time_ns);
	put_u64(event);
	put_u32(cpu);
	put_u32(0);
}

/* Writes the size into the header. */
static inline void seal(void)
{
	struct perf_event_header header;
	memcpy(&header, record.data, sizeof(header));
	header.size = (uint16_t)record.size;
	memcpy(record.data, &header, sizeof(header));
}

#endif
