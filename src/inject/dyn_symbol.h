/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the address of a library's function in another process from the tables that the loader of
 * that process uses; the file need not be readable. The contents of the tables are not trusted. */
#ifndef TRAINPROF_SRC_INJECT_DYN_SYMBOL_H
#define TRAINPROF_SRC_INJECT_DYN_SYMBOL_H

#include <stdint.h>
#include <sys/types.h>

/* `start` is the address at which the library's ELF header is mapped. Returns 0 if it has no such
 * function. */
uint64_t tp_dyn_symbol_find(pid_t pid, uint64_t start, const char *name);

#endif
