/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events from a GPU agent. */
#include "gpu_event_name.h"

#include "trainprof/base/memory.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void tp_gpu_demangler_open(struct tp_gpu_demangler *out)
{
	*out = (struct tp_gpu_demangler){.library = dlopen("libstdc++.so.6", RTLD_NOW)};
	if (!out->library)
		return;
	/* POSIX guarantees this conversion; ISO C has none from an object pointer to a function. */
	void *symbol = dlsym(out->library, "__cxa_demangle");
	memcpy(&out->demangle, &symbol, sizeof(symbol));
}

void tp_gpu_demangler_close(struct tp_gpu_demangler *demangler)
{
	if (demangler->library)
		dlclose(demangler->library);
	*demangler = (struct tp_gpu_demangler){0};
}

void tp_gpu_name_kernel(struct tp_buf *out, const struct tp_gpu_demangler *demangler,
			const char *name, size_t length)
{
	char *mangled = tp_strndup(name, length);
	char *plain = NULL;
	int status = -1;
	if (demangler->demangle && strncmp(mangled, "_Z", 2) == 0)
		plain = demangler->demangle(mangled, NULL, NULL, &status);
	tp_buf_puts(out, plain && status == 0 ? plain : mangled);
	free(plain);
	free(mangled);
}

/* ---- copies and memsets --------------------------------------------------------------------- */

static const char *memory_name(uint32_t memory)
{
	static const char *const names[] = {
		[TP_GPU_MEMORY_UNKNOWN] = "Unknown",
		[TP_GPU_MEMORY_PAGEABLE] = "Pageable",
		[TP_GPU_MEMORY_PINNED] = "Pinned",
		[TP_GPU_MEMORY_DEVICE] = "Device",
		[TP_GPU_MEMORY_ARRAY] = "Array",
		[TP_GPU_MEMORY_MANAGED] = "Managed",
		[TP_GPU_MEMORY_DEVICE_STATIC] = "Device Static",
		[TP_GPU_MEMORY_MANAGED_STATIC] = "Managed Static",
	};
	return names[memory < TP_ARRAY_LEN(names) ? memory : TP_GPU_MEMORY_UNKNOWN];
}

void tp_gpu_name_copy(struct tp_buf *out, uint32_t id)
{
	static const char *const ways[] = {
		[TP_GPU_COPY_HTOD] = " HtoD", [TP_GPU_COPY_DTOH] = " DtoH",
		[TP_GPU_COPY_HTOA] = " HtoA", [TP_GPU_COPY_ATOH] = " AtoH",
		[TP_GPU_COPY_ATOA] = " AtoA", [TP_GPU_COPY_ATOD] = " AtoD",
		[TP_GPU_COPY_DTOA] = " DtoA", [TP_GPU_COPY_DTOD] = " DtoD",
		[TP_GPU_COPY_HTOH] = " HtoH", [TP_GPU_COPY_PTOP] = " PtoP",
	};
	uint32_t way = id & 0xff;
	tp_buf_printf(out, "Memcpy%s (%s -> %s)",
		      way < TP_ARRAY_LEN(ways) && ways[way] ? ways[way] : "",
		      memory_name(id >> 8 & 0xff), memory_name(id >> 16 & 0xff));
}

void tp_gpu_name_set(struct tp_buf *out, uint32_t id)
{
	tp_buf_printf(out, "Memset (%s)", memory_name(id >> 16 & 0xff));
}

/* ---- calls ---------------------------------------------------------------------------------- */

static const char *call_name(unsigned call)
{
	static const char *const names[] = {
		[TP_GPU_CALL_LAUNCH] = "cudaLaunchKernel",
		[TP_GPU_CALL_GRAPH_LAUNCH] = "cudaGraphLaunch",
		[TP_GPU_CALL_COPY] = "cudaMemcpy",
		[TP_GPU_CALL_COPY_ASYNC] = "cudaMemcpyAsync",
		[TP_GPU_CALL_SET] = "cudaMemsetAsync",
		[TP_GPU_CALL_SYNC] = "cudaStreamSynchronize",
		[TP_GPU_CALL_ALLOC] = "cudaMalloc",
		[TP_GPU_CALL_FREE] = "cudaFree",
		[TP_GPU_CALL_WAIT_EVENT] = "cudaStreamWaitEvent",
		[TP_GPU_CALL_RECORD_EVENT] = "cudaEventRecord",
		[TP_GPU_CALL_LOAD] = "cudaModuleLoad",
	};
	return call < TP_ARRAY_LEN(names) && names[call] ? names[call] : "CUDA call";
}

/* The length without "_ptsz" and "_ptds", which mark entry points with per-thread streams. */
static size_t before_stream(const char *name, size_t length)
{
	bool has_stream = length > 5 && (!memcmp(name + length - 5, "_ptsz", 5) ||
					 !memcmp(name + length - 5, "_ptds", 5));
	return has_stream ? length - 5 : length;
}

/* The length without "_v7000". */
static size_t before_version(const char *name, size_t length)
{
	size_t digits = length;
	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	bool has_version = digits < length && digits > 2 && !memcmp(name + digits - 2, "_v", 2);
	return has_version ? digits - 2 : length;
}

void tp_gpu_name_call(struct tp_buf *out, const char *name, size_t length, unsigned call)
{
	if (name)
		tp_buf_add(out, name,
			   before_stream(name, before_version(name, before_stream(name, length))));
	else
		tp_buf_puts(out, call_name(call));
}

const char *tp_gpu_name_wait(uint32_t sync)
{
	switch (sync) {
	case TP_GPU_SYNC_EVENT:
		return "EventSynchronize";
	case TP_GPU_SYNC_STREAM:
		return "StreamSynchronize";
	case TP_GPU_SYNC_CONTEXT:
		return "ContextSynchronize";
	default:
		return NULL;
	}
}

const char *tp_gpu_name_overhead(uint32_t overhead)
{
	switch (overhead) {
	case TP_GPU_OVERHEAD_COMPILER:
		return "Driver Compiler";
	case TP_GPU_OVERHEAD_MODULE_LOAD:
		return "Runtime Triggered Module Loading";
	case TP_GPU_OVERHEAD_LAZY_LOAD:
		return "Lazy Function Loading";
	default:
		return NULL;
	}
}
