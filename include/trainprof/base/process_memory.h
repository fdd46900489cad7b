/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of another process, or of our own, read while it runs (process_vm_readv(2)). Addresses
 * are that process's, buffers the caller's, sizes in bytes. Thread-safe; nothing is allocated.
 *
 * What was not read is reported by errno: ESRCH (no such process), EPERM (not allowed), EFAULT (not
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
	TP_PROCESS_MEMORY_MAX_PAGES = 64,   /* in a call of read_some or touch */
	TP_PROCESS_MEMORY_MAX_RANGES = 256, /* in a system call; the kernel takes 1024 */
};

struct tp_process_range {
	uint64_t address;
	void *out;
	size_t size;
};

/* Copy [address, address + size) whole. False with errno: what is in `out` is undefined. */
bool tp_process_memory_read(pid_t pid, uint64_t address, void *out, size_t size);

/*
 * Copy as much of [address, address + size) as lies before the first page that cannot be read;
 * returns its bytes. If they are fewer than `size`, errno says why. A system call copies
 * TP_PROCESS_MEMORY_MAX_PAGES pages.
 */
size_t tp_process_memory_read_some(pid_t pid, uint64_t address, void *out, size_t size);

/*
 * Copy ranges in their order, TP_PROCESS_MEMORY_MAX_RANGES by a system call; returns how many of
 * the first were copied whole. If they are fewer than `n`, errno says why.
 */
size_t tp_process_memory_read_ranges(pid_t pid, const struct tp_process_range *ranges, size_t n);

/*
 * Make the first TP_PROCESS_MEMORY_MAX_PAGES pages of [address, address + size) present that were
 * never written, as reading them does; their contents stay. The kernel copies no page of a stack
 * that is not present.
 */
void tp_process_memory_touch(pid_t pid, uint64_t address, size_t size);

#endif
