/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the headers of an ELF file: segments, the sections we use, the build-id. */
#include "elf_image.h"

#include "trainprof/base/memory.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The gABI allows more through sh_info of section 0; no file that we can unwind has more. */
enum { MAX_SECTIONS = 65279, NAME_SIZE = 16, NOTES_MAX_BYTES = 4096 };

static void segment_add(struct tp_elf_image *image, const Elf64_Phdr *ph)
{
	if (image->n_segments == TP_ELF_IMAGE_MAX_SEGMENTS || ph->p_filesz > INT64_MAX ||
	    ph->p_vaddr > UINT64_MAX - ph->p_memsz || ph->p_vaddr > UINT64_MAX - ph->p_filesz)
		return;
	image->segments[image->n_segments++] = (struct tp_elf_segment){
		.vaddr = ph->p_vaddr,
		.offset = ph->p_offset,
		.size = ph->p_filesz,
		.is_executable = ph->p_flags & PF_X,
	};
	if (ph->p_vaddr < image->low_vaddr)
		image->low_vaddr = ph->p_vaddr;
	if (ph->p_vaddr + ph->p_memsz > image->high_vaddr)
		image->high_vaddr = ph->p_vaddr + ph->p_memsz;
}

static void find_build_id(struct tp_elf_image *image, const Elf64_Phdr *ph)
{
	uint8_t notes[NOTES_MAX_BYTES];
	size_t size = ph->p_filesz < sizeof(notes) ? (size_t)ph->p_filesz : sizeof(notes);
	size = tp_elf_source_read_some(&image->source, ph->p_offset, notes, size);
	size_t at = 0;
	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		uint64_t name_size = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
		uint64_t desc_size = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
		if (name_size + desc_size > size - at)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + at, "GNU", 4) == 0 && note.n_descsz > 0) {
			size_t n = note.n_descsz < 20 ? note.n_descsz : 20;
			for (size_t i = 0; i < n; i++)
				snprintf(image->build_id + 2 * i, 3, "%02x",
					 notes[at + name_size + i]);
			return;
		}
		at += (size_t)(name_size + desc_size);
	}
}

static enum tp_status load_segments(struct tp_elf_image *image, const Elf64_Ehdr *eh,
				    struct tp_error *err)
{
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum == 0 || eh->e_phnum > 1024)
		return tp_fail(err, TP_PARSE, "ELF file without usable program headers");
	image->low_vaddr = UINT64_MAX;
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;
		if (!tp_elf_source_read(&image->source, eh->e_phoff + i * sizeof(ph), &ph,
					sizeof(ph)))
			break;
		if (ph.p_type == PT_LOAD)
			segment_add(image, &ph);
		else if (ph.p_type == PT_NOTE && !image->build_id[0])
			find_build_id(image, &ph);
		else if (ph.p_type == PT_GNU_EH_FRAME)
			image->eh_frame_hdr =
				(struct tp_elf_section){ph.p_vaddr, ph.p_offset, ph.p_filesz};
	}
	if (image->n_segments == 0)
		return tp_fail(err, TP_PARSE, "ELF file without loadable segments");
	return TP_OK;
}

static struct tp_elf_section section_of(const Elf64_Shdr *sh)
{
	return (struct tp_elf_section){sh->sh_addr, sh->sh_offset, sh->sh_size};
}

static void add_section(struct tp_elf_image *image, const Elf64_Shdr *headers, size_t n,
			const Elf64_Shdr *sh, const char *name)
{
	if (strcmp(name, ".PyRuntime") == 0)
		image->py_runtime = section_of(sh);
	if (sh->sh_type == SHT_NOBITS || sh->sh_offset > INT64_MAX || sh->sh_size > INT64_MAX)
		return;
	bool has_strings = sh->sh_link < n && headers[sh->sh_link].sh_type == SHT_STRTAB;
	if (sh->sh_type == SHT_DYNSYM && has_strings) {
		image->dynsym = section_of(sh);
		image->dynstr = section_of(&headers[sh->sh_link]);
	} else if (sh->sh_type == SHT_SYMTAB && has_strings) {
		image->symtab = section_of(sh);
		image->strtab = section_of(&headers[sh->sh_link]);
	} else if (strcmp(name, ".eh_frame") == 0) {
		image->eh_frame = section_of(sh);
	} else if (strcmp(name, ".debug_frame") == 0 && !(sh->sh_flags & SHF_COMPRESSED)) {
		image->debug_frame = section_of(sh);
	}
}

