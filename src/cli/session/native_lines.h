/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of native code, from its debug information by way of addr2line of binutils. */
#ifndef TRAINPROF_SRC_CLI_SESSION_NATIVE_LINES_H
#define TRAINPROF_SRC_CLI_SESSION_NATIVE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_native_lines_query {
	const char *module;        /* path of the program or library */
	const uint64_t *addresses; /* as in its debug information */
	size_t n;
	uint64_t older_than_ns; /* CLOCK_REALTIME: a file that was written later is another one */
};

/*
 * `file` becomes the source file of the first address of which it is known, lines[i] the line of
 * the i-th address in that file, 0 when it is not known or in another one. False when nothing is
 * known: no addr2line, no debug information, the module is gone or was changed.
 */
bool tp_native_lines_find(const struct tp_native_lines_query *query, char *file, size_t size,
			  uint32_t *lines);

#endif
