/* SPDX-License-Identifier: Apache-2.0 */
/* What only a tracer needs of another process's memory; trainprof/base/process_memory.h has the
 * rest. */
#ifndef TRAINPROF_SRC_INJECT_TRACEE_MEMORY_H
#define TRAINPROF_SRC_INJECT_TRACEE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Written whole; false with errno where it was not. */
bool tp_tracee_memory_write(pid_t pid, uint64_t address, const void *bytes, size_t size);

/* A text with its NUL, cut to `size`; "" where there is none. */
void tp_tracee_memory_read_text(pid_t pid, uint64_t address, char *out, size_t size);

#endif
