/* SPDX-License-Identifier: Apache-2.0 */
/* Writes synthetic records. */
#include "synthesis.h"

#include "capture.h"
#include "strides.h"

#include "agent/cupti/cupti_abi.h"

#include <string.h>

enum { MOST_BYTES = 1 << 16 };

/* Pretended address of the kernels' names: nothing is there. */
#define NAMES_AT UINT64_C(0x7f0000001000)

static const char *const names[] = {"_Z4gemmPf", "_ZN2at6native18elementwise_kernelILi128ELi4EEEv",
				    "triton_poi_fused_add_relu_0"};

static const struct {
	uint32_t domain;
	uint32_t cbid;
	const char *name;
} calls[] = {
	{CUPTI_DOMAIN_RUNTIME, 211, "cudaLaunchKernel_v7000"},
	{CUPTI_DOMAIN_RUNTIME, 41, "cudaMemcpyAsync_v3020"},
	{CUPTI_DOMAIN_RUNTIME, 131, "cudaStreamSynchronize_v3020"},
	{CUPTI_DOMAIN_RUNTIME, 138, "cudaEventQuery_v3020"},
	{CUPTI_DOMAIN_DRIVER, 652, "cuLaunchKernelEx"},
};

/* A buffer that is being filled. */
struct filling {
	uint32_t version;
	size_t used;
	uint8_t bytes[MOST_BYTES];
};

static void write_part(FILE *out, enum capture_kind kind, const void *bytes, size_t n)
{
	static const char zeros[8];
	const struct capture_part part = {.kind = kind, .bytes = (uint32_t)n};
	fwrite(&part, sizeof(part), 1, out);
	fwrite(bytes, 1, n, out);
	fwrite(zeros, 1, capture_padded(n) - n, out);
}

/* Fills the bytes after the known fields with a non-zero value. */
static void add(struct filling *filling, const void *record, size_t size)
{
	uint32_t kind;
	memcpy(&kind, record, sizeof(kind));
	size_t bytes = stride_of(filling->version, kind);
	memset(filling->bytes + filling->used, 0xa5, bytes);
	memcpy(filling->bytes + filling->used, record, size < bytes ? size : bytes);
	filling->used += bytes;
}

static uint64_t pointer_to(size_t name)
{
	return NAMES_AT + 64 * name;
}

static void add_kernels(struct filling *filling)
{
	struct cupti_kernel kernel = {
		.kind = CUPTI_CONCURRENT_KERNEL,
		.registers = 96,
		.device = 1,
		.context = 2,
		.stream = 7,
		.grid = {64, 4, 2},
		.block = {32, 8, 1},
	};
	for (uint32_t i = 0; i < 6; i++) {
		uint64_t name = pointer_to(i % 3);
		kernel.start = 1000 + 500 * i;
		kernel.end = kernel.start + 100 + i;
		kernel.correlation = 40 + i;
		kernel.graph_node = i == 4 ? UINT64_C(0x500000007) : 0;
		kernel.graph = i == 4 ? 5 : 0;
		memcpy(&kernel.name, &name, sizeof(name));
		add(filling, &kernel, sizeof(kernel));
	}
	kernel.name = NULL;
	kernel.end = kernel.start + (UINT64_C(5) << 32); /* longer than 32 bits of ns */
	add(filling, &kernel, sizeof(kernel));
	kernel.start = kernel.end = 0;
	add(filling, &kernel, sizeof(kernel));
	kernel.start = 9;
	kernel.end = 8;
	kernel.kind = CUPTI_KERNEL;
	add(filling, &kernel, sizeof(kernel));
}

static void add_memory(struct filling *filling)
{
	const struct cupti_memcpy copy = {
		.kind = CUPTI_MEMCPY,
		.copy_kind = 1,
		.from = 1,
		.to = 3,
		.flags = 1,
		.bytes = UINT64_C(5) << 32,
		.start = 5000,
		.end = 5100,
		.stream = 8,
		.correlation = 60,
	};
	const struct cupti_memcpy2 peer = {
		.kind = CUPTI_MEMCPY2,
		.copy_kind = 10,
		.from = 3,
		.to = 3,
		.bytes = 4096,
		.start = 5200,
		.end = 5300,
		.stream = 8,
		.from_device = 4,
		.to_device = 6,
		.correlation = 61,
		.graph_node = 3,
		.graph = 2,
	};
	const struct cupti_memset set = {
		.kind = CUPTI_MEMSET,
		.value = 255,
		.bytes = 99,
		.start = 5400,
		.end = 5401,
		.stream = 8,
		.correlation = 62,
		.flags = 1,
		.memory = 3,
	};
	add(filling, &copy, sizeof(copy));
	add(filling, &peer, sizeof(peer));
	add(filling, &set, sizeof(set));
}

static void add_host(struct filling *filling)
{
	struct cupti_call call = {.kind = CUPTI_RUNTIME, .pid = 100, .thread = 4711};
	for (uint32_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		call.kind = calls[i].domain == CUPTI_DOMAIN_DRIVER ? CUPTI_DRIVER : CUPTI_RUNTIME;
		call.cbid = calls[i].cbid;
		call.start = 6000 + 100 * i;
		call.end = call.start + 50;
		call.correlation = 80 + i;
		call.returned = i == 1 ? 2 : 0;
		add(filling, &call, sizeof(call));
	}
	struct cupti_sync sync = {
		.kind = CUPTI_SYNCHRONIZATION,
		.type = 3,
		.start = 7000,
		.end = 7900,
		.correlation = 82,
		.context = 2,
		.stream = 7,
		.event = UINT32_MAX,
	};
	add(filling, &sync, sizeof(sync));
	sync.type = 2;
	sync.event = 12;
	add(filling, &sync, sizeof(sync));
	struct cupti_overhead overhead = {
		.kind = CUPTI_OVERHEAD,
		.overhead = 5u << 16,
		.object = CUPTI_OBJECT_THREAD,
		.object_pid = 100,
		.object_thread = 4711,
		.start = 8000,
		.end = 8040,
	};
	add(filling, &overhead, sizeof(overhead));
	overhead.overhead = 1;
	overhead.object = 1;
	add(filling, &overhead, sizeof(overhead));
}

static void write_names(FILE *out)
{
	char bytes[128];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t at = pointer_to(i);
		memcpy(bytes, &at, sizeof(at));
		memcpy(bytes + sizeof(at), names[i], strlen(names[i]));
		write_part(out, CAPTURE_NAME, bytes, sizeof(at) + strlen(names[i]));
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const uint32_t numbers[2] = {calls[i].domain, calls[i].cbid};
		memcpy(bytes, numbers, sizeof(numbers));
		memcpy(bytes + sizeof(numbers), calls[i].name, strlen(calls[i].name));
		write_part(out, CAPTURE_CALL, bytes, sizeof(numbers) + strlen(calls[i].name));
	}
}

void synthesise_capture(FILE *out, uint32_t version)
{
	static struct filling filling;
	const uint64_t magic = CAPTURE_MAGIC;
	void (*const adders[])(struct filling *) = {add_kernels, add_memory, add_host};
	fwrite(&magic, sizeof(magic), 1, out);
	write_part(out, CAPTURE_VERSION, &version, sizeof(version));
	write_names(out);
	/* Each kind in a separate buffer, then all in one. */
	for (size_t first = 0; first < 4; first++) {
		filling = (struct filling){.version = version};
		for (size_t i = 0; i < 3; i++)
			if (first == 3 || first == i)
				adders[i](&filling);
		write_part(out, CAPTURE_BUFFER, filling.bytes, filling.used);
	}
}
