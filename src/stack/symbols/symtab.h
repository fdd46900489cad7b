/* SPDX-License-Identifier: Apache-2.0 */
/* The function symbols of an ELF file, sorted; names are read from the file one at a time. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_SYMTAB_H
#define TRAINPROF_SRC_STACK_SYMBOLS_SYMTAB_H

#include "stack/elf/elf_image.h"

#include "trainprof/base/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_symtab_entry {
	uint64_t start;
	uint32_t size;
	uint32_t name; /* offset in its string table, or the id of a text after a lookup */
	uint32_t rank; /* binding and table; see symtab.c */
};

struct tp_symtab {
	struct tp_symtab_entry *entries; /* by start */
	size_t n_entries;
	size_t entries_capacity;
	uint32_t longest; /* longest size; bounds the search for a symbol around an address */
	bool is_loaded;
};

void tp_symtab_release(struct tp_symtab *symtab);
/* Finds the name, start and end of the innermost function symbol that covers `vaddr`. */
bool tp_symtab_find(struct tp_symtab *symtab, struct tp_elf_image *image, struct tp_strtab *texts,
		    uint64_t vaddr, const char **name, uint64_t *start, uint64_t *end);

#endif