/* Section headers are optional: without them there are no names. */
static void load_sections(struct tp_elf_image *image, const Elf64_Ehdr *eh)
{
	if (eh->e_shentsize != sizeof(Elf64_Shdr) || eh->e_shnum == 0 || eh->e_shnum > MAX_SECTIONS)
		return;
	Elf64_Shdr *headers = tp_alloc(eh->e_shnum * sizeof(*headers));
	size_t n = tp_elf_source_read_some(&image->source, eh->e_shoff, headers,
					   eh->e_shnum * sizeof(*headers)) /
		   sizeof(*headers);
	for (size_t i = 0; i < n; i++) {
		char name[NAME_SIZE] = "";
		if (eh->e_shstrndx < n)
			tp_elf_source_read_some(&image->source,
						headers[eh->e_shstrndx].sh_offset +
							headers[i].sh_name,
						name, sizeof(name) - 1);
		add_section(image, headers, n, &headers[i], name);
	}
	free(headers);
}

enum tp_status tp_elf_image_load(struct tp_elf_image *image, struct tp_error *err)
{
	Elf64_Ehdr eh;
	if (!tp_elf_source_read(&image->source, 0, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return tp_fail(err, TP_PARSE, "not an ELF file");
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return tp_fail(err, TP_PARSE, "not a 64-bit little-endian ELF file");
	image->machine = eh.e_machine;
	image->entry = eh.e_entry;
	enum tp_status status = load_segments(image, &eh, err);
	if (status == TP_OK)
		load_sections(image, &eh);
	return status;
}

bool tp_elf_image_offset_to_address(const struct tp_elf_image *image, uint64_t offset,
				    uint64_t *vaddr)
{
	bool is_found = false;
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct tp_elf_segment *s = &image->segments[i];
		if (offset < s->offset || offset - s->offset >= s->size)
			continue;
		*vaddr = s->vaddr + (offset - s->offset);
		is_found = true;
		if (s->is_executable)
			return true;
	}
	return is_found;
}

bool tp_elf_image_map_code(const struct tp_elf_image *image, uint64_t offset, uint64_t size,
			   uint64_t *vaddr)
{
	size_t n_shown = 0;
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct tp_elf_segment *s = &image->segments[i];
		bool is_shown = s->is_executable && s->offset - offset < size;
		is_shown |= s->is_executable && offset - s->offset < s->size;
		if (!is_shown)
			continue;
		n_shown++;
		*vaddr = s->vaddr + (offset - s->offset);
	}
	return n_shown == 1;
}

static const struct tp_elf_segment *segment_at(const struct tp_elf_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct tp_elf_segment *s = &image->segments[i];
		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->size)
			return s;
	}
	return NULL;
}

bool tp_elf_image_is_code(const struct tp_elf_image *image, uint64_t vaddr)
{
	const struct tp_elf_segment *s = segment_at(image, vaddr);
	return s && s->is_executable;
}

size_t tp_elf_image_read_some(struct tp_elf_image *image, uint64_t vaddr, void *out, size_t size)
{
	const struct tp_elf_segment *s = segment_at(image, vaddr);
	if (!s)
		return 0;
	uint64_t in_segment = vaddr - s->vaddr;
	if (size > s->size - in_segment)
		size = (size_t)(s->size - in_segment);
	return tp_elf_source_read_some(&image->source, s->offset + in_segment, out, size);
}

bool tp_elf_image_read(struct tp_elf_image *image, uint64_t vaddr, void *out, size_t size)
{
	return tp_elf_image_read_some(image, vaddr, out, size) == size;
}
