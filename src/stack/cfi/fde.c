/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and decodes frame description entries (DWARF 5 section 6.4.1, LSB 5 section 10.6). */
#include "fde.h"

#include "stack/elf/byte_cursor.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>
#include <string.h>

/* An index reads every entry once; these limits bound the cost of a crafted section (about 0.1
 * s). */
enum {
	FDE_STRIDE = 64,
	INDEX_MAX_ENTRIES = 1 << 18,
	INDEX_MAX_READ_BYTES = 256 << 20,
	HDR_MAX_ENTRIES = 1 << 23,
};

/* DW_EH_PE_*, LSB 5 section 10.5.1. */
enum {
	PE_FORMAT = 0x0f,
	PE_RELATIVE = 0x70,
	PE_PCREL = 0x10,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
	PE_UDATA4 = 0x03,
	PE_DATAREL_SDATA4 = 0x3b,
};

struct cie {
	struct tp_fde head; /* fields that all its entries share */
	bool has_augmentation_size;
	uint8_t address_size;
};

static uint64_t read_encoded(struct tp_byte_cursor *c, uint8_t format)
{
	switch (format & PE_FORMAT) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return tp_byte_cursor_uint(c, 8);
	case 0x01:
		return tp_byte_cursor_uleb(c);
	case 0x02:
		return tp_byte_cursor_uint(c, 2);
	case 0x03:
		return tp_byte_cursor_uint(c, 4);
	case 0x09:
		return (uint64_t)tp_byte_cursor_sleb(c);
	case 0x0a:
		return (uint64_t)tp_byte_cursor_int(c, 2);
	case 0x0b:
		return (uint64_t)tp_byte_cursor_int(c, 4);
	default:
		c->is_bad = true;
		return 0;
	}
}

/* Reads a pointer whose first byte is at `vaddr`. */
static uint64_t read_pointer(struct tp_byte_cursor *c, uint8_t encoding, uint64_t vaddr)
{
	uint64_t value = read_encoded(c, encoding);
	if (encoding & PE_INDIRECT)
		c->is_bad = true;
	if ((encoding & PE_RELATIVE) == PE_PCREL)
		return value + vaddr;
	if (encoding & PE_RELATIVE)
		c->is_bad = true;
	return value;
}

static void parse_cie_string(struct tp_byte_cursor *c, const char *letters, struct cie *cie)
{
	if (*letters == '\0')
		return;
	if (*letters++ != 'z') { /* old "eh" and unknown augmentations: unknown layout */
		c->is_bad = true;
		return;
	}
	cie->has_augmentation_size = true;
	uint64_t size = tp_byte_cursor_uleb(c);
	struct tp_byte_cursor data = *c;
	tp_byte_cursor_skip(c, size);
	data.end = c->at;
	for (; *letters; letters++) {
		if (*letters == 'R')
			cie->head.pointer_encoding = (uint8_t)tp_byte_cursor_uint(&data, 1);
		else if (*letters == 'P')
			read_encoded(&data, (uint8_t)tp_byte_cursor_uint(&data, 1));
		else if (*letters == 'L')
			tp_byte_cursor_skip(&data, 1);
		else if (*letters == 'S')
			cie->head.is_signal = true;
		else if (*letters != 'B' && *letters != 'G') /* aarch64: key and tags */
			break;
	}
	c->is_bad |= data.is_bad;
}

/* `bytes` starts after length and id. */
static bool parse_cie(const uint8_t *bytes, size_t size, struct cie *cie)
{
	struct tp_byte_cursor c = tp_byte_cursor_over(bytes, size);
	*cie = (struct cie){.address_size = 8};
	uint64_t version = tp_byte_cursor_uint(&c, 1);
	const char *letters = (const char *)c.at;
	const uint8_t *nul = memchr(c.at, 0, tp_byte_cursor_left(&c));
	if (!nul || (version != 1 && version != 3 && version != 4))
		return false;
	c.at = nul + 1;
	if (version == 4) {
		cie->address_size = (uint8_t)tp_byte_cursor_uint(&c, 1);
		tp_byte_cursor_skip(&c, 1);
	}
	cie->head.code_align = tp_byte_cursor_uleb(&c);
	cie->head.data_align = tp_byte_cursor_sleb(&c);
	cie->head.ra_register = version == 1 ? tp_byte_cursor_uint(&c, 1) : tp_byte_cursor_uleb(&c);
	parse_cie_string(&c, letters, cie);
	cie->head.cie_instructions = c.at;
	cie->head.cie_instructions_size = tp_byte_cursor_left(&c);
	return !c.is_bad && cie->address_size == 8;
}

static bool read_at(struct tp_elf_image *image, bool is_debug, uint64_t at, void *out, size_t size)
{
	return is_debug ? tp_elf_source_read(&image->source, at, out, size)
			: tp_elf_image_read(image, at, out, size);
}

