/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the binary interface of CUPTI 11.8 to 13.x that the agent uses. It is declared here,
 * so that neither building nor running needs NVIDIA's headers. A record is declared up to the last
 * field that is read; newer versions append fields and keep these offsets (cupti_activity.h of CUDA
 * 13.0U1 and its table of deprecated records, kernels 4 to 10, copies 1 to 6, read 2026-11-20;
 * tests/agent compares with those headers where they are installed). Never step through records by
 * sizeof: only cuptiActivityGetNextRecord knows how long a record is.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_ABI_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_LIMIT_REACHED = 12,  /* returned by GetNextRecord: no more records in the buffer */
	CUPTI_NOT_COMPATIBLE = 14, /* conflicts with a tool that shares CUPTI (13.2 and later) */
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_IN_USE = 39, /* MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
};

enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_KERNEL = 3,
	CUPTI_DRIVER = 4,
	CUPTI_RUNTIME = 5,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_OVERHEAD = 17,
	CUPTI_MEMCPY2 = 22, /* a copy between two GPUs */
	CUPTI_SYNCHRONIZATION = 38,
};

enum cupti_domain {
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME = 2,
};

enum cupti_attribute {
	CUPTI_DEVICE_BUFFER_POOL_LIMIT = 2,
	CUPTI_DEVICE_BUFFER_PRE_ALLOCATE = 6,
};

enum {
	CUPTI_THREAD_ID_SYSTEM = 1, /* report tids instead of halves of a pthread_t */
	CUPTI_FLUSH_FORCED = 1,
	CUPTI_COPY_ASYNC = 1, /* a flag of copies and memsets */
	CUPTI_OBJECT_THREAD = 2,
	CUPTI_NAME_BYTES = 64, /* size of another subscriber's name */
};

struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config;
	uint8_t shared_memory_config;
	uint16_t registers; /* per thread */
	uint32_t partitioned[2];
	uint64_t start;
	uint64_t end;
	uint64_t completed;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	int32_t grid[3];
	int32_t block[3];
	int32_t static_shared;
	int32_t dynamic_shared;
	uint32_t local_per_thread;
	uint32_t local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued;
	uint64_t submitted;
	uint8_t launch_type;
	uint8_t carveout[3];
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shmem_limit;
	uint32_t graph;
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t from;
	uint8_t to;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint32_t runtime_correlation;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct cupti_memcpy2 {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t from;
	uint8_t to;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t from_device;
	uint32_t from_context;
	uint32_t to_device;
	uint32_t to_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint16_t flags;
	uint16_t memory;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct cupti_call {
	uint32_t kind;
	uint32_t cbid;
	uint64_t start;
	uint64_t end;
	uint32_t pid;
	uint32_t thread;
	uint32_t correlation;
	uint32_t returned;
};

struct cupti_sync {
	uint32_t kind;
	uint32_t type;
	uint64_t start;
	uint64_t end;
	uint32_t correlation;
	uint32_t context;
	uint32_t stream; /* all ones = no stream */
	uint32_t event;  /* all ones = no event */
};

/* Version 3 appends a pointer to memory that the client should free. The agent does not free it: if
 * a CUPTI wrote that version where an older one was expected, freeing would crash the training
 * program. */
struct cupti_overhead {
	uint32_t kind;
	uint32_t overhead; /* 1, or a number << 16 */
	uint32_t object;
	uint32_t object_pid; /* process id, where the object is a thread */
	uint32_t object_thread;
	uint32_t object_rest;
	uint64_t start;
	uint64_t end;
};

#define CUPTI_AT(type, field, offset)                                                              \
	_Static_assert(offsetof(struct type, field) == (offset), "layout of CUPTI")
CUPTI_AT(cupti_kernel, registers, 6);
CUPTI_AT(cupti_kernel, start, 16);
CUPTI_AT(cupti_kernel, device, 40);
CUPTI_AT(cupti_kernel, grid, 52);
CUPTI_AT(cupti_kernel, correlation, 92);
CUPTI_AT(cupti_kernel, name, 104);
CUPTI_AT(cupti_kernel, graph_node, 144);
CUPTI_AT(cupti_kernel, graph, 156);
CUPTI_AT(cupti_memcpy, bytes, 8);
CUPTI_AT(cupti_memcpy, start, 16);
CUPTI_AT(cupti_memcpy, device, 32);
CUPTI_AT(cupti_memcpy, correlation, 44);
CUPTI_AT(cupti_memcpy, graph_node, 64);
CUPTI_AT(cupti_memcpy2, from_device, 44);
CUPTI_AT(cupti_memcpy2, to_device, 52);
CUPTI_AT(cupti_memcpy2, correlation, 60);
CUPTI_AT(cupti_memcpy2, graph_node, 72);
CUPTI_AT(cupti_memset, bytes, 8);
CUPTI_AT(cupti_memset, correlation, 44);
CUPTI_AT(cupti_memset, memory, 50);
CUPTI_AT(cupti_memset, graph_node, 64);
CUPTI_AT(cupti_call, start, 8);
CUPTI_AT(cupti_call, thread, 28);
CUPTI_AT(cupti_call, returned, 36);
CUPTI_AT(cupti_sync, correlation, 24);
CUPTI_AT(cupti_sync, event, 36);
CUPTI_AT(cupti_overhead, start, 24);
#undef CUPTI_AT

/* Argument of cuptiSubscribe_v2: 32 bytes in 13.0, longer in later versions (structSize says how
 * long). */
struct cupti_subscriber_params {
	size_t size;
	const char *own_name;
	char *other_name;
	size_t other_name_bytes;
};

typedef struct cupti_subscriber *cupti_subscriber; /* opaque to us */
typedef void cupti_callback_fn(void *context, int domain, uint32_t cbid, const void *data);
typedef void cupti_request_fn(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_complete_fn(void *cuda_context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid);

#endif
