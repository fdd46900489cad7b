/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a libcupti with PM sampling, and translates the results of its calls to text. */
#include "pm_library.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/trust.h"
#include "trainprof/wire/cupti_places.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const files[] = {"libcupti.so.13", "libcupti.so.12"};

/* A library next to the program's may belong to another user and would run with our rights. A name
 * without a folder is searched where the system's libraries are. */
static void *open_trusted(const char *path)
{
	if (strchr(path, '/') && !tp_trust_is_given(path))
		return NULL;
	return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

/* libcupti opens this library by its bare name. In Python wheels the loader does not find it next
 * to libcupti, but it finds one that is loaded already. */
static void load_host_library(const char *cupti)
{
	const char *slash = strrchr(cupti, '/');
	if (!slash)
		return;
	char *path = tp_asprintf("%.*s/libnvperf_host.so", (int)(slash - cupti), cupti);
	(void)open_trusted(path);
	free(path);
}

static void *open_cupti(const char *path)
{
	void *handle = open_trusted(path);
	if (handle)
		load_host_library(path);
	return handle;
}

static void *open_in_dir(const char *folder)
{
	void *handle = NULL;
	for (size_t i = 0; i < TP_ARRAY_LEN(files) && !handle; i++) {
		char *path = tp_asprintf("%s%s", folder, files[i]);
		handle = open_cupti(path);
		free(path);
	}
	return handle;
}

static void *open_next_to(const char *runtime)
{
	const char *slash = runtime ? strrchr(runtime, '/') : NULL;
	if (!slash)
		return NULL;
	int length = (int)(slash - runtime) + 1;
	char *own = tp_asprintf("%.*s", length, runtime);
	char *other = tp_asprintf("%.*s" TP_CUPTI_WHEEL, length, runtime);
	void *handle = open_in_dir(own);
	if (!handle)
		handle = open_in_dir(other);
	free(own);
	free(other);
	return handle;
}

static void *open_any(const char *beside)
{
	static const char *const folders[] = TP_CUPTI_FOLDERS;
	const char *path = getenv(TP_CUPTI_ENV); /* NOLINT(concurrency-mt-unsafe) */
	void *handle = path ? open_cupti(path) : NULL;
	if (!handle)
		handle = open_next_to(beside);
	if (!handle)
		handle = open_in_dir("");
	for (size_t i = 0; i < TP_ARRAY_LEN(folders) && !handle; i++)
		handle = open_in_dir(folders[i]);
	return handle;
}

static const struct {
	const char *symbol;
	size_t offset;
} calls[] = {
#define X(call, symbol, argument) {symbol, offsetof(struct tp_pm_library, call)},
	PM_CALL_MAP(X)
#undef X
};

enum tp_status tp_pm_library_open(struct tp_pm_library *out, const char *beside,
				  struct tp_error *err)
{
	struct tp_pm_library library = {.handle = open_any(beside)};
	if (!library.handle) {
		(void)tp_fail(err, TP_ABSENT, "no libcupti is found");
		tp_error_next(err, "%s", TP_CUPTI_ENV "=/path/of/libcupti.so.13");
		return TP_ABSENT;
	}
	for (size_t i = 0; i < TP_ARRAY_LEN(calls); i++) {
		/* ISO C has no cast from an object's address to a function's; the bytes are the
		 * same here. */
		void *found = dlsym(library.handle, calls[i].symbol);
		if (!found)
			return tp_fail(err, TP_VERSION, "libcupti has no %s: CUDA 12.6 is needed",
				       calls[i].symbol);
		memcpy((char *)&library + calls[i].offset, &found, sizeof(found));
	}
	*out = library;
	return TP_OK;
}

/* Our own texts, so that they are the same with every CUPTI. */
static const struct {
	int result;
	enum tp_presence presence;
	const char *text;
	const char *remedy;
} results[] = {
	{PM_INVALID_PARAMETER, TP_PRESENCE_NO_DEVICE, "invalid parameter", ""},
	{PM_INVALID_DEVICE, TP_PRESENCE_NO_DEVICE, "no such GPU", "nvidia-smi"},
	{PM_INVALID_CONTEXT, TP_PRESENCE_NO_DEVICE,
	 "it wants a context on the GPU, which trainprof does not make", ""},
	{PM_INVALID_OPERATION, TP_PRESENCE_IN_USE, "another tool samples on this GPU",
	 "end ncu, nsys or DCGM's profiling there"},
	{PM_OUT_OF_MEMORY, TP_PRESENCE_NO_DEVICE, "out of memory", ""},
	{PM_NOT_INITIALIZED, TP_PRESENCE_NO_DEVICE, "CUDA does not start here", "nvidia-smi"},
	{PM_HARDWARE_BUSY, TP_PRESENCE_IN_USE, "another tool has the counters",
	 "end ncu, nsys or DCGM's profiling there"},
	{PM_NOT_SUPPORTED, TP_PRESENCE_NO_DEVICE, "not supported on this GPU", ""},
	{PM_VIRTUALIZED, TP_PRESENCE_NO_DEVICE, "not supported on a virtual GPU", ""},
	{PM_NO_PRIVILEGES, TP_PRESENCE_NO_PERMISSION, "counters are for administrators",
	 "sudo trainprof ..., or the module option NVreg_RestrictProfilingToAdminUsers=0"},
	{PM_VIRTUALIZED_NO_PRIVILEGES, TP_PRESENCE_NO_PERMISSION,
	 "profiling is off for this virtual GPU", "enable profiling in the vGPU's settings"},
	{PM_CONFIDENTIAL, TP_PRESENCE_NO_DEVICE, "not with confidential computing", ""},
	{PM_MINING, TP_PRESENCE_NO_DEVICE, "not supported on mining GPUs", ""},
	{PM_MIG, TP_PRESENCE_NO_DEVICE, "not supported on this MIG instance", ""},
	{PM_SLI, TP_PRESENCE_NO_DEVICE, "not supported with SLI", ""},
	{PM_WSL, TP_PRESENCE_NO_DEVICE, "not supported under WSL", ""},
	{PM_UNKNOWN_CHIP, TP_PRESENCE_NO_LIBRARY, "this libcupti does not know the GPU",
	 TP_CUPTI_ENV "=/path/of/a/newer/libcupti.so"},
	{PM_INVALID_METRIC_NAME, TP_PRESENCE_NO_DEVICE,
	 "CUPTI knows none of the counters that are wanted of this GPU", ""},
	{PM_UNKNOWN, TP_PRESENCE_NO_DEVICE, "unknown error", ""},
};

void tp_pm_explain(struct tp_availability *out, const char *call, int result)
{
	size_t i = 0;
	while (i < TP_ARRAY_LEN(results) - 1 && results[i].result != result)
		i++;
	*out = (struct tp_availability){.presence = results[i].presence};
	snprintf(out->reason, sizeof(out->reason), "%s (%s: %d)", results[i].text, call, result);
	snprintf(out->remedy, sizeof(out->remedy), "%s", results[i].remedy);
}
