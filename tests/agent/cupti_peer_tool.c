/* SPDX-License-Identifier: Apache-2.0 */
/* A profiler of the user's: it takes CUPTI in one of four ways, collects NVTX marks and kernels,
 * and counts the marks. Compiled with PEER_LINKED it is linked with libcupti, as PyTorch is;
 * otherwise it looks up each call in $CUPTI_PEER_LIBRARY when it makes it, as JAX does. CUPTI makes
 * a record of each NVTX mark also where there is no GPU. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MARKS = 12, KERNELS = 10, FORCED = 1, BUFFER_BYTES = 1 << 16, NO_CALL = -1 };

typedef int call_fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

int peer_begin(const char *how);
int peer_end(void);
unsigned peer_count(void);

struct parameters {
	size_t bytes;
	const char *own_name;
	char *other_name;
	size_t other_name_bytes;
	uint64_t shares;
};

static struct {
	void *subscriber;
	bool shares;
	unsigned n_marks;
} tool;

/* At most four arguments: they fit into registers on every machine that CUDA supports. */
static int call(const char *symbol, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const char *path = getenv("CUPTI_PEER_LIBRARY");
	void *found = dlsym(dlopen(path ? path : "", RTLD_LAZY), symbol);
	call_fn *function = NULL;
	memcpy(&function, &found, sizeof(function));
	return function ? function(a, b, c, d) : NO_CALL;
}

/* The calls that every version has. */
#ifdef PEER_LINKED
#define CALL(symbol)                                                                               \
	int symbol(uintptr_t, uintptr_t, uintptr_t, uintptr_t);                                    \
	static int tool_##symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)               \
	{                                                                                          \
		return symbol(a, b, c, d);                                                         \
	}
#else
#define CALL(symbol)                                                                               \
	static int tool_##symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)               \
	{                                                                                          \
		return call(#symbol, a, b, c, d);                                                  \
	}
#endif
CALL(cuptiSubscribe)
CALL(cuptiUnsubscribe)
CALL(cuptiActivityRegisterCallbacks)
CALL(cuptiActivityEnable)
CALL(cuptiActivityDisable)
CALL(cuptiActivityFlushAll)
CALL(cuptiActivityGetNextRecord)

static void on_call(void *context, int domain, uint32_t cbid, const void *data)
{
	(void)context;
	(void)domain;
	(void)cbid;
	(void)data;
}

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static int next_record(uint8_t *buffer, size_t valid, const uint32_t **record)
{
	return tool.shares ? call("cuptiActivityGetNextRecord_v2", (uintptr_t)tool.subscriber,
				  (uintptr_t)buffer, valid, (uintptr_t)record)
			   : tool_cuptiActivityGetNextRecord((uintptr_t)buffer, valid,
							     (uintptr_t)record, 0);
}

static void count_marks(uint8_t *buffer, size_t valid)
{
	const uint32_t *record = NULL;
	while (next_record(buffer, valid, &record) == 0)
		if (*record == MARKS)
			__atomic_fetch_add(&tool.n_marks, 1, __ATOMIC_RELAXED);
	free(buffer);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context;
	(void)stream;
	(void)size;
	count_marks(buffer, valid);
}

/* The callbacks of a tool that shares CUPTI have other parameters. */
static void on_shared_request(uint8_t **buffer, size_t *size, size_t *max_records, void *about)
{
	(void)about;
	on_request(buffer, size, max_records);
}

static void on_shared_complete(uint8_t *buffer, size_t size, size_t valid, void *about)
{
	(void)size;
	(void)about;
	count_marks(buffer, valid);
}

static int subscribe_v2(size_t bytes, bool shares)
{
	char other[64] = "";
	struct parameters parameters = {bytes, "cupti_peer", other, sizeof(other), shares};
	return call("cuptiSubscribe_v2", (uintptr_t)&tool.subscriber, (uintptr_t)on_call, 0,
		    (uintptr_t)&parameters);
}

static int enter(const char *how)
{
	tool.shares = strcmp(how, "shared") == 0;
	if (strcmp(how, "take") == 0)
		return 0;
	if (strcmp(how, "exclusive") == 0)
		return subscribe_v2(32, false);
	if (tool.shares)
		return subscribe_v2(sizeof(struct parameters), true);
	return tool_cuptiSubscribe((uintptr_t)&tool.subscriber, (uintptr_t)on_call, 0, 0);
}

static int enable(int kind)
{
	return tool.shares ? call("cuptiActivityEnable_v2", (uintptr_t)tool.subscriber,
				  (uintptr_t)kind, 0, 0)
			   : tool_cuptiActivityEnable((uintptr_t)kind, 0, 0, 0);
}

/* `how` is subscribe, exclusive (the call of 13.0), shared (of 13.2) or take (callbacks without a
 * subscription, as Kineto does under its daemon). Returns 0, or CUPTI's first error. */
int peer_begin(const char *how)
{
	int result = enter(how);
	if (result != 0)
		return result;
	result = tool.shares ? call("cuptiActivityRegisterCallbacks_v2", (uintptr_t)tool.subscriber,
				    (uintptr_t)on_shared_request, (uintptr_t)on_shared_complete, 0)
			     : tool_cuptiActivityRegisterCallbacks((uintptr_t)on_request,
								   (uintptr_t)on_complete, 0, 0);
	if (result == 0)
		result = enable(MARKS);
	return result != 0 ? result : enable(KERNELS);
}

/* Returns 0, or CUPTI's first error. */
int peer_end(void)
{
	const int kinds[] = {MARKS, KERNELS};
	int result = tool_cuptiActivityFlushAll(FORCED, 0, 0, 0);
	for (int i = 0; i < 2 && result == 0; i++)
		result = tool.shares ? call("cuptiActivityDisable_v2", (uintptr_t)tool.subscriber,
					    (uintptr_t)kinds[i], 0, 0)
				     : tool_cuptiActivityDisable((uintptr_t)kinds[i], 0, 0, 0);
	if (result == 0 && tool.subscriber)
		result = tool_cuptiUnsubscribe((uintptr_t)tool.subscriber, 0, 0, 0);
	tool.subscriber = NULL;
	return result;
}

unsigned peer_count(void)
{
	return __atomic_exchange_n(&tool.n_marks, 0, __ATOMIC_RELAXED);
}
