/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the frame description entry of an address: with the search table of .eh_frame_hdr, which
 * stays in the file (one read per lookup), or with an index built from .eh_frame or
 * .debug_frame. */
#ifndef TRAINPROF_SRC_STACK_CFI_FDE_H
#define TRAINPROF_SRC_STACK_CFI_FDE_H

#include "stack/elf/elf_image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest entry on a Debian 12 machine with PyTorch is 10 KiB; longer entries than this limit
 * are refused, so that a lookup runs over at most this many bytes. */
enum { TP_FDE_MAX_BYTES = 65536 };

struct tp_fde_index_entry {
	uint64_t start;
	uint64_t end;
	uint64_t at; /* position of the entry: a vaddr, or a file offset for .debug_frame */
};

struct tp_fde_index {
	struct tp_fde_index_entry *entries; /* by start */
	size_t n_entries;
	size_t entries_capacity;
};

struct tp_fde_table {
	/* .eh_frame_hdr: every FDE_STRIDE-th start of its table, relative to hdr_vaddr. */
	int32_t *directory;
	size_t n_directory;
	size_t n_table;
	uint64_t table_vaddr;
	uint64_t hdr_vaddr;
	struct tp_fde_index eh;    /* filled only if there is no search table */
	struct tp_fde_index debug; /* filled when first needed */
	bool has_debug;
	uint8_t *entry; /* TP_FDE_MAX_BYTES each: the last entry found and its CIE */
	uint8_t *cie;
	uint64_t cie_at; /* position of the CIE in `cie`; UINT64_MAX = none */
	size_t cie_size;
	bool cie_is_debug;
	uint64_t read_bytes; /* bytes of entries read so far */
};

/* One entry, decoded up to its instructions. The bytes stay in the table until the next find. */
struct tp_fde {
	uint64_t start;
	uint64_t end;
	const uint8_t *instructions;
	size_t instructions_size;
	const uint8_t *cie_instructions;
	size_t cie_instructions_size;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_register;
	uint8_t pointer_encoding;
	bool is_signal;
};

void tp_fde_table_init(struct tp_fde_table *table, struct tp_elf_image *image);
void tp_fde_table_release(struct tp_fde_table *table);
bool tp_fde_find(struct tp_fde_table *table, struct tp_elf_image *image, uint64_t vaddr,
		 struct tp_fde *out);

#endif
