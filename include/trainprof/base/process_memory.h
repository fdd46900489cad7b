/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the memory of another process, or of our own, while it runs (process_vm_readv(2)).
 * Addresses are that process's, buffers the caller's, sizes in bytes. Thread-safe; nothing is
 * allocated.
 *
 * errno says why bytes were not read: ESRCH (no such process), EPERM (not allowed), EFAULT (not
 * mapped, in whole or in part).
 */
#ifndef TRAINPROF_BASE_PROCESS_MEMORY_H
#define TRAINPROF_BASE_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	TP_PROCESS_MEMORY_PAGE = 4096,
	TP_PROCESS_MEMORY_MAX_PAGES = 64,   /* per call of read_some or touch */
	TP_PROCESS_MEMORY_MAX_RANGES = 256, /* per system call; the kernel accepts 1024 */
};

struct tp_process_range {
	uint64_t address;
	void *out;
	size_t size;
};

/* Copies [address, address + size) whole. Returns false with errno; `out` is then undefined. */
bool tp_process_memory_read(pid_t pid, uint64_t address, void *out, size_t size);

/* Copies the part of [address, address + size) that lies before the first unreadable page; returns
 * its size. If that is less than `size`, errno says why. One system call copies
 * TP_PROCESS_MEMORY_MAX_PAGES pages. */
size_t tp_process_memory_read_some(pid_t pid, uint64_t address, void *out, size_t size);

/* Copies ranges in order, TP_PROCESS_MEMORY_MAX_RANGES per system call; returns how many of the
 * first ranges were copied whole. If that is less than `n`, errno says why. */
size_t tp_process_memory_read_ranges(pid_t pid, const struct tp_process_range *ranges, size_t n);

/* Makes the first TP_PROCESS_MEMORY_MAX_PAGES pages of [address, address + size) present, as
 * reading them does, if they were never written; their contents stay. The kernel copies no page of
 * a stack that is not present. */
void tp_process_memory_touch(pid_t pid, uint64_t address, size_t size);

#endif