/* Reads one entry without its length field. Returns its size, 0 if there is none. */
static size_t read_entry(struct tp_fde_table *table, struct tp_elf_image *image, bool is_debug,
			 uint64_t at, uint8_t *out)
{
	/* Most entries are shorter than 256 bytes: one read instead of two. */
	uint8_t first[256];
	uint32_t size;
	size_t got = is_debug ? tp_elf_source_read_some(&image->source, at, first, sizeof(first))
			      : tp_elf_image_read_some(image, at, first, sizeof(first));
	if (got < sizeof(size))
		return 0;
	memcpy(&size, first, sizeof(size));
	if (size < 4 || size > TP_FDE_MAX_BYTES)
		return 0;
	table->read_bytes += size;
	if (size <= got - sizeof(size)) {
		memcpy(out, first + sizeof(size), size);
		return size;
	}
	return read_at(image, is_debug, at + sizeof(size), out, size) ? size : 0;
}

static bool load_cie(struct tp_fde_table *table, struct tp_elf_image *image, bool is_debug,
		     uint64_t at, struct cie *cie)
{
	if (table->cie_at != at || table->cie_is_debug != is_debug) {
		table->cie_at = at;
		table->cie_is_debug = is_debug;
		table->cie_size = read_entry(table, image, is_debug, at, table->cie);
	}
	uint32_t id;
	if (table->cie_size < sizeof(id))
		return false;
	memcpy(&id, table->cie, sizeof(id));
	return id == (is_debug ? UINT32_MAX : 0) &&
	       parse_cie(table->cie + sizeof(id), table->cie_size - sizeof(id), cie);
}

static void ensure_buffers(struct tp_fde_table *table)
{
	if (!table->entry) {
		table->entry = tp_alloc(TP_FDE_MAX_BYTES);
		table->cie = tp_alloc(TP_FDE_MAX_BYTES);
		table->cie_at = UINT64_MAX;
	}
}

/* Decodes the entry at `at`; returns false if there is none, if it is a CIE, or if it is
 * invalid. */
static bool load_fde(struct tp_fde_table *table, struct tp_elf_image *image, bool is_debug,
		     uint64_t at, struct tp_fde *out)
{
	ensure_buffers(table);
	size_t size = read_entry(table, image, is_debug, at, table->entry);
	if (size == 0)
		return false;
	struct tp_byte_cursor c = tp_byte_cursor_over(table->entry, size);
	uint64_t pointer = tp_byte_cursor_uint(&c, 4);
	/* .eh_frame counts back from the field, .debug_frame from the start of the section. */
	uint64_t cie_at = is_debug ? image->debug_frame.offset + pointer : at + 4 - pointer;
	struct cie cie;
	if (pointer == (is_debug ? UINT32_MAX : 0) ||
	    !load_cie(table, image, is_debug, cie_at, &cie))
		return false;
	*out = cie.head;
	out->start = read_pointer(&c, out->pointer_encoding, at + 8);
	uint64_t length = read_encoded(&c, out->pointer_encoding);
	if (cie.has_augmentation_size)
		tp_byte_cursor_skip(&c, tp_byte_cursor_uleb(&c));
	out->end = out->start + length;
	out->instructions = c.at;
	out->instructions_size = tp_byte_cursor_left(&c);
	return !c.is_bad && out->end >= out->start;
}

