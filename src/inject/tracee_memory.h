/* SPDX-License-Identifier: Apache-2.0 */
/* Access to another process's memory that only a tracer needs; trainprof/base/process_memory.h has
 * the rest. */
#ifndef TRAINPROF_SRC_INJECT_TRACEE_MEMORY_H
#define TRAINPROF_SRC_INJECT_TRACEE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes all bytes; false with errno if it could not. */
bool tp_tracee_memory_write(pid_t pid, uint64_t address, const void *bytes, size_t size);

/* Reads a NUL-terminated string, truncated to `size`; "" if there is none. */
void tp_tracee_memory_read_text(pid_t pid, uint64_t address, char *out, size_t size);

#endif
