/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: equal texts get equal ids; id 0 is always "". */
#ifndef TRAINPROF_BASE_STRTAB_H
#define TRAINPROF_BASE_STRTAB_H

#include "trainprof/base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct tp_strtab {
	struct tp_arena arena;
	const char **texts; /* by id */
	uint32_t *slots;    /* hash table of ids, 0 = empty */
	size_t n;           /* number of texts, "" included */
	size_t texts_capacity;
	size_t n_slots;
};

void tp_strtab_init(struct tp_strtab *tab);
void tp_strtab_release(struct tp_strtab *tab);
uint32_t tp_strtab_intern(struct tp_strtab *tab, const char *text);
uint32_t tp_strtab_intern_len(struct tp_strtab *tab, const char *text, size_t len);
/* Borrowed until release; "" for an id that does not exist. */
const char *tp_strtab_text(const struct tp_strtab *tab, uint32_t id);

#endif
