/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of a running module body: entries of the dictionary that is its globals.
 *
 * The way there has four steps, each of which needs the one before. So the way is kept, and read
 * along with the entries the next time: as long as nothing on it has changed, one call does.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_GLOBALS_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_GLOBALS_H

#include "py_layout.h"
#include "py_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Of a larger dictionary the last ones: imports and functions come before the loop. */
	TP_PY_GLOBALS_MAX = 256,
	TP_PY_GLOBALS_ENTRY_BYTES = 24, /* at most */
	TP_PY_GLOBALS_MAX_BYTES = TP_PY_GLOBALS_MAX * TP_PY_GLOBALS_ENTRY_BYTES,
};

struct tp_py_globals {
	uint64_t frame;      /* whose way this is; 0 = none yet */
	uint64_t dictionary; /* 0: the frame has none, or none that can be read */
	uint64_t table;      /* its entries and what finds them */
	uint64_t shape;      /* size and kind of the table, as its head says them */
	uint64_t address;    /* of the first entry that is read */
	size_t n;            /* entries that are read */
	size_t entry_bytes;
	size_t key_at; /* bytes within an entry; the value is behind the key */
};

/*
 * The entries of the module body that runs in this frame, as they are in its memory: `n` times
 * `entry_bytes` into `out`, which has TP_PY_GLOBALS_MAX_BYTES. False when its local variables are
 * not its globals, as in a class body, or the memory makes no sense. At most five calls, one when
 * nothing changed since it was read last.
 */
bool tp_py_globals_read(struct tp_py_globals *self, struct tp_py_memory *mem,
			const struct tp_py_layout *layout, uint64_t frame, uint8_t *out);

#endif
