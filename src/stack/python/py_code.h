/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects of the other process: names and lines, read once each and cached.
 *
 * A code object may be freed and another one created at its address. So its head is read again and
 * compared with the cached one: type, names, constants, lines, flags. In its first second that is
 * done at every use, later after a tenth of its age, once per second at last.
 */
#ifndef TRAINPROF_SRC_STACK_PYTHON_PY_CODE_H
#define TRAINPROF_SRC_STACK_PYTHON_PY_CODE_H

#include "py_layout.h"
#include "py_line_table.h"
#include "py_memory.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/base/strtab.h"

#include <stdbool.h>

enum { TP_PY_CODE_N_FIELDS = 10 };

struct tp_py_code {
	uint64_t address;
	uint64_t fields[TP_PY_CODE_N_FIELDS]; /* fields that are compared */
	uint64_t identity;                    /* hash of them */
	const char *file;                     /* valid until the cache is released */
	const char *name;
	uint32_t first_line;
	bool is_generator;
	bool is_body; /* body of a module or a class: its variables are in a dictionary */
	uint32_t first_traceable; /* byte offset; the instructions before it are CPython's own */
	uint64_t round;           /* last round in which it was wanted */
	uint64_t bytecode;        /* address of the bytecode, from 3.11 on */
	uint64_t loaded_ns;
	uint64_t checked_ns; /* time of the last comparison with memory */
	struct tp_py_line_table lines;
};

struct tp_py_code_cache {
	struct tp_py_memory *mem;
	const struct tp_py_layout *layout;
	size_t head_bytes; /* tp_py_layout_code_bytes() */
	struct tp_strtab texts;
	struct tp_map by_address; /* -> index */
	struct tp_py_code **items;
	size_t n_items;
	size_t items_capacity;
	struct tp_buf scratch;
	uint64_t round;
	uint64_t now_ns;                 /* time of the round; 0 if reading takes no time */
	struct tp_process_range *pieces; /* code object heads to read in this round */
	uint8_t *heads;
	size_t n_wanted;
	size_t n_due; /* of these; without any nothing is read */
	size_t pieces_capacity;
	size_t heads_capacity;
};

void tp_py_code_cache_init(struct tp_py_code_cache *cache, struct tp_py_memory *mem,
			   const struct tp_py_layout *layout);
void tp_py_code_cache_release(struct tp_py_code_cache *cache);

/* Begins a round: request the code objects of a stack, read them with one system call, then get
 * them. */
void tp_py_code_begin(struct tp_py_code_cache *cache);
void tp_py_code_request(struct tp_py_code_cache *cache, uint64_t address);

enum tp_py_code_outcome {
	TP_PY_CODE_KNOWN,  /* all are equal to the cached ones */
	TP_PY_CODE_LOADED, /* some were read just now, by several calls: the caller must check that
			      the stack still has them */
	TP_PY_CODE_BAD,    /* one cannot be read, or is no code object */
};
enum tp_py_code_outcome tp_py_code_read(struct tp_py_code_cache *cache);

/* Call after tp_py_code_read(). The result is valid until the next round, its texts until the cache
 * is released. NULL = not wanted. */
const struct tp_py_code *tp_py_code_get(const struct tp_py_code_cache *cache, uint64_t address);

#endif
