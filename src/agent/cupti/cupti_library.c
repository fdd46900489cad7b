/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the functions of CUPTI and starts it. */
#include "cupti_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* ISO C has no cast from an object's address to a function's; the bytes are the same here. */
static void find_call(void *handle, const char *symbol, void *out)
{
	void *found = dlsym(handle, symbol);
	memcpy(out, &found, sizeof(found));
}

/* Looks up a function of the driver that the program has loaded; loads nothing itself. */
static void find_driver_call(const char *symbol, void *out)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (driver)
		find_call(driver, symbol, out);
}

static uint32_t driver_version(void)
{
	int (*get)(int *) = NULL;
	int version = 0;
	find_driver_call("cuDriverGetVersion", &get);
	return get && get(&version) == 0 && version > 0 ? (uint32_t)version : 0;
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

bool tp_cupti_library_load(struct tp_cupti_library *out)
{
	*out = (struct tp_cupti_library){.driver_version = driver_version()};
	void *handle = tp_cupti_copy_open(out->path, out->driver_version);
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
	out->may_recurse = dlsym(handle, "cuptiActivityEnable_v2") &&
			   !dlsym(handle, "cuptiActivityGetNextRecord_v2");
	return !out->missing;
}

/* Asks in the way that CUPTI does for the first of the driver's tables. */
static int query_core_table(void)
{
	static const unsigned char core[16] = {0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42,
					       0xa4, 0x84, 0xbe, 0xb6, 0x6e, 0x6a, 0xed, 0x7f};
	int (*get)(const void **, const unsigned char *) = NULL;
	const void *table = NULL;
	find_driver_call("cuGetExportTable", &get);
	int result = get ? get(&table, core) : CUPTI_NOT_INITIALIZED;
	return result == 0 && !table ? CUPTI_NOT_INITIALIZED : result;
}

bool tp_cupti_library_start(struct tp_cupti_library *lib)
{
	lib->failed_call = NULL;
	lib->error = lib->may_recurse ? query_core_table() : CUPTI_OK;
	if (lib->error != CUPTI_OK) {
		lib->failed_call = "cuGetExportTable";
		return false;
	}
	lib->error = lib->get_version(&lib->version);
	if (lib->error == CUPTI_OK)
		return true;
	lib->version = 0;
	lib->failed_call = "cuptiGetVersion";
	return false;
}
