/* SPDX-License-Identifier: Apache-2.0 */
/* A test double of the kernel's hardware breakpoints: four debug registers and rings in ordinary
 * memory. */
#ifndef TRAINPROF_TESTS_COLLECT_WATCHDOUBLE_H
#define TRAINPROF_TESTS_COLLECT_WATCHDOUBLE_H

#include "collect/perf_bytes.h"
#include "collect/watch/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { WATCHDOUBLE_REGISTERS = 4, WATCHDOUBLE_BYTES = 32768, WATCHDOUBLE_FD = 1000 };

struct watchdouble_register {
	bool is_taken;
	struct perf_event_attr attr;
	pid_t tid;
	struct perf_event_mmap_page page;
	_Alignas(8) uint8_t data[WATCHDOUBLE_BYTES];
};

static struct watchdouble_register watchdouble[WATCHDOUBLE_REGISTERS];
static int watchdouble_failure;      /* errno of the next openings; 0 = none */
static bool watchdouble_is_old;      /* no remove_on_exec */
static unsigned watchdouble_n_opens; /* number of calls */

static inline int watchdouble_open(struct perf_event_attr *attr, pid_t tid)
{
	watchdouble_n_opens++;
	errno = watchdouble_failure;
	if (watchdouble_failure)
		return -1;
	errno = EINVAL;
	if (watchdouble_is_old && attr->remove_on_exec)
		return -1;
	errno = ENOSPC;
	for (int i = 0; i < WATCHDOUBLE_REGISTERS; i++) {
		if (watchdouble[i].is_taken)
			continue;
		memset(&watchdouble[i], 0, sizeof(watchdouble[i]));
		watchdouble[i].is_taken = true;
		watchdouble[i].attr = *attr;
		watchdouble[i].tid = tid;
		return WATCHDOUBLE_FD + i;
	}
	return -1;
}

static inline int watchdouble_map(struct tp_perf_ring *out, int fd, size_t n_pages)
{
	struct watchdouble_register *it = &watchdouble[fd - WATCHDOUBLE_FD];
	(void)n_pages;
	tp_perf_ring_init(out, &it->page, it->data, WATCHDOUBLE_BYTES);
	return 0;
}

static inline int watchdouble_close(int fd)
{
	watchdouble[fd - WATCHDOUBLE_FD].is_taken = false;
	return 0;
}

static const struct tp_breakpoint_system watchdouble_system = {.open = watchdouble_open,
							       .map = watchdouble_map,
							       .close = watchdouble_close};

static inline void watchdouble_reset(void)
{
	memset(watchdouble, 0, sizeof(watchdouble));
	watchdouble_failure = 0;
	watchdouble_is_old = false;
	watchdouble_n_opens = 0;
}

/* Returns the register that watches an address, or NULL if none does. */
static inline struct watchdouble_register *watchdouble_at(uint64_t address)
{
	for (int i = 0; i < WATCHDOUBLE_REGISTERS; i++)
		if (watchdouble[i].is_taken && watchdouble[i].attr.bp_addr == address)
			return &watchdouble[i];
	return NULL;
}

static inline void watchdouble_put(struct watchdouble_register *it)
{
	struct perf_event_header header;
	memcpy(&header, record.data, sizeof(header));
	header.size = (uint16_t)record.size;
	memcpy(record.data, &header, sizeof(header));
	for (size_t i = 0; i < record.size; i++)
		it->data[(it->page.data_head + i) % WATCHDOUBLE_BYTES] = record.data[i];
	it->page.data_head += record.size;
}

/* The thread writes to the address, or calls the function there; no effect if it is not watched. */
static inline void watchdouble_hit(uint64_t address, uint64_t time_ns)
{
	struct watchdouble_register *it = watchdouble_at(address);
	if (!it)
		return;
	begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(0x401000);
	put_id((uint32_t)it->tid, (uint32_t)it->tid, time_ns, 0);
	watchdouble_put(it);
}

static inline void watchdouble_lose(uint64_t address, uint64_t time_ns, uint64_t n)
{
	struct watchdouble_register *it = watchdouble_at(address);
	if (!it)
		return;
	begin(PERF_RECORD_LOST, 0);
	put_u64(1);
	put_u64(n);
	put_id((uint32_t)it->tid, (uint32_t)it->tid, time_ns, 0);
	watchdouble_put(it);
}

#endif
