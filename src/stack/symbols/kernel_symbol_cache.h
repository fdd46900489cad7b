/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the running kernel's functions, from the user's cache if it has them. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_KERNEL_SYMBOL_CACHE_H
#define TRAINPROF_SRC_STACK_SYMBOLS_KERNEL_SYMBOL_CACHE_H

#include "kernel_symbols.h"

/* Returns the names of the running kernel: those kept in the user's cache directory
 * ($XDG_CACHE_HOME/trainprof or ~/.cache/trainprof), or else newly loaded ones, which are kept
 * there. Never NULL. */
struct tp_kernel_symbols *tp_kernel_symbol_cache_load(void);

#endif
