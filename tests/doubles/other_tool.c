/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that is linked with CUPTI, like torch.profiler: it collects kernels on demand, with or
 * without a subscription first, and counts them. Compiled with OTHER_TOOL_BY_NAME it is not linked,
 * and looks up each call by its name in the loader, as JAX and TensorFlow do. */
#include "agent/cupti/cupti_abi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifndef OTHER_TOOL_BY_NAME
#define CALL(symbol, parameters, arguments)                                                        \
	int symbol parameters;                                                                     \
	static int tool_##symbol parameters                                                        \
	{                                                                                          \
		return symbol arguments;                                                           \
	}
#else
#define CALL(symbol, parameters, arguments)                                                        \
	static int tool_##symbol parameters                                                        \
	{                                                                                          \
		void *found = dlsym(dlopen("libcupti.so.13", RTLD_LAZY), #symbol);                 \
		int(*call) parameters = NULL;                                                      \
		memcpy(&call, &found, sizeof(call));                                               \
		return call arguments;                                                             \
	}
#endif
CALL(cuptiSubscribe, (cupti_subscriber * out, cupti_callback_fn *callback, void *context),
     (out, callback, context))
CALL(cuptiUnsubscribe, (cupti_subscriber subscriber), (subscriber))
CALL(cuptiActivityRegisterCallbacks, (cupti_request_fn * request, cupti_complete_fn *complete),
     (request, complete))
CALL(cuptiActivityEnable, (int kind), (kind))
CALL(cuptiActivityDisable, (int kind), (kind))
CALL(cuptiActivityFlushAll, (uint32_t flag), (flag))
CALL(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, struct cupti_record **record),
     (buffer, valid, record))

int other_tool_begin(int subscribes);
uint64_t other_tool_end(void);

enum { BUFFER_BYTES = 1 << 20 };

static struct {
	cupti_subscriber subscriber;
	uint64_t n_kernels;
} tool;

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti_record *record = NULL;
	(void)context;
	(void)stream;
	(void)size;
	while (tool_cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK)
		if (record->kind == CUPTI_CONCURRENT_KERNEL)
			__atomic_fetch_add(&tool.n_kernels, 1, __ATOMIC_RELAXED);
	free(buffer);
}

static void on_call(void *context, int domain, uint32_t cbid, const void *data)
{
	(void)context;
	(void)domain;
	(void)cbid;
	(void)data;
}

/* Returns 0, or CUPTI's error. */
int other_tool_begin(int subscribes)
{
	int result = subscribes ? tool_cuptiSubscribe(&tool.subscriber, on_call, NULL) : CUPTI_OK;
	if (result == CUPTI_OK)
		result = tool_cuptiActivityRegisterCallbacks(on_request, on_complete);
	if (result == CUPTI_OK)
		result = tool_cuptiActivityEnable(CUPTI_CONCURRENT_KERNEL);
	return result;
}

/* Returns the number of kernels received. */
uint64_t other_tool_end(void)
{
	tool_cuptiActivityDisable(CUPTI_CONCURRENT_KERNEL);
	tool_cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	if (tool.subscriber)
		tool_cuptiUnsubscribe(tool.subscriber);
	tool.subscriber = NULL;
	return __atomic_load_n(&tool.n_kernels, __ATOMIC_RELAXED);
}
