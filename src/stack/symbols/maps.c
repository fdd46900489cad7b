/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces: sorted executable regions, shared between parent and child until one changes. */
#include "trainprof/stack/maps.h"

#include "locate.h"
#include "module.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_REGIONS = 65536 }; /* vm.max_map_count allows 65530 mappings */

/* x86-64 and aarch64 with 48 or more address bits: the upper half is the kernel's. */
#define FIRST_KERNEL_ADDRESS (UINT64_C(1) << 63)

struct region {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	const char *path;         /* owned by the texts of modules; "" = no file */
	struct tp_module *module; /* NULL until the first address is looked up */
	uint64_t bias;            /* pc - address, if that is the same in the whole region */
	bool has_bias;
};

struct regions {
	size_t n_owners;
	struct region *items; /* by start, not overlapping */
	size_t n_items;
	size_t items_capacity;
};

struct tp_maps {
	struct tp_modules *modules;
	struct regions *regions;
	size_t last; /* index of the last hit: most lookups hit the same region repeatedly */
	struct tp_module *jit; /* for this process; NULL until needed */
	struct tp_jit_file_owner owner;
};

static struct tp_maps *maps_new(struct tp_modules *modules, pid_t pid, struct regions *regions)
{
	struct tp_maps *maps = tp_alloc(sizeof(*maps));
	*maps = (struct tp_maps){.modules = modules, .regions = regions};
	maps->owner = (struct tp_jit_file_owner){.pid = pid, .met_wall_ns = tp_clock_wall_ns()};
	char path[32];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	maps->owner.is_known = stat(path, &st) == 0;
	maps->owner.uid = maps->owner.is_known ? st.st_uid : 0;
	regions->n_owners++;
	return maps;
}

struct tp_maps *tp_maps_new(struct tp_modules *modules, pid_t pid)
{
	return maps_new(modules, pid, tp_alloc(sizeof(struct regions)));
}

struct tp_maps *tp_maps_fork(const struct tp_maps *parent, pid_t child)
{
	return maps_new(parent->modules, child, parent->regions);
}

static void regions_release(struct regions *regions)
{
	if (--regions->n_owners > 0)
		return;
	free(regions->items);
	free(regions);
}

void tp_maps_free(struct tp_maps *maps)
{
	if (!maps)
		return;
	regions_release(maps->regions);
	free(maps);
}

void tp_maps_clear(struct tp_maps *maps)
{
	regions_release(maps->regions);
	maps->regions = tp_alloc(sizeof(struct regions));
	maps->regions->n_owners = 1;
	maps->jit = NULL;
	maps->last = 0;
}

/* Returns regions that no other address space shares, so that they can be changed. */
static struct regions *regions_copy(struct tp_maps *maps)
{
	struct regions *shared = maps->regions;
	if (shared->n_owners == 1)
		return shared;
	struct regions *own = tp_alloc(sizeof(*own));
	own->n_owners = 1;
	own->n_items = shared->n_items;
	own->items =
		tp_array_grow(NULL, own->n_items + 1, &own->items_capacity, sizeof(*own->items));
	if (own->n_items > 0)
		memcpy(own->items, shared->items, own->n_items * sizeof(*own->items));
	shared->n_owners--;
	maps->regions = own;
	return own;
}

/* Returns the index of the first region that ends above `address`. */
static size_t first_after_address(const struct regions *regions, uint64_t address)
{
	size_t at;
	TP_FIND_FIRST(at, 0, regions->n_items, regions->items[at].end > address);
	return at;
}

static void insert_at(struct regions *regions, size_t at, const struct region *region)
{
	regions->items = tp_array_grow(regions->items, regions->n_items + 1,
				       &regions->items_capacity, sizeof(*regions->items));
	memmove(&regions->items[at + 1], &regions->items[at],
		(regions->n_items - at) * sizeof(*regions->items));
	regions->items[at] = *region;
	regions->n_items++;
}

static void cut_front(struct region *region, uint64_t start)
{
	region->file_offset += start - region->start;
	region->start = start;
}

/* Makes [start, end) empty. */
static void clear_range(struct regions *regions, uint64_t start, uint64_t end)
{
	size_t at = first_after_address(regions, start);
	if (at < regions->n_items && regions->items[at].start < start) {
		struct region tail = regions->items[at];
		regions->items[at].end = start;
		at++;
		if (tail.end > end) {
			cut_front(&tail, end);
			insert_at(regions, at, &tail);
			return;
		}
	}
	size_t first_kept = at;
	while (first_kept < regions->n_items && regions->items[first_kept].end <= end)
		first_kept++;
	memmove(&regions->items[at], &regions->items[first_kept],
		(regions->n_items - first_kept) * sizeof(*regions->items));
	regions->n_items -= first_kept - at;
	if (at < regions->n_items && regions->items[at].start < end)
		cut_front(&regions->items[at], end);
}

static void insert_region(struct tp_maps *maps, const struct region *region, bool is_executable)
{
	struct regions *regions = regions_copy(maps);
	if (regions->n_items > 0)
		clear_range(regions, region->start, region->end);
	if (is_executable && regions->n_items < MAX_REGIONS)
		insert_at(regions, first_after_address(regions, region->start), region);
}

