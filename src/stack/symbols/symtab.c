/* SPDX-License-Identifier: Apache-2.0 */
/* Function symbols: loads the arrays once, selects among aliases, reads names on demand. */
#include "symtab.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_SYMBOLS = 4 << 20,
	NAME_MAX_BYTES = 4096,
	/* Number of entries to search backwards for a symbol that surrounds an address in a gap of
	 * a nested one. */
	SEARCH_BACK = 32,
};

/* rank: bit 0 = name is in .strtab (else .dynstr), bit 1 = name is a text id, higher bits:
 * binding. */
enum { IN_STRTAB = 1, HAS_NAME = 2, BINDING = 4 };

void tp_symtab_release(struct tp_symtab *symtab)
{
	free(symtab->entries);
	*symtab = (struct tp_symtab){0};
}

static uint32_t binding_rank(unsigned char info)
{
	switch (ELF64_ST_BIND(info)) {
	case STB_GLOBAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

static bool is_function(const struct tp_elf_image *image, const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	return symbol->st_shndx != SHN_UNDEF && symbol->st_size > 0 &&
	       symbol->st_size <= UINT32_MAX &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       tp_elf_image_is_code(image, symbol->st_value);
}

static void load(struct tp_symtab *symtab, struct tp_elf_image *image,
		 const struct tp_elf_section *section, uint32_t flags)
{
	enum { BLOCK = 2048 };
	Elf64_Sym *block = tp_alloc(BLOCK * sizeof(*block));
	uint64_t n_left = section->size / sizeof(*block);
	uint64_t at = section->offset;
	while (n_left > 0 && symtab->n_entries < MAX_SYMBOLS) {
		size_t n = tp_elf_source_read_some(&image->source, at, block,
						   (n_left < BLOCK ? (size_t)n_left : BLOCK) *
							   sizeof(*block)) /
			   sizeof(*block);
		if (n == 0)
			break;
		for (size_t i = 0; i < n; i++) {
			if (!is_function(image, &block[i]))
				continue;
			TP_ARRAY_PUSH(symtab->entries, symtab->n_entries,
				      symtab->entries_capacity) = (struct tp_symtab_entry){
				.start = block[i].st_value,
				.size = (uint32_t)block[i].st_size,
				.name = block[i].st_name,
				.rank = flags | binding_rank(block[i].st_info) * BINDING,
			};
			if (block[i].st_size > symtab->longest)
				symtab->longest = (uint32_t)block[i].st_size;
		}
		n_left -= n;
		at += n * sizeof(*block);
	}
	free(block);
}

static int compare_start(const void *a, const void *b)
{
	const struct tp_symtab_entry *left = a;
	const struct tp_symtab_entry *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

static const char *name_of(struct tp_symtab_entry *entry, struct tp_elf_image *image,
			   struct tp_strtab *texts)
{
	if (!(entry->rank & HAS_NAME)) {
		char name[NAME_MAX_BYTES];
		const struct tp_elf_section *strings =
			entry->rank & IN_STRTAB ? &image->strtab : &image->dynstr;
		size_t room = sizeof(name) - 1;
		if (entry->name >= strings->size)
			room = 0;
		else if (strings->size - entry->name < room)
			room = (size_t)(strings->size - entry->name);
		size_t n = tp_elf_source_read_some(&image->source, strings->offset + entry->name,
						   name, room);
		name[n] = '\0';
		entry->name = tp_strtab_intern(texts, name);
		entry->rank |= HAS_NAME;
	}
	return tp_strtab_text(texts, entry->name);
}

static size_t count_prefix(const char *name)
{
	return strspn(name, "_");
}

/* Prefers, among names for the same address, the well-known one: read, not __read or
 * __GI___read. */
static bool is_better(const char *name, uint32_t rank, const char *than, uint32_t than_rank)
{
	if (!*than || !*name)
		return *name != '\0';
	if (count_prefix(name) != count_prefix(than))
		return count_prefix(name) < count_prefix(than);
	if (rank / BINDING != than_rank / BINDING)
		return rank < than_rank;
	if (strlen(name) != strlen(than))
		return strlen(name) < strlen(than);
	return strcmp(name, than) < 0;
}

/* Returns the best name among all entries that start where entry `at` starts. */
static const char *best_name(struct tp_symtab *symtab, struct tp_elf_image *image,
			     struct tp_strtab *texts, size_t at, uint64_t vaddr)
{
	uint64_t start = symtab->entries[at].start;
	const char *best = "";
	uint32_t best_rank = 0;
	for (size_t i = 0; i < SEARCH_BACK && i <= at && symtab->entries[at - i].start == start;
	     i++) {
		struct tp_symtab_entry *entry = &symtab->entries[at - i];
		if (vaddr - start >= entry->size)
			continue;
		const char *name = name_of(entry, image, texts);
		if (is_better(name, entry->rank, best, best_rank)) {
			best = name;
			best_rank = entry->rank;
		}
	}
	return best;
}

bool tp_symtab_find(struct tp_symtab *symtab, struct tp_elf_image *image, struct tp_strtab *texts,
		    uint64_t vaddr, const char **name, uint64_t *start, uint64_t *end)
{
	if (!symtab->is_loaded) {
		symtab->is_loaded = true;
		load(symtab, image, &image->dynsym, 0);
		load(symtab, image, &image->symtab, IN_STRTAB);
		if (symtab->n_entries > 1)
			qsort(symtab->entries, symtab->n_entries, sizeof(*symtab->entries),
			      compare_start);
	}
	size_t above;
	TP_FIND_FIRST(above, 0, symtab->n_entries, symtab->entries[above].start > vaddr);
	for (size_t i = 1; i <= above && i <= SEARCH_BACK; i++) {
		const struct tp_symtab_entry *entry = &symtab->entries[above - i];
		if (vaddr - entry->start >= symtab->longest)
			return false;
		if (vaddr - entry->start >= entry->size)
			continue;
		*name = best_name(symtab, image, texts, above - i, vaddr);
		*start = entry->start;
		*end = entry->start + entry->size;
		return true;
	}
	return false;
}
