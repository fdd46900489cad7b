/* Memory of another process, read and written whole or not at all. */
#ifndef TRAINPROF_SRC_INJECT_TRACEE_MEMORY_H
#define TRAINPROF_SRC_INJECT_TRACEE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

bool tp_remotemem_read(pid_t pid, uint64_t address, void *out, size_t size);
bool tp_remotemem_write(pid_t pid, uint64_t address, const void *bytes, size_t size);

/* Read as far as there is memory; returns how much there was. */
size_t tp_remotemem_read_some(pid_t pid, uint64_t address, void *out, size_t size);

/* A text with its NUL, cut to `size`; "" where there is none. */
void tp_remotemem_read_text(pid_t pid, uint64_t address, char *out, size_t size);

#endif
