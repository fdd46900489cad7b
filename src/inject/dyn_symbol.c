/* SPDX-License-Identifier: Apache-2.0 */
/* Looks a name up in the GNU hash table of a loaded library. */
#include "dyn_symbol.h"

#include "tracee_memory.h"

#include "trainprof/base/process_memory.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

enum { SEGMENTS_MAX = 64, DYNAMIC_MAX = 256, CHAIN_MAX = 1 << 16, MAX_NAME = 64 };

struct tables {
	pid_t pid;
	uint64_t bias;
	uint64_t hash;
	uint64_t symbols;
	uint64_t strings;
};

/* A pointer in the dynamic section; on most machines the loader has already added the load bias. */
static uint64_t address_of(const struct tables *tables, uint64_t value)
{
	return value < tables->bias ? value + tables->bias : value;
}

static bool read_dynamic(struct tables *out, const Elf64_Phdr *segment)
{
	Elf64_Dyn entries[DYNAMIC_MAX];
	size_t n = segment->p_memsz / sizeof(*entries);
	n = n < DYNAMIC_MAX ? n : DYNAMIC_MAX;
	if (!tp_process_memory_read(out->pid, out->bias + segment->p_vaddr, entries,
				    n * sizeof(*entries)))
		return false;
	for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
		uint64_t value = entries[i].d_un.d_ptr;
		if (entries[i].d_tag == DT_GNU_HASH)
			out->hash = address_of(out, value);
		else if (entries[i].d_tag == DT_SYMTAB)
			out->symbols = address_of(out, value);
		else if (entries[i].d_tag == DT_STRTAB)
			out->strings = address_of(out, value);
	}
	return out->hash && out->symbols && out->strings;
}

static bool find_tables(struct tables *out, uint64_t start)
{
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
	const Elf64_Phdr *dynamic = NULL;
	if (!tp_process_memory_read(out->pid, start, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(*segments) ||
	    header.e_phnum > SEGMENTS_MAX ||
	    !tp_process_memory_read(out->pid, start + header.e_phoff, segments,
				    header.e_phnum * sizeof(*segments)))
		return false;
	out->bias = start;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
			out->bias = start - segments[i].p_vaddr;
		if (segments[i].p_type == PT_DYNAMIC)
			dynamic = &segments[i];
	}
	return dynamic && read_dynamic(out, dynamic);
}

/* glibc's dl_new_hash, the hash function of the table. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static uint64_t value_of(const struct tables *tables, uint32_t index, const char *name)
{
	Elf64_Sym symbol;
	char text[MAX_NAME];
	if (!tp_process_memory_read(tables->pid, tables->symbols + index * sizeof(symbol), &symbol,
				    sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
		return 0;
	tp_tracee_memory_read_text(tables->pid, tables->strings + symbol.st_name, text,
				   sizeof(text));
	return strcmp(text, name) == 0 ? tables->bias + symbol.st_value : 0;
}

/* Layout: number of buckets, first symbol, words of the Bloom filter, shift; filter; buckets;
 * chains. */
static uint64_t search_table(const struct tables *tables, const char *name)
{
	uint32_t head[4];
	uint32_t index;
	uint32_t hash = hash_of(name);
	if (!tp_process_memory_read(tables->pid, tables->hash, head, sizeof(head)) || !head[0])
		return 0;
	uint64_t buckets = tables->hash + sizeof(head) + (uint64_t)head[2] * 8;
	uint64_t chains = buckets + (uint64_t)head[0] * 4;
	if (!tp_process_memory_read(tables->pid, buckets + (uint64_t)(hash % head[0]) * 4, &index,
				    4))
		return 0;
	for (int i = 0; i < CHAIN_MAX && index >= head[1]; i++, index++) {
		uint32_t other;
		uint64_t at = chains + (uint64_t)(index - head[1]) * 4;
		uint64_t found = 0;
		if (!tp_process_memory_read(tables->pid, at, &other, sizeof(other)))
			return 0;
		if ((other | 1) == (hash | 1))
			found = value_of(tables, index, name);
		if (found || other & 1)
			return found;
	}
	return 0;
}

uint64_t tp_dyn_symbol_find(pid_t pid, uint64_t start, const char *name)
{
	struct tables tables = {.pid = pid};
	return find_tables(&tables, start) ? search_table(&tables, name) : 0;
}
