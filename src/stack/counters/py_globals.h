/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of a running module body: entries of the dictionary that is its globals.
 *
 * The path to them has four steps, each of which needs the one before. So the path is cached, and
 * read together with the entries the next time: as long as nothing on it has changed, one call is
 * enough.
 */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_GLOBALS_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_GLOBALS_H

#include "stack/python/py_layout.h"
#include "stack/python/py_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Limit for a larger dictionary, whose last entries are read: imports and functions come
	 * before the loop. */
	TP_PY_GLOBALS_MAX = 256,
	TP_PY_GLOBALS_ENTRY_BYTES = 24, /* at most */
	TP_PY_GLOBALS_MAX_BYTES = TP_PY_GLOBALS_MAX * TP_PY_GLOBALS_ENTRY_BYTES,
};

struct tp_py_globals {
	uint64_t frame;      /* frame whose path is cached; 0 = none yet */
	uint64_t dictionary; /* 0 = the frame has none, or none that can be read */
	uint64_t table;      /* keys object: the entries and their indices */
	uint64_t shape;      /* size and kind of the table, from its head */
	uint64_t address;    /* of the first entry that is read */
	size_t n;            /* entries that are read */
	size_t entry_bytes;
	size_t key_at; /* byte offset in an entry; the value follows the key */
};

/* Copies the entries of the module body that runs in this frame: `n` times `entry_bytes` into
 * `out`, which has TP_PY_GLOBALS_MAX_BYTES. Returns false if its local variables are not its
 * globals, as in a class body, or the memory is invalid. Makes at most five calls, one if nothing
 * changed since the last reading. */
bool tp_py_globals_read(struct tp_py_globals *self, struct tp_py_memory *mem,
			const struct tp_py_layout *layout, uint64_t frame, uint8_t *out);

/* Returns the size in bytes of the indices of a dictionary's keys object, which precede its
 * entries; 0 if its head is invalid. */
uint64_t tp_py_globals_index_bytes(const struct tp_py_layout *layout, const uint8_t *head);

#endif
