/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX as it is compiled into a program: the tables, and the call of a tool at the first range
 * (as NVIDIA/NVTX documents it in nvtxInit.h, load sequence 2; read 2026-11-22). Each file that
 * includes this is a module of its own, as with the real headers. Thread-safe, like the
 * original. */
#ifndef TRAINPROF_TESTS_DOUBLES_NVTX_CLIENT_H
#define TRAINPROF_TESTS_DOUBLES_NVTX_CLIENT_H

#include "../../src/agent/nvtx/nvtx_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NVTX_UNUSED __attribute__((unused))

enum { NVTX_CLIENT_PLACES = 16, NVTX_CLIENT_SLOTS = 63 };

static nvtx_function nvtx_core[NVTX_CLIENT_PLACES];
static nvtx_function nvtx_core2[NVTX_CLIENT_PLACES];
static nvtx_function *nvtx_core_table[NVTX_CLIENT_PLACES];
static nvtx_function *nvtx_core2_table[NVTX_CLIENT_PLACES];
static intptr_t nvtx_slots[NVTX_CLIENT_SLOTS];
static pthread_once_t nvtx_once = PTHREAD_ONCE_INIT;

static int nvtx_functions(enum nvtx_module module, nvtx_function ***table, unsigned *size)
{
	for (int i = 1; i < NVTX_CLIENT_PLACES; i++) {
		nvtx_core_table[i] = &nvtx_core[i];
		nvtx_core2_table[i] = &nvtx_core2[i];
	}
	*size = NVTX_CLIENT_PLACES;
	*table = module == NVTX_MODULE_CORE ? nvtx_core_table : nvtx_core2_table;
	return module == NVTX_MODULE_CORE || module == NVTX_MODULE_CORE2;
}

NVTX_UNUSED static const void *nvtx_client_table(uint32_t table)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), nvtx_functions};
	return table == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

NVTX_UNUSED static struct nvtx_extension *nvtx_client_extension(void)
{
	static struct nvtx_segment segment = {.n_slots = NVTX_CLIENT_SLOTS, .slots = nvtx_slots};
	static struct nvtx_extension extension = {.version = 3,
						  .struct_size = sizeof(extension),
						  .module = NVTX_EXTENSION_PAYLOAD,
						  .compatibility = 0x104,
						  .n_segments = 1,
						  .segments = &segment};
	return &extension;
}

static void nvtx_load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	void *door = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
	void *extension_door = library ? dlsym(library, "InitializeInjectionNvtxExtension") : NULL;
	int (*call)(nvtx_get_table) = NULL;
	int (*call_extension)(struct nvtx_extension *) = NULL;
	memcpy(&call, &door, sizeof(call));
	memcpy(&call_extension, &extension_door, sizeof(call_extension));
	if (call && !call(nvtx_client_table))
		dlclose(library);
	else if (call_extension)
		call_extension(nvtx_client_extension());
}

#define NVTX_CALL(table, place, type, ...)                                                         \
	do {                                                                                       \
		pthread_once(&nvtx_once, nvtx_load);                                               \
		if (table[place])                                                                  \
			((type)table[place])(__VA_ARGS__);                                         \
	} while (0)

NVTX_UNUSED static void nvtx_push(const char *text)
{
	NVTX_CALL(nvtx_core, NVTX_PUSH_A, int (*)(const char *), text);
}

NVTX_UNUSED static void nvtx_push_wide(const wchar_t *text)
{
	NVTX_CALL(nvtx_core, NVTX_PUSH_W, int (*)(const wchar_t *), text);
}

NVTX_UNUSED static void nvtx_pop(void)
{
	pthread_once(&nvtx_once, nvtx_load);
	if (nvtx_core[NVTX_POP])
		((int (*)(void))nvtx_core[NVTX_POP])();
}

NVTX_UNUSED static void nvtx_mark(const char *text)
{
	NVTX_CALL(nvtx_core, NVTX_MARK_A, void (*)(const char *), text);
}

NVTX_UNUSED static uint64_t nvtx_start(const char *text)
{
	pthread_once(&nvtx_once, nvtx_load);
	nvtx_function function = nvtx_core[NVTX_START_A];
	return function ? ((uint64_t(*)(const char *))function)(text) : 0;
}

NVTX_UNUSED static void nvtx_end(uint64_t range)
{
	NVTX_CALL(nvtx_core, NVTX_END, void (*)(uint64_t), range);
}

NVTX_UNUSED static void *nvtx_domain(const char *name)
{
	pthread_once(&nvtx_once, nvtx_load);
	nvtx_function function = nvtx_core2[NVTX_DOMAIN_CREATE_A];
	return function ? ((void *(*)(const char *))function)(name) : NULL;
}

NVTX_UNUSED static void *nvtx_register(void *domain, const char *text)
{
	pthread_once(&nvtx_once, nvtx_load);
	nvtx_function function = nvtx_core2[NVTX_DOMAIN_REGISTER_A];
	return function ? ((void *(*)(void *, const char *))function)(domain, text) : NULL;
}

NVTX_UNUSED static void nvtx_domain_push(void *domain, const struct nvtx_attributes *attributes)
{
	NVTX_CALL(nvtx_core2, NVTX_DOMAIN_PUSH_EX, int (*)(void *, const struct nvtx_attributes *),
		  domain, attributes);
}

NVTX_UNUSED static void nvtx_domain_pop(void *domain)
{
	NVTX_CALL(nvtx_core2, NVTX_DOMAIN_POP, int (*)(void *), domain);
}

/* As NCCL does: a registered text, and a payload of that schema. */
NVTX_UNUSED static void nvtx_push_payload(void *domain, void *text, uint64_t schema,
					  const void *data, size_t size)
{
	const struct nvtx_payload payload = {schema, size, data};
	nvtx_domain_push(domain, &(struct nvtx_attributes){.version = 3,
							   .size = sizeof(struct nvtx_attributes),
							   .payload_type = NVTX_PAYLOAD_EXTENDED,
							   .n_payloads = 1,
							   .payload.list = &payload,
							   .message_type = NVTX_MESSAGE_REGISTERED,
							   .message.registered = text});
}

NVTX_UNUSED static void nvtx_pop_payload(void *domain, uint64_t schema, const void *data,
					 size_t size)
{
	const struct nvtx_payload payload = {schema, size, data};
	pthread_once(&nvtx_once, nvtx_load);
	intptr_t slot = nvtx_slots[NVTX_SLOT_POP_PAYLOAD];
	if (slot)
		((int (*)(void *, const struct nvtx_payload *, size_t))slot)(domain, &payload, 1);
}

#endif
