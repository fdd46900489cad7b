/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a function of a library lies in another process, from the tables by which its own loader
 * finds it: the file need not be seen. What they hold is not trusted.
 */
#ifndef TRAINPROF_SRC_INJECT_DYN_SYMBOL_H
#define TRAINPROF_SRC_INJECT_DYN_SYMBOL_H

#include <stdint.h>
#include <sys/types.h>

/* `start` is where the library's ELF header is mapped. 0: it has no such function. */
uint64_t tp_dyn_symbol_find(pid_t pid, uint64_t start, const char *name);

#endif
