/* SPDX-License-Identifier: Apache-2.0 */
/* Walks loaded libraries, their dynamic sections and relocations. */
#include "got_patch.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Relocation types of a call slot and of a data slot that holds an address (psABI supplements). */
#if defined(__x86_64__)
enum { CALLED = R_X86_64_JUMP_SLOT, KEPT = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { CALLED = R_AARCH64_JUMP_SLOT, KEPT = R_AARCH64_GLOB_DAT };
#else
enum { CALLED = -1, KEPT = -1 };
#endif

enum {
	IMAGES_MAX = 16,
	PARTS_MAX = 8,
	MAX_PATH = 512
}; /* further images and parts are left alone */

/* One mapping of a file. */
struct part {
	uintptr_t from;
	uintptr_t until;
	int protection;
};

/* A loaded file; addresses are those of this process. */
struct image {
	char path[MAX_PATH]; /* "" = the program itself */
	uintptr_t base;
	uintptr_t from; /* start of all its mappings */
	uintptr_t until;
	uintptr_t fixed_from; /* start of the part that is read-only after relocation */
	uintptr_t fixed_until;
	const Elf64_Dyn *dynamic;
	size_t n_dynamic;
	const char *texts;
	size_t texts_bytes;
	const Elf64_Sym *symbols;
	struct part parts[PARTS_MAX];
	size_t n_parts;
};

/* The libraries that need a given library. */
struct walk {
	const char *needed;
	unsigned long long n_loaded;
	struct image images[IMAGES_MAX];
	size_t n;
};

struct patch_scan {
	const struct image *image;
	const struct tp_got_import *imports;
	size_t n;
	unsigned n_replaced;
	unsigned n_left; /* slots of such a name that point elsewhere or cannot be written */
};

/* ---- one image ------------------------------------------------------------------------------ */

static void *pointer(uintptr_t address)
{
	return (void *)address; /* NOLINT(performance-no-int-to-ptr): as the loader tells them */
}

static bool holds(const struct image *image, uintptr_t at, size_t bytes)
{
	return at >= image->from && at <= image->until && bytes <= image->until - at;
}

/* The loader has turned most values of a dynamic section into addresses, but not all of them on
 * every architecture. */
static uintptr_t address(const struct image *image, uintptr_t value)
{
	return value < image->from ? image->base + value : value;
}

static uintptr_t value_of(const struct image *image, Elf64_Sxword tag)
{
	for (size_t i = 0; i < image->n_dynamic && image->dynamic[i].d_tag != DT_NULL; i++)
		if (image->dynamic[i].d_tag == tag)
			return image->dynamic[i].d_un.d_val;
	return 0;
}

static void add_mapping(struct image *image, const Elf64_Phdr *header)
{
	uintptr_t from = image->base + header->p_vaddr;
	if (from < image->from)
		image->from = from;
	if (from + header->p_memsz > image->until)
		image->until = from + header->p_memsz;
	if (image->n_parts < PARTS_MAX)
		image->parts[image->n_parts++] = (struct part){
			.from = from,
			.until = from + header->p_memsz,
			.protection = (header->p_flags & PF_R ? PROT_READ : 0) |
				      (header->p_flags & PF_W ? PROT_WRITE : 0) |
				      (header->p_flags & PF_X ? PROT_EXEC : 0),
		};
}

/* Returns false if the image has no readable tables. */
static bool read_image(struct image *out, const struct dl_phdr_info *info)
{
	*out = (struct image){.base = info->dlpi_addr, .from = UINTPTR_MAX};
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *header = &info->dlpi_phdr[i];
		uintptr_t at = out->base + header->p_vaddr;
		if (header->p_type == PT_LOAD)
			add_mapping(out, header);
		if (header->p_type == PT_DYNAMIC) {
			out->dynamic = pointer(at);
			out->n_dynamic = header->p_memsz / sizeof(*out->dynamic);
		}
		if (header->p_type == PT_GNU_RELRO) {
			out->fixed_from = at;
			out->fixed_until = at + header->p_memsz;
		}
	}
	if (!out->dynamic ||
	    !holds(out, (uintptr_t)out->dynamic, out->n_dynamic * sizeof(*out->dynamic)))
		return false;
	uintptr_t texts = address(out, value_of(out, DT_STRTAB));
	uintptr_t symbols = address(out, value_of(out, DT_SYMTAB));
	out->texts_bytes = value_of(out, DT_STRSZ);
	if (!holds(out, texts, out->texts_bytes) || !holds(out, symbols, sizeof(*out->symbols)))
		return false;
	out->texts = pointer(texts);
	out->symbols = pointer(symbols);
	return true;
}

