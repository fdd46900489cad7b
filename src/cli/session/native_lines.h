/* SPDX-License-Identifier: Apache-2.0 */
/* Finds source lines of native code in its debug information with addr2line of binutils. */
#ifndef TRAINPROF_SRC_CLI_SESSION_NATIVE_LINES_H
#define TRAINPROF_SRC_CLI_SESSION_NATIVE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_native_lines_query {
	const char *module;        /* path of the program or library */
	const uint64_t *addresses; /* as in the module's debug information */
	size_t n;
	uint64_t older_than_ns; /* CLOCK_REALTIME: a file modified later is a different one */
};

/* Sets `file` to the source file of the first address that is known, and lines[i] to the line of
 * the i-th address in that file, 0 if it is not known or in another one. Returns false if nothing
 * is known: no addr2line, no debug information, the module is gone or was changed. */
bool tp_native_lines_find(const struct tp_native_lines_query *query, char *file, size_t size,
			  uint32_t *lines);

#endif
