/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a libcupti: mapped, told, known to the loader, beside the runtime, in a toolkit. */
#include "cupti_library.h"

#include "trainprof/wire/cupti_places.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A path of a mapped library, by how its file name begins. */
struct mapped {
	const char *prefix;
	char path[sizeof(((struct tp_cupti_library *)0)->path)];
};

static int match_mapped(struct dl_phdr_info *info, size_t size, void *context)
{
	struct mapped *mapped = context;
	(void)size;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	if (!slash || strncmp(slash + 1, mapped->prefix, strlen(mapped->prefix)) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(mapped->path))
		return 0;
	memcpy(mapped->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
	return 1;
}

static bool find_mapped(struct mapped *mapped, const char *prefix)
{
	*mapped = (struct mapped){.prefix = prefix};
	return dl_iterate_phdr(match_mapped, mapped) == 1;
}

/* ISO C has no cast from an object's address to a function's; the bytes are the same here. */
static void find_call(void *handle, const char *symbol, void *out)
{
	void *found = dlsym(handle, symbol);
	memcpy(out, &found, sizeof(found));
}

/* Asked of the driver that the program has loaded; nothing is loaded for it. */
static uint32_t driver_version(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int (*get)(int *) = NULL;
	int version = 0;
	if (driver)
		find_call(driver, "cuDriverGetVersion", &get);
	return get && get(&version) == 0 && version > 0 ? (uint32_t)version : 0;
}

static void *open_file(struct tp_cupti_library *lib, const char *path, int flags)
{
	if (!*path || strlen(path) >= sizeof(lib->path))
		return NULL;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | flags);
	if (handle)
		memcpy(lib->path, path, strlen(path) + 1);
	return handle;
}

static const struct {
	const char *file;
	uint32_t major;
} files[] = {{"libcupti.so.13", 13}, {"libcupti.so.12", 12}, {"libcupti.so.11.8", 11}};

enum { N_FILES = sizeof(files) / sizeof(files[0]) };

static bool is_too_new(const struct tp_cupti_library *lib, uint32_t major)
{
	return lib->driver_version && major > lib->driver_version / 1000;
}

static void *open_in(struct tp_cupti_library *lib, const char *folder)
{
	void *handle = NULL;
	for (size_t i = 0; i < N_FILES && !handle; i++) {
		char path[2 * sizeof(lib->path)];
		snprintf(path, sizeof(path), "%s%s", folder, files[i].file);
		if (!is_too_new(lib, files[i].major))
			handle = open_file(lib, path, 0);
	}
	return handle;
}

static void *open_in_runtime_dir(struct tp_cupti_library *lib)
{
	struct mapped runtime;
	if (!find_mapped(&runtime, "libcudart.so"))
		return NULL;
	char folder[sizeof(runtime.path) + 32];
	int length = (int)(strrchr(runtime.path, '/') - runtime.path) + 1;
	snprintf(folder, sizeof(folder), "%.*s", length, runtime.path);
	void *handle = open_in(lib, folder);
	if (handle)
		return handle;
	snprintf(folder, sizeof(folder), "%.*s" TP_CUPTI_WHEEL, length, runtime.path);
	return open_in(lib, folder);
}

static void *open_in_cuda_dir(struct tp_cupti_library *lib)
{
	static const char *const folders[] = TP_CUPTI_FOLDERS;
	void *handle = NULL;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !handle; i++)
		handle = open_in(lib, folders[i]);
	return handle;
}

static void *open_any(struct tp_cupti_library *lib)
{
	struct mapped mapped;
	if (find_mapped(&mapped, "libcupti.so")) {
		void *handle = open_file(lib, mapped.path, RTLD_NOLOAD);
		if (handle)
			return handle;
	}
	const char *told = secure_getenv(TP_CUPTI_ENV);
	void *handle = told ? open_file(lib, told, 0) : NULL;
	if (!handle)
		handle = open_in(lib, "");
	if (!handle)
		handle = open_in_runtime_dir(lib);
	return handle ? handle : open_in_cuda_dir(lib);
}

static const struct {
	const char *symbol;
	size_t offset;
	bool is_needed;
} calls[] = {
#define X(member, symbol, is_needed, arguments)                                                    \
	{#symbol, offsetof(struct tp_cupti_library, member), is_needed},
	TP_CUPTI_CALL_MAP(X)
#undef X
};

bool tp_cupti_library_open(struct tp_cupti_library *out)
{
	*out = (struct tp_cupti_library){.driver_version = driver_version()};
	void *handle = open_any(out);
	if (!handle)
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *member = (char *)out + calls[i].offset;
		find_call(handle, calls[i].symbol, member);
		void *found;
		memcpy(&found, member, sizeof(found));
		if (!found && calls[i].is_needed && !out->missing)
			out->missing = calls[i].symbol;
	}
	if (!out->missing && out->get_version(&out->version) != CUPTI_OK)
		out->version = 0;
	return !out->missing;
}
