/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the libcupti to use: a mapped one, the user's choice, the one next to the CUDA runtime,
 * the loader's, or a toolkit's. */
#include "cupti_copy.h"

#include "trainprof/wire/cupti_places.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROGRAM_HEADERS_MAX = 32 };

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

struct copy_search {
	char *path;
	uint32_t driver_version;
	long runtime_major; /* major version of the mapped CUDA runtime; 0 = none is mapped, or its
			       name has no version */
};

static const struct {
	const char *file;
	long major;
} files[] = {{"libcupti.so.13", 13}, {"libcupti.so.12", 12}, {"libcupti.so.11.8", 11}};

enum { N_FILES = sizeof(files) / sizeof(files[0]) };

/* ---- mapped libraries ----------------------------------------------------------------------- */

struct mapped {
	const char *prefix;     /* prefix of its file name */
	const void *other_than; /* skip the library that contains this address */
	char path[TP_CUPTI_PATH_BYTES];
};

static bool has_address(const struct dl_phdr_info *info, const void *address)
{
	for (size_t i = 0; address && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t offset = (uintptr_t)address - (info->dlpi_addr + header->p_vaddr);
		if (header->p_type == PT_LOAD && offset < header->p_memsz)
			return true;
	}
	return false;
}

static int match_mapped(struct dl_phdr_info *info, size_t size, void *context)
{
	struct mapped *mapped = context;
	(void)size;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	if (!slash || strncmp(slash + 1, mapped->prefix, strlen(mapped->prefix)) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(mapped->path) ||
	    has_address(info, mapped->other_than))
		return 0;
	memcpy(mapped->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
	return 1;
}

static bool find_mapped(struct mapped *mapped, const char *prefix, const void *other_than)
{
	*mapped = (struct mapped){.prefix = prefix, .other_than = other_than};
	return dl_iterate_phdr(match_mapped, mapped) == 1;
}

void tp_cupti_copy_find_other(char out[TP_CUPTI_PATH_BYTES], const void *address)
{
	struct mapped mapped;
	out[0] = '\0';
	if (find_mapped(&mapped, "libcupti.so", address))
		memcpy(out, mapped.path, sizeof(mapped.path));
}

/* ---- files ---------------------------------------------------------------------------------- */

/* True if the file contains everything that the loader will map and is built for this machine. */
static bool is_whole(int fd)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) parts[PROGRAM_HEADERS_MAX];
	struct stat status;
	if (fstat(fd, &status) != 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != OWN_MACHINE ||
	    header.e_phnum > PROGRAM_HEADERS_MAX || header.e_phentsize != sizeof(parts[0]))
		return false;
	size_t bytes = header.e_phnum * sizeof(parts[0]);
	if (pread(fd, parts, bytes, (off_t)header.e_phoff) != (ssize_t)bytes)
		return false;
	for (size_t i = 0; i < header.e_phnum; i++)
		if (parts[i].p_type == PT_LOAD &&
		    parts[i].p_offset + parts[i].p_filesz > (uint64_t)status.st_size)
			return false;
	return true;
}

/* A bare name is left to the loader's search. */
static bool can_load(const char *path)
{
	if (!strchr(path, '/'))
		return true;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_able = fd >= 0 && is_whole(fd);
	if (fd >= 0)
		close(fd);
	return is_able;
}

static void *open_file(const struct copy_search *search, const char *path, int flags)
{
	if (!*path || strlen(path) >= TP_CUPTI_PATH_BYTES || !can_load(path))
		return NULL;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE | flags);
	if (handle)
		memcpy(search->path, path, strlen(path) + 1);
	return handle;
}

/* ---- places to search ----------------------------------------------------------------------- */

static bool is_too_new(const struct copy_search *search, long major)
{
	return search->driver_version && major > (long)(search->driver_version / 1000);
}

/* Opens a copy of the major version `only`, or of any version if that is 0. */
static void *open_in(const struct copy_search *search, const char *folder, long only)
{
	void *handle = NULL;
	for (size_t i = 0; i < N_FILES && !handle; i++) {
		char path[2 * TP_CUPTI_PATH_BYTES];
		snprintf(path, sizeof(path), "%s%s", folder, files[i].file);
		if ((!only || files[i].major == only) && !is_too_new(search, files[i].major))
			handle = open_file(search, path, 0);
	}
	return handle;
}

/* Parses "libcudart.so.12" and "libcudart-d0da41ae.so.11.0". */
static long major_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *suffix = strstr(slash ? slash : path, ".so.");
	return suffix ? strtol(suffix + strlen(".so."), NULL, 10) : 0;
}

static void *open_beside_runtime(const struct copy_search *search, const char *runtime)
{
	static const char *const beside[] = {"", TP_CUPTI_WHEEL, TP_CUPTI_EXTRAS};
	int length = (int)(strrchr(runtime, '/') - runtime) + 1;
	void *handle = NULL;
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]) && !handle; i++) {
		char folder[TP_CUPTI_PATH_BYTES + 32];
		snprintf(folder, sizeof(folder), "%.*s%s", length, runtime, beside[i]);
		handle = open_in(search, folder, search->runtime_major);
	}
	return handle;
}

static void *open_other(const struct copy_search *search, long only)
{
	static const char *const folders[] = TP_CUPTI_FOLDERS;
	void *handle = open_in(search, "", only);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !handle; i++)
		handle = open_in(search, folders[i], only);
	return handle;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the search writes into it */
void *tp_cupti_copy_open(char path[TP_CUPTI_PATH_BYTES], uint32_t driver_version)
{
	struct copy_search search = {.path = path, .driver_version = driver_version};
	struct mapped mapped;
	void *handle = NULL;
	if (find_mapped(&mapped, "libcupti.so", NULL))
		handle = open_file(&search, mapped.path, RTLD_NOLOAD);
	const char *configured = secure_getenv(TP_CUPTI_ENV);
	if (!handle && configured)
		handle = open_file(&search, configured, 0);
	bool has_runtime = !handle && find_mapped(&mapped, "libcudart", NULL);
	if (has_runtime) {
		search.runtime_major = major_of_file(mapped.path);
		handle = open_beside_runtime(&search, mapped.path);
	}
	if (!handle && search.runtime_major)
		handle = open_other(&search, search.runtime_major);
	return handle ? handle : open_other(&search, 0);
}
