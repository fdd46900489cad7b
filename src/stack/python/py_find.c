/* SPDX-License-Identifier: Apache-2.0 */
/* Finds _PyRuntime and Py_Version in the symbol tables of the files that a process maps. */
#include "py_find.h"

#include "py_layout.h"
#include "stack/elf/elf_image.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/proc_maps.h"
#include "trainprof/base/text.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	NAMES_MAX_BYTES = 64 << 20, /* of a symbol table */
	MAX_PLACES = 16, /* occurrences of a name in the string table: other names have the same
			    ending */
	SYMBOLS_AT_ONCE = 512,
	MAX_CANDIDATES = 8,
	PATH_BYTES = 4096 + 64,
};

struct runtime_candidate {
	char *path; /* heap */
	uint64_t start;
	uint64_t end;
	uint64_t inode;
	bool is_program;
};

struct runtime_candidates {
	struct runtime_candidate items[MAX_CANDIDATES];
	size_t n;
};

/* ---- symbols ---- */

struct name_places {
	uint32_t at[MAX_PLACES];
	size_t n;
};

static void find_places(struct name_places *out, const uint8_t *names, size_t size,
			const char *name)
{
	size_t length = strlen(name) + 1;
	const uint8_t *from = names;
	const uint8_t *hit;
	out->n = 0;
	while (out->n < MAX_PLACES &&
	       (hit = memmem(from, (size_t)(names + size - from), name, length))) {
		out->at[out->n++] = (uint32_t)(hit - names);
		from = hit + 1;
	}
}

static bool is_place(const struct name_places *places, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0)
		return false;
	for (size_t i = 0; i < places->n; i++) {
		if (places->at[i] == symbol->st_name)
			return true;
	}
	return false;
}

static bool find_defined(struct tp_elf_image *image, const struct tp_elf_section *table,
			 const struct name_places *places, uint64_t *vaddr)
{
	Elf64_Sym symbols[SYMBOLS_AT_ONCE];
	uint64_t at = 0;
	while (places->n > 0 && at < table->size) {
		size_t want = sizeof(symbols);
		if (want > table->size - at)
			want = (size_t)(table->size - at);
		size_t got =
			tp_elf_source_read_some(&image->source, table->offset + at, symbols, want);
		for (size_t i = 0; i < got / sizeof(symbols[0]); i++) {
			if (!is_place(places, &symbols[i]))
				continue;
			*vaddr = symbols[i].st_value;
			return true;
		}
		if (got < sizeof(symbols))
			return false;
		at += got;
	}
	return false;
}

/* Most files do not contain the name at all: then no symbol is examined. */
static bool find_in_table(struct tp_elf_image *image, const struct tp_elf_section *table,
			  const struct tp_elf_section *names, const char *name, uint64_t *vaddr)
{
	struct name_places places;
	if (table->size == 0 || names->size == 0 || names->size > NAMES_MAX_BYTES ||
	    names->offset > image->source.size)
		return false;
	uint64_t left = image->source.size - names->offset;
	size_t size = (size_t)(names->size < left ? names->size : left);
	uint8_t *bytes = tp_alloc(size + 1);
	size = tp_elf_source_read_some(&image->source, names->offset, bytes, size);
	find_places(&places, bytes, size, name);
	free(bytes);
	return find_defined(image, table, &places, vaddr);
}

static bool find_symbol(struct tp_elf_image *image, const char *name, bool with_static,
			uint64_t *vaddr)
{
	return find_in_table(image, &image->dynsym, &image->dynstr, name, vaddr) ||
	       (with_static && find_in_table(image, &image->symtab, &image->strtab, name, vaddr));
}

/* ---- files ---- */

unsigned tp_py_find_minor(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (tp_text_starts_with(name, "lib"))
		name += 3;
	if (!tp_text_starts_with(name, "python3."))
		return 0;
	unsigned long minor = strtoul(name + strlen("python3."), NULL, 10);
	return minor < 100 ? (unsigned)minor : 0;
}

static bool is_called_python(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	return tp_text_starts_with(name, "python") || tp_text_starts_with(name, "libpython");
}

/* Opens the file as the process sees it, even if it is mounted elsewhere, renamed or deleted. A
 * file that was replaced has another inode, and so has any file on some overlay file systems: the
 * link in map_files, which only root may follow, decides; without it the file at the path is tried,
 * and a later check finds out if it is another one. */
static int open_file(const struct runtime_candidate *candidate, const char *proc, pid_t pid,
		     struct stat *st)
{
	char path[PATH_BYTES];
	if (candidate->is_program) {
		snprintf(path, sizeof(path), "%s/%d/exe", proc, (int)pid);
		return tp_elf_source_open_regular(path, st);
	}
	snprintf(path, sizeof(path), "%s/%d/root%s", proc, (int)pid, candidate->path);
	int fd = tp_elf_source_open_regular(path, st);
	if (fd >= 0 && st->st_ino == candidate->inode)
		return fd;
	struct stat mapped;
	snprintf(path, sizeof(path), "%s/%d/map_files/%llx-%llx", proc, (int)pid,
		 (unsigned long long)candidate->start, (unsigned long long)candidate->end);
	int mapped_fd = tp_elf_source_open_regular(path, &mapped);
	if (mapped_fd < 0)
		return fd;
	if (fd >= 0)
		close(fd);
	*st = mapped;
	return mapped_fd;
}

