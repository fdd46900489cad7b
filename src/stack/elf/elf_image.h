/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of one ELF file that unwinding and symbol lookup need. */
#ifndef TRAINPROF_SRC_STACK_ELF_ELF_IMAGE_H
#define TRAINPROF_SRC_STACK_ELF_ELF_IMAGE_H

#include "elf_source.h"

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { TP_ELF_IMAGE_MAX_SEGMENTS = 64 };

struct tp_elf_segment {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t size; /* in the file */
	bool is_executable;
};

struct tp_elf_section {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t size; /* 0 = the section is missing */
};

struct tp_elf_image {
	struct tp_elf_source source;
	uint16_t machine; /* EM_X86_64, EM_AARCH64, … */
	uint64_t entry;
	uint64_t low_vaddr;  /* of the first loadable segment */
	uint64_t high_vaddr; /* one past the last */
	struct tp_elf_segment segments[TP_ELF_IMAGE_MAX_SEGMENTS];
	size_t n_segments;
	struct tp_elf_section eh_frame_hdr;
	struct tp_elf_section eh_frame;
	struct tp_elf_section debug_frame;
	struct tp_elf_section dynsym, dynstr;
	struct tp_elf_section symtab, strtab;
	struct tp_elf_section py_runtime; /* section of CPython, since 3.12; no bytes in the file */
	char build_id[41];
};

/* Fills everything but `source`, which the caller has set. Errors  TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_elf_image_load(struct tp_elf_image *image, struct tp_error *err);

/* Executable segments take precedence if two segments share a page of the file. */
bool tp_elf_image_offset_to_address(const struct tp_elf_image *image, uint64_t offset,
				    uint64_t *vaddr);
/* Computes the address of `offset` if [offset, offset + size) lies in exactly one executable
 * segment. */
bool tp_elf_image_map_code(const struct tp_elf_image *image, uint64_t offset, uint64_t size,
			   uint64_t *vaddr);
bool tp_elf_image_is_code(const struct tp_elf_image *image, uint64_t vaddr);
/* Reads bytes as they are in the file; returns how many could be read. */
size_t tp_elf_image_read_some(struct tp_elf_image *image, uint64_t vaddr, void *out, size_t size);
bool tp_elf_image_read(struct tp_elf_image *image, uint64_t vaddr, void *out, size_t size);

#endif
