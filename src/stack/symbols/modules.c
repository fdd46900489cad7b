/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of modules: one entry per file, found by the identity of the mapping and of the
 * file. */
#include "module.h"

#include "jit_symbols.h"
#include "kernel_symbols.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { KERNEL_ID = 0, OVERLAYFS_MAGIC = 0x794c7630 };

static struct tp_module_body *modules_add(struct tp_modules *modules, enum tp_frame_kind kind,
					  const char *path)
{
	struct tp_module_body *module = tp_alloc(sizeof(*module));
	uint32_t text = tp_strtab_intern(&modules->texts, path);
	const char *kept = tp_strtab_text(&modules->texts, text);
	const char *slash = *kept == '[' ? NULL : strrchr(kept, '/');
	module->pub = (struct tp_module){
		.path = kept,
		.name = slash && slash[1] ? slash + 1 : kept,
		.id = (uint32_t)modules->n_items,
		.kind = kind,
	};
	module->owner = modules;
	modules->items = tp_array_grow(modules->items, modules->n_items + 1,
				       &modules->items_capacity, sizeof(void *));
	modules->items[modules->n_items++] = module;
	return module;
}

struct tp_modules *tp_modules_new(void)
{
	struct tp_modules *modules = tp_alloc(sizeof(*modules));
	tp_strtab_init(&modules->texts);
	tp_elf_source_pool_init(&modules->pool, 0);
	modules_add(modules, TP_FRAME_KERNEL, "[kernel]");
	return modules;
}

static void image_free(struct tp_elf_image *image)
{
	if (!image)
		return;
	tp_elf_source_release(&image->source);
	free(image);
}

void tp_modules_free(struct tp_modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->n_items; i++) {
		struct tp_module_body *module = modules->items[i];
		tp_unwind_rule_cache_release(&module->rules);
		tp_symtab_release(&module->symtab);
		tp_jit_symbols_free(module->jit);
		tp_kernel_symbols_free(module->kernel);
		image_free(module->image);
		free(module);
	}
	free(modules->items);
	tp_elf_source_pool_release(&modules->pool);
	tp_strtab_release(&modules->texts);
	tp_map_release(&modules->by_mapping);
	tp_map_release(&modules->by_file);
	free(modules);
}

struct tp_module *tp_modules_kernel(struct tp_modules *modules)
{
	return &modules->items[KERNEL_ID]->pub;
}

struct tp_module *tp_modules_add_jit(struct tp_modules *modules,
				     const struct tp_jit_file_owner *owner)
{
	struct tp_module_body *module = modules_add(modules, TP_FRAME_JIT, "[jit]");
	module->jit_owner = *owner;
	return &module->pub;
}

static void module_set_image(struct tp_module_body *module, struct tp_elf_image *image)
{
	module->image = image;
	module->pub.has_image = true;
	memcpy(module->pub.build_id, image->build_id, sizeof(module->pub.build_id));
}

enum tp_status tp_modules_add_image(struct tp_module **out, struct tp_modules *modules,
				    const char *name, const void *bytes, size_t size,
				    struct tp_error *err)
{
	struct tp_elf_image *image = tp_alloc(sizeof(*image));
	tp_elf_source_init_memory(&image->source, bytes, size);
	enum tp_status status = tp_elf_image_load(image, err);
	if (status != TP_OK) {
		image_free(image);
		return status;
	}
	struct tp_module_body *module = modules_add(modules, TP_FRAME_NATIVE, name);
	module_set_image(module, image);
	*out = &module->pub;
	return TP_OK;
}

/* Returns the size of the vdso: its section headers are at the end. */
static size_t vdso_size(const Elf64_Ehdr *header)
{
	size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	const Elf64_Phdr *segments = (const void *)((const char *)header + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		size_t end = segments[i].p_offset + segments[i].p_filesz;
		if (segments[i].p_type == PT_LOAD && end > size)
			size = end;
	}
	return size;
}

static struct tp_module *modules_vdso(struct tp_modules *modules)
{
	if (modules->vdso)
		return modules->vdso;
	const Elf64_Ehdr *header = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	if (!header || tp_modules_add_image(&modules->vdso, modules, "[vdso]", header,
					    vdso_size(header), NULL) != TP_OK)
		modules->vdso = &modules_add(modules, TP_FRAME_NATIVE, "[vdso]")->pub;
	return modules->vdso;
}

/* The path through which a file was opened; it decides how far the file's name can be trusted. */
enum module_way { WAY_ROOT, WAY_MAP_FILES, WAY_PLAIN };

