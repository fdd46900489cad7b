/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up CUPTI functions by name in the loader, as a tool does: cupti_calls LIBCUPTI CALL...
 * makes the calls in this order and prints a line CALL=RESULT for each: the value that CUPTI
 * returned, or "none" if that CUPTI has no such function. a and b are two subscribers:
 *
 *   version timestamp register enable disable flush finalize
 *   subscribe:a             the call without parameters
 *   exclusive:a             cuptiSubscribe_v2 with the 32 bytes of parameters of 13.0
 *   wide:a                  with the 40 bytes of 13.2, not shared
 *   shared:a                with the 40 bytes of 13.2, shared with others
 *   register2:a enable2:a   the calls for one subscriber, of 13.2
 *   unsubscribe:a
 *
 * It starts CUDA first. $CUPTI_CALLS_WHEN is a file that it waits for between the two, 10 s at
 * most. Its exit status is 7.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 7, KERNELS = 10, NO_CALL = -1, BUFFER_BYTES = 1 << 16 };

struct parameters {
	size_t bytes;
	const char *own_name;
	char *other_name;
	size_t other_name_bytes;
	uint64_t shares;
};

static void *cupti;

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

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context;
	(void)stream;
	(void)size;
	(void)valid;
	free(buffer);
}

/* At most four arguments: they fit into registers on every machine that CUDA supports. */
static int call(const char *symbol, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	int (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t) = NULL;
	void *found = dlsym(cupti, symbol);
	memcpy(&function, &found, sizeof(function));
	return function ? function(a, b, c, d) : NO_CALL;
}

static int subscribe_v2(void **subscriber, size_t bytes, bool shares)
{
	char other[64] = "";
	struct parameters parameters = {bytes, "cupti_calls", other, sizeof(other), shares};
	return call("cuptiSubscribe_v2", (uintptr_t)subscriber, (uintptr_t)on_call, 0,
		    (uintptr_t)&parameters);
}

static int do_call(const char *name, void **who)
{
	uint64_t out = 0;
	uintptr_t to = (uintptr_t)&out;
	uintptr_t request = (uintptr_t)on_request;
	uintptr_t complete = (uintptr_t)on_complete;
#define IS(text) (strcmp(name, text) == 0)
	if (IS("version"))
		return call("cuptiGetVersion", to, 0, 0, 0);
	if (IS("timestamp"))
		return call("cuptiGetTimestamp", to, 0, 0, 0);
	if (IS("register"))
		return call("cuptiActivityRegisterCallbacks", request, complete, 0, 0);
	if (IS("register2"))
		return call("cuptiActivityRegisterCallbacks_v2", (uintptr_t)*who, request, complete,
			    0);
	if (IS("enable"))
		return call("cuptiActivityEnable", KERNELS, 0, 0, 0);
	if (IS("enable2"))
		return call("cuptiActivityEnable_v2", (uintptr_t)*who, KERNELS, 0, 0);
	if (IS("disable"))
		return call("cuptiActivityDisable", KERNELS, 0, 0, 0);
	if (IS("flush"))
		return call("cuptiActivityFlushAll", 1, 0, 0, 0);
	if (IS("finalize"))
		return call("cuptiFinalize", 0, 0, 0, 0);
	if (IS("subscribe"))
		return call("cuptiSubscribe", (uintptr_t)who, (uintptr_t)on_call, 0, 0);
	if (IS("exclusive"))
		return subscribe_v2(who, 32, false);
	if (IS("wide"))
		return subscribe_v2(who, 40, false);
	if (IS("shared"))
		return subscribe_v2(who, 40, true);
	if (IS("unsubscribe"))
		return call("cuptiUnsubscribe", (uintptr_t)*who, 0, 0, 0);
	return NO_CALL;
}

static void start_cuda(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	void *symbol = driver ? dlsym(driver, "cuInit") : NULL;
	int (*init)(unsigned) = NULL;
	memcpy(&init, &symbol, sizeof(init));
	if (init)
		init(0);
}

int main(int n, char **arguments)
{
	static void *subscribers[2];
	const char *when = getenv("CUPTI_CALLS_WHEN");
	const struct timespec nap = {.tv_nsec = 1000000};
	if (n < 2)
		return 2;
	start_cuda();
	for (int i = 0; when && i < 10000 && access(when, F_OK) != 0; i++)
		nanosleep(&nap, NULL);
	cupti = dlopen(arguments[1], RTLD_LAZY);
	if (!cupti) {
		puts(dlerror());
		return 1;
	}
	for (int i = 2; i < n; i++) {
		char name[32] = "";
		snprintf(name, sizeof(name), "%s", arguments[i]);
		char *colon = strchr(name, ':');
		int which = colon && colon[1] == 'b';
		if (colon)
			*colon = '\0';
		int result = do_call(name, &subscribers[which]);
		if (result == NO_CALL)
			printf("%s=none\n", arguments[i]);
		else
			printf("%s=%d\n", arguments[i], result);
		fflush(stdout);
	}
	return STATUS;
}