/* The string table ends with a NUL, so a string that starts inside it ends inside it. */
static const char *text_at(const struct image *image, size_t offset)
{
	bool is_whole = image->texts_bytes && !image->texts[image->texts_bytes - 1];
	return is_whole && offset < image->texts_bytes ? image->texts + offset : "";
}

static bool needs(const struct image *image, const char *prefix)
{
	for (size_t i = 0; i < image->n_dynamic && image->dynamic[i].d_tag != DT_NULL; i++)
		if (image->dynamic[i].d_tag == DT_NEEDED &&
		    strncmp(text_at(image, image->dynamic[i].d_un.d_val), prefix, strlen(prefix)) ==
			    0)
			return true;
	return false;
}

/* ---- its slots ------------------------------------------------------------------------------ */

static const struct tp_got_import *import_of(const struct patch_scan *patch_scan,
					     const Elf64_Rela *relocation)
{
	const struct image *image = patch_scan->image;
	int type = (int)ELF64_R_TYPE(relocation->r_info);
	const Elf64_Sym *symbol = image->symbols + ELF64_R_SYM(relocation->r_info);
	if ((type != CALLED && type != KEPT) || !holds(image, (uintptr_t)symbol, sizeof(*symbol)))
		return NULL;
	const char *name = text_at(image, symbol->st_name);
	for (size_t i = 0; i < patch_scan->n; i++)
		if (patch_scan->imports[i].theirs &&
		    strcmp(name, patch_scan->imports[i].symbol) == 0)
			return &patch_scan->imports[i];
	return NULL;
}

/* True if the slot points to the expected function, or is unresolved and still points back into its
 * own library's PLT. Any other value was set by another tool. */
static bool can_replace(const struct image *image, const struct tp_got_import *import,
			uintptr_t value)
{
	return value == import->theirs || (value > image->from && value < image->until);
}

static bool store(const struct image *image, uintptr_t at, uintptr_t value)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *begin = pointer(at & ~(page - 1));
	bool is_fixed = at >= image->fixed_from && at < (image->fixed_until & ~(page - 1));
	if (is_fixed && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0)
		return false;
	__atomic_store_n((uintptr_t *)pointer(at), value, __ATOMIC_RELEASE);
	if (is_fixed)
		mprotect(begin, page, PROT_READ);
	return true;
}

static void patch_word(struct patch_scan *patch_scan, const Elf64_Rela *relocation)
{
	const struct image *image = patch_scan->image;
	const struct tp_got_import *import = import_of(patch_scan, relocation);
	uintptr_t at = image->base + relocation->r_offset;
	if (!import || at % sizeof(uintptr_t) || !holds(image, at, sizeof(uintptr_t)))
		return;
	uintptr_t value = __atomic_load_n((uintptr_t *)pointer(at), __ATOMIC_ACQUIRE);
	if (value == import->ours)
		return;
	if (can_replace(image, import, value) && store(image, at, import->ours))
		patch_scan->n_replaced++;
	else
		patch_scan->n_left++;
}

/* The first `n_relative` relocations have no symbol; in large libraries that is most of them. */
static void patch_table(struct patch_scan *patch_scan, Elf64_Sxword tag, Elf64_Sxword bytes_tag,
			size_t n_relative)
{
	uintptr_t table = value_of(patch_scan->image, tag);
	size_t bytes = value_of(patch_scan->image, bytes_tag);
	const Elf64_Rela *relocations = pointer(address(patch_scan->image, table));
	if (!table || !holds(patch_scan->image, (uintptr_t)relocations, bytes))
		return;
	for (size_t i = n_relative; i < bytes / sizeof(*relocations); i++)
		patch_word(patch_scan, &relocations[i]);
}

static void patch_image(struct patch_scan *patch_scan)
{
	if (value_of(patch_scan->image, DT_PLTREL) == DT_RELA)
		patch_table(patch_scan, DT_JMPREL, DT_PLTRELSZ, 0);
	patch_table(patch_scan, DT_RELA, DT_RELASZ, value_of(patch_scan->image, DT_RELACOUNT));
}

/* Takes a permanent reference, so that the library is not unloaded now, nor later while it contains
 * our slots. As a side effect this waits until the loader has finished with the library: the loader
 * lists a library early and makes its pages read-only at the end. Returns false if the library is
 * gone or another one has taken its place. */
