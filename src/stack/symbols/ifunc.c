/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the names of the implementations of memcpy and similar functions.
 *
 * The C library chooses them at load time for the CPU (STT_GNU_IFUNC). They have local names only,
 * and distributions strip those. Our own process made the same choice on the same machine: the
 * result of dlsym() here is the address there, if both run the same file.
 */
#include "ifunc.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"memcpy", "memmove", "memset", "memcmp", "memchr",
				    "strlen", "strcmp",  "strchr", "strcpy"};

enum { N_NAMES = sizeof(names) / sizeof(names[0]) };
_Static_assert(sizeof(names) <= TP_IFUNCS_MAX * sizeof(names[0]), "a place for each name");

struct library {
	uint64_t base;
	char *build_id;
};

static void read_note(struct library *library, const char *note, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) header;
		memcpy(&header, note, sizeof(header));
		size_t name = (header.n_namesz + 3U) & ~(size_t)3;
		size_t text = (header.n_descsz + 3U) & ~(size_t)3;
		if (sizeof(header) + name + text > size)
			return;
		const unsigned char *id = (const unsigned char *)note + sizeof(header) + name;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_descsz * 2 <= TP_IFUNC_ID_CHARS)
			for (size_t i = 0; i < header.n_descsz; i++)
				snprintf(library->build_id + 2 * i, 3, "%02x", id[i]);
		note += sizeof(header) + name + text;
		size -= sizeof(header) + name + text;
	}
}

static int on_image(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	struct library *library = context;
	if (info->dlpi_addr != library->base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			read_note(library,
				  (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				  info->dlpi_phdr[i].p_filesz);
	return 1;
}

/* Finds the library that holds the chosen implementation, and its offset in that library. */
static bool locate(const char *name, struct tp_ifunc *out)
{
	Dl_info info;
	void *address = dlsym(RTLD_DEFAULT, name);
	if (!address || !dladdr(address, &info))
		return false;
	struct library library = {.base = (uint64_t)(uintptr_t)info.dli_fbase,
				  .build_id = out->build_id};
	out->name = name;
	out->start = (uint64_t)(uintptr_t)address - library.base;
	dl_iterate_phdr(on_image, &library);
	return out->build_id[0] != '\0';
}

/* dladdr() walks all symbols of the library: 60 us for the nine names. */
static void find_all(struct tp_ifuncs *ifuncs)
{
	for (size_t i = 0; i < N_NAMES; i++) {
		struct tp_ifunc found = {0};
		if (locate(names[i], &found))
			ifuncs->items[ifuncs->n++] = found;
	}
	ifuncs->is_known = true;
}

const char *tp_ifunc_name(struct tp_ifuncs *ifuncs, const char *build_id, uint64_t start)
{
	if (!ifuncs->is_known)
		find_all(ifuncs);
	for (size_t i = 0; i < ifuncs->n; i++) {
		const struct tp_ifunc *found = &ifuncs->items[i];
		if (found->start == start && strcmp(found->build_id, build_id) == 0)
			return found->name;
	}
	return NULL;
}
