/* SPDX-License-Identifier: Apache-2.0 */
/* The part of NVTX's interface that is used: layouts and numbers of version 3 as in the headers of
 * CUDA 13.0 (nvtx3/nvToolsExt.h, nvtxDetail/nvtxTypes.h, nvToolsExtPayload.h; read 2026-11-22).
 * tests/agent/nvtx_layouts.c compares them with those headers where they are installed. They cannot
 * change, because they are compiled into programs. */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_ABI_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef void (*nvtx_function)(void);

enum { NVTX_TABLE_CALLBACKS = 1 };

enum nvtx_module {
	NVTX_MODULE_CORE = 1,
	NVTX_MODULE_CORE2 = 5,
};

/* Indices in the tables of functions. */
enum {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A = 2,
	NVTX_MARK_W = 3,
	NVTX_START_EX = 4,
	NVTX_START_A = 5,
	NVTX_START_W = 6,
	NVTX_END = 7,
	NVTX_PUSH_EX = 8,
	NVTX_PUSH_A = 9,
	NVTX_PUSH_W = 10,
	NVTX_POP = 11,
};

enum {
	NVTX_DOMAIN_MARK_EX = 1,
	NVTX_DOMAIN_START_EX = 2,
	NVTX_DOMAIN_END = 3,
	NVTX_DOMAIN_PUSH_EX = 4,
	NVTX_DOMAIN_POP = 5,
	NVTX_DOMAIN_REGISTER_A = 10,
	NVTX_DOMAIN_REGISTER_W = 11,
	NVTX_DOMAIN_CREATE_A = 12,
	NVTX_DOMAIN_CREATE_W = 13,
};

struct nvtx_callbacks {
	size_t struct_size;
	/* Returns a table of `size` pointers to the variables that hold function addresses. 0:
	 * there is none. */
	int (*get_functions)(enum nvtx_module module, nvtx_function ***table, unsigned *size);
};

typedef const void *(*nvtx_get_table)(uint32_t table);

enum {
	NVTX_MESSAGE_ASCII = 1,
	NVTX_MESSAGE_WIDE = 2,
	NVTX_MESSAGE_REGISTERED = 3,
};

#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xDFBD0009)

struct nvtx_payload {
	uint64_t schema;
	size_t size;
	const void *data;
};

struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t n_payloads; /* if the payload is an extended one */
	union {
		uint64_t value;
		const struct nvtx_payload *list;
	} payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		void *registered;
	} message;
};

/* Returned by push and pop: this tool does not count levels. */
enum { NVTX_NO_LEVELS = -2 };

/* The payload extension: functions that take payloads without a message. */
enum { NVTX_EXTENSION_PAYLOAD = 2 };

enum {
	NVTX_SLOT_PUSH_PAYLOAD = 3,
	NVTX_SLOT_POP_PAYLOAD = 4,
	NVTX_SLOT_START_PAYLOAD = 5,
	NVTX_SLOT_END_PAYLOAD = 6,
};

struct nvtx_segment {
	size_t id;
	size_t n_slots;
	intptr_t *slots;
};

struct nvtx_extension {
	uint16_t version;
	uint16_t struct_size;
	uint16_t module;
	uint16_t compatibility;
	size_t n_segments;
	struct nvtx_segment *segments;
	void *get_export;
	const void *about;
};

#endif