/* Returns true if this is the file that was mapped. The inode decides. Device numbers differ on
 * btrfs, and inodes on overlayfs (the mapping shows those of the lower layer), so inside the
 * target's own root a file on overlayfs is trusted by its name. */
static bool is_mapped_file(int fd, const struct stat *st, const struct tp_file_mapping *mapping,
			   enum module_way way)
{
	if (way == WAY_MAP_FILES)
		return true;
	bool same_inode = st->st_ino == mapping->inode;
	if (way == WAY_PLAIN)
		return same_inode && st->st_dev == makedev(mapping->dev_major, mapping->dev_minor);
	struct statfs fs;
	return same_inode || mapping->inode == 0 ||
	       (fstatfs(fd, &fs) == 0 && (unsigned long)fs.f_type == OVERLAYFS_MAGIC);
}

static int open_mapped(pid_t pid, const struct tp_file_mapping *mapping, const char *path,
		       struct stat *st, char *opened, size_t opened_size)
{
	for (enum module_way way = WAY_ROOT; way <= WAY_PLAIN; way++) {
		if (way == WAY_ROOT)
			snprintf(opened, opened_size, "/proc/%d/root%s", (int)pid, path);
		else if (way == WAY_MAP_FILES)
			snprintf(opened, opened_size, "/proc/%d/map_files/%llx-%llx", (int)pid,
				 (unsigned long long)mapping->start,
				 (unsigned long long)mapping->end);
		else
			snprintf(opened, opened_size, "%s", path);
		int fd = tp_elf_source_open_regular(opened, st);
		if (fd >= 0 && is_mapped_file(fd, st, mapping, way))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static uint64_t mapping_key(const struct tp_file_mapping *mapping)
{
	uint64_t device = (uint64_t)mapping->dev_major << 32 | mapping->dev_minor;
	return tp_hash_mix(tp_hash_mix(device, mapping->inode),
			   tp_hash_bytes(mapping->path, strlen(mapping->path)));
}

static uint64_t file_key(const struct stat *st)
{
	uint64_t time = (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
	return tp_hash_mix(tp_hash_mix(st->st_dev, st->st_ino),
			   tp_hash_mix((uint64_t)st->st_size, time));
}

/* Takes ownership of fd. If it was opened through the target's root, the plain path is kept too: it
 * still works after the target has ended. */
static struct tp_module_body *add_file(struct tp_modules *modules, const char *path, int fd,
				       const struct stat *st, const char *opened)
{
	struct tp_module_body *module = modules_add(modules, TP_FRAME_NATIVE, path);
	struct tp_elf_image *image = tp_alloc(sizeof(*image));
	tp_elf_source_init_file(&image->source, &modules->pool, fd, st, opened, path);
	if (tp_elf_image_load(image, NULL) == TP_OK)
		module_set_image(module, image);
	else
		image_free(image);
	return module;
}

static struct tp_module_body *find_known(struct tp_modules *modules, const struct tp_map *map,
					 uint64_t key)
{
	uint64_t id;
	return tp_map_get(map, key, &id) ? modules->items[id] : NULL;
}

/* Returns "libx.so (deleted)" without its suffix; a file may really have such a name, but then only
 * the name is wrong. */
static const char *strip_deleted(struct tp_modules *modules, const char *path)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(path);
	size_t cut = sizeof(suffix) - 1;
	if (len <= cut || strcmp(path + len - cut, suffix) != 0)
		return path;
	uint32_t id = tp_strtab_intern_len(&modules->texts, path, len - cut);
	return tp_strtab_text(&modules->texts, id);
}

struct tp_module *tp_modules_open(struct tp_modules *modules, pid_t pid,
				  const struct tp_file_mapping *mapping)
{
	if (strcmp(mapping->path, "[vdso]") == 0)
		return modules_vdso(modules);
	const char *path = strip_deleted(modules, mapping->path);
	uint64_t key = mapping_key(mapping);
	char opened[4200];
	struct stat st;
	int fd = open_mapped(pid, mapping, path, &st, opened, sizeof(opened));
	struct tp_module_body *module;
	if (fd < 0) {
		/* The process has exited: its mapping may be known from another process. */
		module = find_known(modules, &modules->by_mapping, key);
		if (!module)
			module = modules_add(modules, TP_FRAME_NATIVE, path);
	} else {
		module = find_known(modules, &modules->by_file, file_key(&st));
		if (module)
			close(fd);
		else
			module = add_file(modules, path, fd, &st, opened);
		tp_map_set(&modules->by_file, file_key(&st), module->pub.id);
	}
	tp_map_set(&modules->by_mapping, key, module->pub.id);
	return &module->pub;
}
