/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the running kernel's functions, from the user's cache where they are in it. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_KERNEL_SYMBOL_CACHE_H
#define TRAINPROF_SRC_STACK_SYMBOLS_KERNEL_SYMBOL_CACHE_H

#include "kernel_symbols.h"

/* Of the running kernel: kept ones from the user's cache directory ($XDG_CACHE_HOME/trainprof or
 * ~/.cache/trainprof), else loaded and kept there. Never NULL. */
struct tp_kernel_symbols *tp_kernel_symbol_cache_load(void);

#endif