static bool find_in_image(struct tp_py_find_result *out, const struct runtime_candidate *candidate,
			  struct tp_elf_image *image, struct tp_py_memory *mem)
{
	uint64_t runtime;
	uint64_t version;
	uint64_t int_type;
	bool with_static = is_called_python(candidate->path) || image->py_runtime.size > 0;
	if (tp_elf_image_load(image, NULL) != TP_OK)
		return false;
	with_static |= image->py_runtime.size > 0;
	if (!find_symbol(image, "_PyRuntime", with_static, &runtime)) {
		runtime = image->py_runtime.vaddr;
		if (image->py_runtime.size == 0)
			return false;
	}
	/* The mapping begins at the start of the file. */
	uint64_t bias = candidate->start - (image->segments[0].vaddr - image->segments[0].offset);
	out->runtime = bias + runtime;
	out->int_type = 0;
	if (find_symbol(image, "PyLong_Type", false, &int_type))
		out->int_type = bias + int_type;
	out->version_word = 0;
	if (find_symbol(image, "Py_Version", with_static, &version))
		tp_py_memory_get_u64(mem, bias + version, &out->version_word);
	out->minor = tp_py_find_minor(candidate->path);
	out->is_shared = !candidate->is_program && strstr(candidate->path, "/libpython");
	return true;
}

static bool find_in_file(struct tp_py_find_result *out, const struct runtime_candidate *candidate,
			 const char *proc, pid_t pid, struct tp_py_memory *mem)
{
	struct stat st;
	int fd = open_file(candidate, proc, pid, &st);
	if (fd < 0)
		return false;
	struct tp_elf_source_pool pool;
	struct tp_elf_image *image = tp_alloc(sizeof(*image));
	tp_elf_source_pool_init(&pool, 1);
	tp_elf_source_init_file(&image->source, &pool, fd, &st, NULL, NULL);
	bool is_found = find_in_image(out, candidate, image, mem);
	tp_elf_source_release(&image->source);
	tp_elf_source_pool_release(&pool);
	free(image);
	return is_found;
}

/* ---- mappings ---- */

static bool is_known(const struct runtime_candidates *candidates, uint64_t inode)
{
	for (size_t i = 0; i < candidates->n; i++) {
		if (candidates->items[i].inode == inode)
			return true;
	}
	return false;
}

static void add_candidate(struct runtime_candidates *candidates, const struct tp_mapping *mapping,
			  const char *program)
{
	const char *slash = strrchr(mapping->path, '/');
	bool is_program = strcmp(mapping->path, program) == 0;
	/* If the dynamic loader started the program, /proc shows the loader's name. */
	bool is_called_so = slash && (tp_text_starts_with(slash, "/libpython3") ||
				      tp_text_starts_with(slash, "/python3"));
	if ((!is_program && !is_called_so) || mapping->file_offset != 0 ||
	    candidates->n == MAX_CANDIDATES || is_known(candidates, mapping->inode))
		return;
	candidates->items[candidates->n++] = (struct runtime_candidate){
		.path = tp_strdup(mapping->path),
		.start = mapping->start,
		.end = mapping->start + mapping->size,
		.inode = mapping->inode,
		.is_program = is_program,
	};
}

static enum tp_status read_candidates(struct runtime_candidates *out, const char *proc, pid_t pid,
				      struct tp_error *err)
{
	char path[PATH_BYTES];
	char program[PATH_BYTES];
	struct tp_buf text = {0};
	struct tp_mapping mapping;
	snprintf(path, sizeof(path), "%s/%d/exe", proc, (int)pid);
	ssize_t length = readlink(path, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	enum tp_status status = tp_proc_maps_read(&text, proc, pid, err);
	char *at = text.data;
	while (status == TP_OK && tp_proc_maps_next(&at, &mapping))
		add_candidate(out, &mapping, program);
	tp_buf_release(&text);
	return status;
}

/* Returns true if the runtime has an interpreter. One of an unknown version counts: it is refused
 * with its version later. */
static bool is_started(struct tp_py_memory *mem, const struct tp_py_find_result *found)
{
	uint64_t first;
	unsigned minor =
		found->version_word ? (unsigned)(found->version_word >> 16 & 255) : found->minor;
	const struct tp_py_layout *layout = tp_py_layout_find(minor);
	return !layout ||
	       (tp_py_memory_get_u64(mem, found->runtime + layout->runtime_interps, &first) &&
		first != 0);
}

enum tp_status tp_py_find(struct tp_py_find_result *out, const char *proc, pid_t pid,
			  struct tp_py_memory *mem, struct tp_error *err)
{
	struct runtime_candidates candidates = {0};
	struct tp_py_find_result found = {0};
	enum tp_status status = read_candidates(&candidates, proc, pid, err);
	bool is_found = false;
	for (size_t i = 0; i < candidates.n; i++) {
		struct tp_py_find_result one = {0};
		if (status != TP_OK || (is_found && is_started(mem, &found)) ||
		    !find_in_file(&one, &candidates.items[i], proc, pid, mem))
			continue;
		free(found.path);
		found = one;
		found.path = tp_strdup(candidates.items[i].path);
		is_found = true;
	}
	for (size_t i = 0; i < candidates.n; i++)
		free(candidates.items[i].path);
	if (status != TP_OK)
		return status;
	if (!is_found)
		return tp_fail(err, TP_ABSENT, "process %d runs no CPython 3", (int)pid);
	*out = found;
	return TP_OK;
}