void tp_maps_add(struct tp_maps *maps, const struct tp_mapping *mapping)
{
	if (mapping->size == 0 || mapping->start >= FIRST_KERNEL_ADDRESS ||
	    mapping->size > FIRST_KERNEL_ADDRESS - mapping->start)
		return;
	struct tp_strtab *texts = &maps->modules->texts;
	const char *path = mapping->path && mapping->is_executable ? mapping->path : "";
	struct region region = {
		.start = mapping->start,
		.end = mapping->start + mapping->size,
		.file_offset = mapping->file_offset,
		.inode = mapping->inode,
		.dev_major = mapping->dev_major,
		.dev_minor = mapping->dev_minor,
		.path = tp_strtab_text(texts, tp_strtab_intern(texts, path)),
	};
	insert_region(maps, &region, mapping->is_executable);
}

void tp_maps_add_module(struct tp_maps *maps, uint64_t bias, struct tp_module *module)
{
	const struct tp_elf_image *image = tp_module_of(module)->image;
	if (!image || image->high_vaddr <= image->low_vaddr)
		return;
	struct region region = {
		.start = bias + image->low_vaddr,
		.end = bias + image->high_vaddr,
		.path = "",
		.module = module,
		.bias = bias,
		.has_bias = true,
	};
	if (region.start < region.end)
		insert_region(maps, &region, true);
}

enum tp_status tp_maps_read(struct tp_maps *maps, struct tp_error *err)
{
	struct tp_buf text = {0};
	struct tp_mapping mapping;
	enum tp_status status = tp_proc_maps_read(&text, "/proc", maps->owner.pid, err);
	char *at = text.data;
	while (status == TP_OK && tp_proc_maps_next(&at, &mapping))
		if (mapping.is_executable)
			tp_maps_add(maps, &mapping);
	tp_buf_release(&text);
	return status;
}

/* True for memory that some program filled with code, under any name that the kernel gives it. */
static bool is_anon(const char *path)
{
	if (*path != '/')
		return strcmp(path, "[vdso]") != 0;
	return tp_text_starts_with(path, "//anon") || tp_text_starts_with(path, "/dev/zero") ||
	       tp_text_starts_with(path, "/memfd:") || tp_text_starts_with(path, "/SYSV") ||
	       tp_text_starts_with(path, "/anon_hugepage");
}

/* Usually a mapping shows one segment; then an address needs no search. */
static void find_load_offset(struct region *region)
{
	const struct tp_elf_image *image = tp_module_of(region->module)->image;
	uint64_t vaddr;
	region->has_bias = image && tp_elf_image_map_code(image, region->file_offset,
							  region->end - region->start, &vaddr);
	if (region->has_bias)
		region->bias = region->start - vaddr;
}

static void bind_module(struct tp_maps *maps, struct region *region)
{
	if (is_anon(region->path)) {
		if (!maps->jit)
			maps->jit = tp_modules_add_jit(maps->modules, &maps->owner);
		region->module = maps->jit;
		return;
	}
	struct tp_file_mapping mapping = {
		.start = region->start,
		.end = region->end,
		.inode = region->inode,
		.dev_major = region->dev_major,
		.dev_minor = region->dev_minor,
		.path = region->path,
	};
	region->module = tp_modules_open(maps->modules, maps->owner.pid, &mapping);
	find_load_offset(region);
}

static struct region *region_find(struct tp_maps *maps, uint64_t pc)
{
	struct regions *regions = maps->regions;
	if (maps->last < regions->n_items && pc >= regions->items[maps->last].start &&
	    pc < regions->items[maps->last].end)
		return &regions->items[maps->last];
	size_t at = first_after_address(regions, pc);
	if (at == regions->n_items || regions->items[at].start > pc)
		return NULL;
	maps->last = at;
	return &regions->items[at];
}

bool tp_maps_locate(struct tp_maps *maps, uint64_t pc, struct tp_module **module, uint64_t *address)
{
	struct region *region = region_find(maps, pc);
	*module = NULL;
	*address = pc;
	if (!region)
		return false;
	if (!region->module)
		bind_module(maps, region);
	*module = region->module;
	const struct tp_elf_image *image = tp_module_of(region->module)->image;
	uint64_t offset = pc - region->start + region->file_offset;
	if (region->has_bias)
		*address = pc - region->bias;
	else if (region->module->kind == TP_FRAME_JIT)
		*address = pc;
	else if (!image || !tp_elf_image_offset_to_address(image, offset, address))
		*address = offset;
	return true;
}

void tp_maps_find(struct tp_maps *maps, uint64_t pc, uint32_t flags, struct tp_stack_frame *out)
{
	*out = (struct tp_stack_frame){.flags = flags};
	if (!tp_maps_locate(maps, pc, &out->module, &out->address) && pc >= FIRST_KERNEL_ADDRESS)
		out->module = tp_modules_kernel(maps->modules);
}

bool tp_maps_address(const struct tp_maps *maps, const char *path, uint64_t address, uint64_t *pc)
{
	const struct regions *regions = maps->regions;
	for (size_t i = 0; i < regions->n_items; i++) {
		const struct region *region = &regions->items[i];
		*pc = address + region->bias;
		if (region->has_bias && *pc >= region->start && *pc < region->end &&
		    strcmp(region->module->path, path) == 0)
			return true;
	}
	return false;
}
