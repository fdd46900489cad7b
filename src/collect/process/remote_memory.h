/* Another process's memory, read while it runs. Thread-safe. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_REMOTE_MEMORY_H
#define TRAINPROF_SRC_COLLECT_PROCESS_REMOTE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TP_REMOTE_PAGE = 4096, TP_REMOTE_MAX_PAGES = 64 };

/*
 * Copy [address, address + size), of at most TP_REMOTE_MAX_PAGES pages; returns how much of it
 * could be read, all up to the first page that could not.
 */
size_t tp_remote_read(pid_t pid, uint64_t address, void *out, size_t size);

/*
 * Make the pages of [address, address + size) present that were never written, as reading them
 * does; what they hold stays as it is. The kernel copies no page of a stack that is not present.
 */
void tp_remote_touch(pid_t pid, uint64_t address, size_t size);

#endif
