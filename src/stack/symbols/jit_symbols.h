/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the names that a run-time compiler wrote: "start size name" lines in hex, as perf reads
 * them. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_JIT_SYMBOLS_H
#define TRAINPROF_SRC_STACK_SYMBOLS_JIT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_jit_symbols;

/* Skips malformed lines; of two lines with the same start the later one counts. Copies the text. */
struct tp_jit_symbols *tp_jit_symbols_parse(const char *text, size_t size);
void tp_jit_symbols_free(struct tp_jit_symbols *names);
bool tp_jit_symbols_find(const struct tp_jit_symbols *names, uint64_t address, const char **name,
			 uint64_t *start, uint64_t *end);

#endif