static int compare_index(const void *a, const void *b)
{
	const struct tp_fde_index_entry *left = a;
	const struct tp_fde_index_entry *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

static void index_build(struct tp_fde_table *table, struct tp_elf_image *image, bool is_debug,
			struct tp_fde_index *index)
{
	const struct tp_elf_section *section = is_debug ? &image->debug_frame : &image->eh_frame;
	uint64_t base = is_debug ? section->offset : section->vaddr;
	uint64_t read_limit = table->read_bytes + INDEX_MAX_READ_BYTES;
	size_t n_seen = 0;
	for (uint64_t at = 0; at + 8 <= section->size;) {
		if (++n_seen > INDEX_MAX_ENTRIES || table->read_bytes > read_limit)
			break;
		uint32_t size;
		struct tp_fde fde;
		if (!read_at(image, is_debug, base + at, &size, sizeof(size)))
			break;
		if (size == UINT32_MAX)
			break;
		if (load_fde(table, image, is_debug, base + at, &fde) && fde.end > fde.start)
			TP_ARRAY_PUSH(index->entries, index->n_entries, index->entries_capacity) =
				(struct tp_fde_index_entry){fde.start, fde.end, base + at};
		at += 4 + (uint64_t)size;
	}
	if (index->n_entries > 1)
		qsort(index->entries, index->n_entries, sizeof(*index->entries), compare_index);
}

static bool index_find(const struct tp_fde_index *index, uint64_t vaddr, uint64_t *at)
{
	size_t above;
	TP_FIND_FIRST(above, 0, index->n_entries, index->entries[above].start > vaddr);
	if (above == 0 || vaddr >= index->entries[above - 1].end)
		return false;
	*at = index->entries[above - 1].at;
	return true;
}

/* Keeps every FDE_STRIDE-th start, so that a lookup reads one stretch of the table. */
static void directory_load(struct tp_fde_table *table, struct tp_elf_image *image)
{
	enum { BLOCK = 4096 };
	struct pair {
		int32_t start;
		int32_t entry;
	} block[BLOCK];
	table->n_directory = (table->n_table + FDE_STRIDE - 1) / FDE_STRIDE;
	table->directory = tp_alloc(table->n_directory * sizeof(*table->directory) + 1);
	for (size_t at = 0; at < table->n_table; at += BLOCK) {
		size_t n = table->n_table - at < BLOCK ? table->n_table - at : BLOCK;
		if (!tp_elf_image_read(image, table->table_vaddr + at * sizeof(*block), block,
				       n * sizeof(*block))) {
			table->n_table = 0;
			return;
		}
		for (size_t i = 0; i < n; i += FDE_STRIDE)
			table->directory[(at + i) / FDE_STRIDE] = block[i].start;
	}
}

void tp_fde_table_init(struct tp_fde_table *table, struct tp_elf_image *image)
{
	*table = (struct tp_fde_table){.cie_at = UINT64_MAX};
	uint8_t bytes[64];
	size_t size =
		tp_elf_image_read_some(image, image->eh_frame_hdr.vaddr, bytes, sizeof(bytes));
	struct tp_byte_cursor c =
		tp_byte_cursor_over(bytes, image->eh_frame_hdr.size == 0 ? 0 : size);
	uint64_t version = tp_byte_cursor_uint(&c, 1);
	uint8_t frame_encoding = (uint8_t)tp_byte_cursor_uint(&c, 1);
	uint8_t count_encoding = (uint8_t)tp_byte_cursor_uint(&c, 1);
	uint64_t table_encoding = tp_byte_cursor_uint(&c, 1);
	if (frame_encoding != PE_OMIT)
		read_encoded(&c, frame_encoding);
	uint64_t n = count_encoding == PE_UDATA4 ? tp_byte_cursor_uint(&c, 4) : 0;
	table->hdr_vaddr = image->eh_frame_hdr.vaddr;
	table->table_vaddr = table->hdr_vaddr + (uint64_t)(c.at - bytes);
	/* Every linker writes this encoding; other encodings are so rare that a slow path is
	 * enough. */
	if (!c.is_bad && version == 1 && table_encoding == PE_DATAREL_SDATA4 && n > 0 &&
	    n <= HDR_MAX_ENTRIES && n * 8 <= image->eh_frame_hdr.size) {
		table->n_table = (size_t)n;
		directory_load(table, image);
	}
	if (table->n_table == 0 && image->eh_frame.size > 0)
		index_build(table, image, false, &table->eh);
}

void tp_fde_table_release(struct tp_fde_table *table)
{
	free(table->directory);
	free(table->eh.entries);
	free(table->debug.entries);
	free(table->entry);
	free(table->cie);
	*table = (struct tp_fde_table){0};
}

static bool table_find(const struct tp_fde_table *table, struct tp_elf_image *image, uint64_t vaddr,
		       uint64_t *at)
{
	int64_t wanted = (int64_t)(vaddr - table->hdr_vaddr);
	size_t above;
	TP_FIND_FIRST(above, 0, table->n_directory, table->directory[above] > wanted);
	if (above == 0)
		return false;
	size_t first = (above - 1) * FDE_STRIDE;
	size_t n = table->n_table - first < FDE_STRIDE ? table->n_table - first : FDE_STRIDE;
	int32_t run[FDE_STRIDE][2];
	if (!tp_elf_image_read(image, table->table_vaddr + first * sizeof(run[0]), run,
			       n * sizeof(run[0])))
		return false;
	size_t best = 0;
	for (size_t i = 1; i < n && run[i][0] <= wanted; i++)
		best = i;
	*at = table->hdr_vaddr + (uint64_t)(int64_t)run[best][1];
	return true;
}

static bool covers(const struct tp_fde *fde, uint64_t vaddr)
{
	return vaddr >= fde->start && vaddr < fde->end;
}

bool tp_fde_find(struct tp_fde_table *table, struct tp_elf_image *image, uint64_t vaddr,
		 struct tp_fde *out)
{
	uint64_t at;
	bool is_found = table->n_table > 0 ? table_find(table, image, vaddr, &at)
					   : index_find(&table->eh, vaddr, &at);
	if (is_found && load_fde(table, image, false, at, out) && covers(out, vaddr))
		return true;
	if (image->debug_frame.size == 0)
		return false;
	if (!table->has_debug) {
		table->has_debug = true;
		index_build(table, image, true, &table->debug);
	}
	return index_find(&table->debug, vaddr, &at) && load_fde(table, image, true, at, out) &&
	       covers(out, vaddr);
}
