/*
 * Code objects of the other process: names and lines, read once each and kept.
 *
 * A code object may be freed and another one made at its address. So its head is read again at every
 * use and compared with the one that was kept: type, names, constants, lines, flags.
 */
#ifndef TRAINPROF_SRC_STACK_PYCODE_H
#define TRAINPROF_SRC_STACK_PYCODE_H

#include "pylayout.h"
#include "pyline.h"
#include "pymem.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/base/strtab.h"

#include <stdbool.h>

enum { TP_PYCODE_N_FIELDS = 10 };

struct tp_pycode {
	uint64_t address;
	uint64_t fields[TP_PYCODE_N_FIELDS]; /* what is compared */
	const char *file;                    /* lent until the cache is released */
	const char *name;
	uint32_t first_line;
	uint64_t bytecode; /* from 3.11 on: its address */
	struct tp_pyline_table lines;
};

struct tp_pycode_cache {
	struct tp_pymem *mem;
	const struct tp_pylayout *layout;
	size_t head_bytes;     /* tp_pylayout_code_bytes() */
	uint64_t code_type;    /* address of PyCode_Type; 0 = not known yet */
	struct tp_strtab texts;
	struct tp_map by_address; /* -> index */
	struct tp_pycode **items;
	size_t n_items;
	size_t items_capacity;
	struct tp_buf scratch;
};

void tp_pycode_cache_init(struct tp_pycode_cache *cache, struct tp_pymem *mem,
			  const struct tp_pylayout *layout);
void tp_pycode_cache_release(struct tp_pycode_cache *cache);

/* What is kept of the code object whose head was just read; NULL when nothing is, or of another. */
const struct tp_pycode *tp_pycode_find(const struct tp_pycode_cache *cache, uint64_t address,
				       const uint8_t *head);
/*
 * Reads and keeps it, in place of what was kept. Valid until the next load. NULL when it is no code
 * object. Several reads of memory: the caller makes sure afterwards that it was still in use.
 */
const struct tp_pycode *tp_pycode_load(struct tp_pycode_cache *cache, uint64_t address,
				       const uint8_t *head);

#endif