static bool hold_image(const struct image *image)
{
	struct link_map *map = NULL;
	void *handle = dlopen(*image->path ? image->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
	return handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_addr == image->base;
}

/* ---- all images ----------------------------------------------------------------------------- */

static int count_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	(void)size;
	walk->n_loaded = info->dlpi_adds;
	return 1;
}

/* The loader, and possibly a child forked meanwhile, waits for this callback, so it must be
 * short. */
static int note_image(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	struct image *image = &walk->images[walk->n];
	(void)size;
	walk->n_loaded = info->dlpi_adds;
	if (walk->n == IMAGES_MAX || !read_image(image, info) || !needs(image, walk->needed))
		return 0;
	if (info->dlpi_name && strlen(info->dlpi_name) < sizeof(image->path)) {
		memcpy(image->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
		walk->n++;
	}
	return 0;
}

void tp_got_patch_replace(struct tp_got_patch *slots, const struct tp_got_import *imports, size_t n,
			  const char *needed)
{
	struct walk walk = {.needed = needed};
	dl_iterate_phdr(count_loaded, &walk);
	if (walk.n_loaded == slots->n_loaded)
		return;
	dl_iterate_phdr(note_image, &walk);
	slots->n_loaded = walk.n_loaded;
	for (size_t i = 0; i < walk.n; i++) {
		struct patch_scan patch_scan = {.image = &walk.images[i],
						.imports = imports,
						.n = n};
		if (!hold_image(patch_scan.image))
			continue;
		patch_image(&patch_scan);
		slots->n_replaced += patch_scan.n_replaced;
	}
}

struct image_search {
	uintptr_t address;
	struct image image;
};

static int match_image(struct dl_phdr_info *info, size_t size, void *context)
{
	struct image_search *search = context;
	(void)size;
	return read_image(&search->image, info) && holds(&search->image, search->address, 1);
}

bool tp_got_patch_replace_in(uintptr_t address, const struct tp_got_import *imports, size_t n)
{
	struct image_search search = {.address = address};
	struct patch_scan patch_scan = {.image = &search.image, .imports = imports, .n = n};
	if (dl_iterate_phdr(match_image, &search) != 1)
		return false;
	patch_image(&patch_scan);
	return patch_scan.n_left == 0;
}

/* Returns the protection of the image's page for mprotect(); 0 if the address is not in the
 * image. */
static int access_of(const struct image *image, uintptr_t at)
{
	int protection = 0;
	for (size_t i = 0; i < image->n_parts; i++) {
		const struct part *part = &image->parts[i];
		if (at >= part->from && at < part->until)
			protection = part->protection;
	}
	return protection;
}

bool tp_got_patch_export(uintptr_t theirs, uintptr_t ours)
{
	struct image_search search = {.address = theirs};
	Dl_info info;
	void *symbol = NULL;
	if (dl_iterate_phdr(match_image, &search) != 1 ||
	    !dladdr1(pointer(theirs), &info, &symbol, RTLD_DL_SYMENT) || !symbol)
		return false;
	const Elf64_Sym *entry = symbol;
	uintptr_t at = (uintptr_t)&entry->st_value;
	uintptr_t base = search.image.base;
	int protection = access_of(&search.image, at);
	if (!holds(&search.image, at, sizeof(at)) || base + entry->st_value != theirs ||
	    !protection)
		return false;
	/* The page may also contain code, so it stays executable. */
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *begin = pointer(at & ~(page - 1));
	if (mprotect(begin, page, protection | PROT_WRITE) != 0)
		return false;
	__atomic_store_n((Elf64_Addr *)pointer(at), ours - base, __ATOMIC_RELEASE);
	mprotect(begin, page, protection);
	return true;
}

struct got_search {
	uintptr_t address;
	char *out;
	size_t size;
};

static int match_address(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct got_search *search = context;
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *header = &info->dlpi_phdr[i];
		uintptr_t offset = search->address - (info->dlpi_addr + header->p_vaddr);
		if (header->p_type != PT_LOAD || offset >= header->p_memsz)
			continue;
		strncpy(search->out, info->dlpi_name ? info->dlpi_name : "", search->size - 1);
		return 1;
	}
	return 0;
}

void tp_got_patch_file_of(char *out, size_t size, uintptr_t address)
{
	struct got_search search = {.address = address, .out = out, .size = size};
	memset(out, 0, size);
	dl_iterate_phdr(match_address, &search);
}
