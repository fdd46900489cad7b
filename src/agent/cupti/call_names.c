/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies CUDA calls by the prefix of their names. */
#include "call_names.h"

#include "trainprof/wire/gpu_ring.h"

#include <string.h>

/*
 * The first row whose prefix matches the name after "cuda", "cu64" or "cu" and underscores wins.
 * Names are those of cupti_runtime_cbid.h and cupti_driver_cbid.h of CUDA 13.0U1 (read 2026-11-22).
 */
static const struct {
	const char *begin;
	uint8_t class;
} rows[] = {
	{"LaunchHostFunc", TP_GPU_CALL_OTHER}, /* work of the CPU, in stream order */
	{"Launch", TP_GPU_CALL_LAUNCH},
	{"GraphLaunch", TP_GPU_CALL_GRAPH_LAUNCH},
	{"Memcpy", TP_GPU_CALL_COPY},
	{"Memset", TP_GPU_CALL_SET},
	{"DeviceSynchronize", TP_GPU_CALL_SYNC},
	{"ThreadSynchronize", TP_GPU_CALL_SYNC},
	{"CtxSynchronize", TP_GPU_CALL_SYNC},
	{"StreamSynchronize", TP_GPU_CALL_SYNC},
	{"EventSynchronize", TP_GPU_CALL_SYNC},
	{"Malloc", TP_GPU_CALL_ALLOC},
	{"HostAlloc", TP_GPU_CALL_ALLOC},
	{"MemAlloc", TP_GPU_CALL_ALLOC},
	{"MemHostAlloc", TP_GPU_CALL_ALLOC},
	{"MemCreate", TP_GPU_CALL_ALLOC},
	{"MemMap", TP_GPU_CALL_ALLOC},
	{"HostRegister", TP_GPU_CALL_ALLOC},
	{"MemHostRegister", TP_GPU_CALL_ALLOC},
	{"Free", TP_GPU_CALL_FREE},
	{"MemFree", TP_GPU_CALL_FREE},
	{"MemRelease", TP_GPU_CALL_FREE},
	{"MemUnmap", TP_GPU_CALL_FREE},
	{"StreamWaitEvent", TP_GPU_CALL_WAIT_EVENT},
	{"EventRecord", TP_GPU_CALL_RECORD_EVENT},
	{"ModuleLoad", TP_GPU_CALL_LOAD},
	{"LibraryLoad", TP_GPU_CALL_LOAD},
	{"EventQuery", TP_GPU_CALL_QUERY},
	{"StreamQuery", TP_GPU_CALL_QUERY},
};

static const char *after_prefix(const char *name)
{
	static const char *const prefixes[] = {"cuda", "cu64", "cu"};
	while (*name == '_')
		name++;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return name + strlen(prefixes[i]);
	return "";
}

uint8_t tp_call_names_class(const char *name)
{
	const char *rest = after_prefix(name);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strncmp(rest, rows[i].begin, strlen(rows[i].begin)) != 0)
			continue;
		if (rows[i].class == TP_GPU_CALL_COPY && strstr(rest, "Async"))
			return TP_GPU_CALL_COPY_ASYNC;
		return rows[i].class;
	}
	return TP_GPU_CALL_OTHER;
}

bool tp_call_names_is_recorded(uint8_t class)
{
	return class != TP_GPU_CALL_OTHER && class != TP_GPU_CALL_QUERY;
}

void tp_call_names_load(struct tp_call_names *out, const struct tp_cupti_library *lib,
			uint32_t (*name_id)(void *context, const char *name), void *context)
{
	memset(out, 0, sizeof(*out));
	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
		for (uint32_t cbid = 1; cbid < TP_CALL_NAMES_MAX; cbid++) {
			const char *name = NULL;
			if (lib->get_callback_name(domain, cbid, &name) != CUPTI_OK || !name)
				continue; /* the numbers have gaps */
			uint8_t class = tp_call_names_class(name);
			out->does[domain][cbid] = class;
			out->n[domain]++;
			if (tp_call_names_is_recorded(class))
				out->name[domain][cbid] = name_id(context, name);
		}
}
