/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the functions of libnvidia-ml and translates their results to text. */
#include "nvml_library.h"

#include "trainprof/base/memory.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *symbol;
	const char *older; /* with the same arguments; NULL = none */
	bool is_needed;
	size_t offset;
} calls[] = {
#define X(call, symbol, older, is_needed, arguments)                                               \
	{symbol, older, is_needed, offsetof(struct tp_nvml_library, call)},
	NVML_CALL_MAP(X)
#undef X
};

/* ISO C has no cast from an object's address to a function's; the bytes are the same here. */
static bool find_call(struct tp_nvml_library *library, size_t i)
{
	void *found = dlsym(library->handle, calls[i].symbol);
	if (!found && calls[i].older)
		found = dlsym(library->handle, calls[i].older);
	memcpy((char *)library + calls[i].offset, &found, sizeof(found));
	return found || !calls[i].is_needed;
}

enum tp_status tp_nvml_library_open(struct tp_nvml_library *out, const char *path,
				    struct tp_error *err)
{
	struct tp_nvml_library library = {0};
	/* RTLD_LOCAL, so that its symbols do not interfere with libraries that are loaded later. */
	library.handle = dlopen(path ? path : TP_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library.handle) {
		const char *why = dlerror(); /* NOLINT(concurrency-mt-unsafe): the thread's own */
		return tp_fail(err, TP_ABSENT, "%s", why ? why : "it cannot be loaded");
	}
	for (size_t i = 0; i < TP_ARRAY_LEN(calls); i++)
		if (!find_call(&library, i)) {
			dlclose(library.handle);
			return tp_fail(err, TP_VERSION, "%s has no %s: the driver is too old",
				       TP_NVML_LIBRARY, calls[i].symbol);
		}
	*out = library;
	return TP_OK;
}

void tp_nvml_library_close(struct tp_nvml_library *library)
{
	if (library->handle)
		dlclose(library->handle);
	*library = (struct tp_nvml_library){0};
}

/* Our own texts, so that they are the same with every driver; presence and remedy of a failed
 * init(). */
static const struct {
	int result;
	const char *text;
	enum tp_presence presence;
	const char *remedy;
} results[] = {
	{NVML_SUCCESS, "success", TP_PRESENCE_PRESENT, ""},
	{NVML_UNINITIALIZED, "not initialised", TP_PRESENCE_NO_DEVICE, "nvidia-smi"},
	{NVML_INVALID_ARGUMENT, "invalid argument", TP_PRESENCE_NO_DEVICE, "nvidia-smi"},
	{NVML_NOT_SUPPORTED, "not supported", TP_PRESENCE_NO_DEVICE, ""},
	{NVML_NO_PERMISSION, "no permission", TP_PRESENCE_NO_PERMISSION,
	 "ls -l /dev/nvidia*   and join the group that may open them"},
	{NVML_NOT_FOUND, "not found", TP_PRESENCE_NO_DEVICE, "nvidia-smi"},
	{NVML_INSUFFICIENT_SIZE, "the answer does not fit", TP_PRESENCE_NO_DEVICE, "nvidia-smi"},
	{NVML_DRIVER_NOT_LOADED, "the NVIDIA driver is not loaded", TP_PRESENCE_NO_DEVICE,
	 "sudo modprobe nvidia"},
	{NVML_LIBRARY_NOT_FOUND, "a library of the driver is missing", TP_PRESENCE_NO_LIBRARY,
	 "nvidia-smi"},
	{NVML_FUNCTION_NOT_FOUND, "a function of the driver is missing", TP_PRESENCE_NO_LIBRARY,
	 "nvidia-smi"},
	{NVML_GPU_IS_LOST, "the GPU is lost", TP_PRESENCE_NO_DEVICE,
	 "sudo dmesg | grep -i xid   then reset the GPU or reboot"},
	{NVML_RESET_REQUIRED, "the GPU needs a reset", TP_PRESENCE_NO_DEVICE,
	 "sudo nvidia-smi --gpu-reset"},
	{NVML_OPERATING_SYSTEM, "the system refused", TP_PRESENCE_NO_PERMISSION, "nvidia-smi"},
	{NVML_LIB_RM_MISMATCH, "library and kernel module are of different versions",
	 TP_PRESENCE_NO_LIBRARY, "reboot, or reload the nvidia modules"},
	{NVML_NO_DATA, "no data", TP_PRESENCE_NO_DEVICE, ""},
	{NVML_UNKNOWN, "unknown error", TP_PRESENCE_NO_DEVICE, "nvidia-smi"},
};

static size_t find_result(int result)
{
	size_t i = 0;
	while (i < TP_ARRAY_LEN(results) - 1 && results[i].result != result)
		i++;
	return i; /* the last one: unknown */
}

void tp_nvml_explain(struct tp_availability *out, int result)
{
	size_t i = find_result(result);
	*out = (struct tp_availability){.presence = results[i].presence};
	snprintf(out->reason, sizeof(out->reason), "NVML does not start: %s (%d)", results[i].text,
		 result);
	snprintf(out->remedy, sizeof(out->remedy), "%s", results[i].remedy);
}
