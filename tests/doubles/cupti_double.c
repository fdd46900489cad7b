/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A double of libcupti: writes the records for the work in the double of libcuda, as the file
 * $CUPTI_SCRIPT describes. Lines are "KEY VALUE":
 *
 *   version N           result of cuptiGetVersion
 *   KIND_bytes N        length of a record: kernel, memcpy, memcpy2, memset, call, sync, overhead
 *   owner TEXT          another tool has subscribed: its name, one word
 *   owner_stays SECONDS after that the tool is gone; without this key it stays
 *   zero N              each Nth kernel has no times
 *   dropped N           records that CUPTI lost itself, reported once
 *   delay SECONDS       younger records are delivered by a forced flush only
 *   steal_after N       after the Nth record another tool has the callbacks
 *   overheads N         an overhead record after each Nth launch
 *   at_once 1           delivers buffers in several threads at once, which nothing forbids
 *   flushes_at_exit 1   its exit handler delivers what is left, in forked children too
 *   shared 1            one buffer for all threads, as before 13.0
 *   handlers N          N exit handlers, registered during the first subscription, as real
 *                       versions do: a call after one of them ran aborts
 *   hold FILE           during the first subscription FILE.held is created, and it waits for as
 *                       long as FILE exists
 *   hold_load FILE      the same in its constructor, after it has registered such a handler
 *   fail_SYMBOL RESULT  result of a call; sleep_SYMBOL SECONDS: its duration; crash_SYMBOL 1: it
 *                       ends the process
 *
 * It is stricter than the real one: what is known to crash or to hang some version of CUPTI aborts
 * here. CUPTI_DOUBLE_AGE: 2 all symbols (13.0), 1 those of 11.8, 0 one needed symbol is missing.
 */
#include "agent/cupti/cupti_abi.h"
#include "cuda_double.h"
#include "cupti_names.h"
#include "cupti_script.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef CUPTI_DOUBLE_AGE
#define CUPTI_DOUBLE_AGE 2
#endif

enum {
	MOST_SLOTS = 128,
	LONGEST = 256,
	LAST_KIND = 64,
	NULL_BUFFER_SINCE = 27, /* 12.9: older versions crash if a request returns no buffer */
};

static struct {
	size_t bytes[LAST_KIND]; /* of a record, by kind */
	double delay_s;
	uint64_t zero;
	uint64_t overheads;
	uint64_t steal_after;
	bool is_shared;
	bool is_at_once;
	uint32_t version;
	time_t begun_s;
} settings;

/* A buffer that is being filled; in CUPTI 13.0 each launching thread has its own. */
struct slot {
	pthread_mutex_t lock;
	uint8_t *buffer;
	size_t size;
	size_t used;
	double since_s;
};

static struct slot slots[MOST_SLOTS];
static uint32_t n_slots = 1; /* the first one is shared */
static _Thread_local struct slot *own;
static pthread_mutex_t delivery; /* held while buffers are delivered, like CUPTI's own lock */

static cupti_request_fn *request;
static cupti_complete_fn *complete;
static cupti_callback_fn *on_call;
static void *on_call_context;
static uint64_t enabled;  /* one bit per kind */
static int has_collected; /* a tool that does not share has enabled a kind */
static bool calls_on[3][1024];
static bool watched[3][1024];
static uint64_t n_records;
static uint64_t n_kernels;
static uint32_t n_links;
static uint64_t n_requests;
static uint64_t n_lost;

/* The kind of subscription: tests/agent/cupti_calls.txt lists what each version returns for
 * each. */
enum owner { NOBODY, OLD_CALL, EXCLUSIVE, SHARING };

enum {
	MOST_SUBSCRIBERS = 4,
	SHARES_SINCE = 130200,      /* and knows the parameters of 40 bytes */
	LETS_OLD_IN_SINCE = 130300, /* after EXCLUSIVE; no enable while SHARING */
};

static enum owner owners[MOST_SUBSCRIBERS];
static pthread_mutex_t owning = PTHREAD_MUTEX_INITIALIZER;

static void set_bytes(int kind, const char *key, size_t otherwise)
{
	settings.bytes[kind] = (size_t)number(key, (double)otherwise);
}

static time_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_mutexattr_t recursive;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&delivery, &recursive);
	for (size_t i = 0; i < MOST_SLOTS; i++)
		pthread_mutex_init(&slots[i].lock, NULL);
	read_lines();
	set_bytes(CUPTI_CONCURRENT_KERNEL, "kernel_bytes", 216);
	set_bytes(CUPTI_MEMCPY, "memcpy_bytes", 96);
	set_bytes(CUPTI_MEMCPY2, "memcpy2_bytes", 96);
	set_bytes(CUPTI_MEMSET, "memset_bytes", 88);
	set_bytes(CUPTI_DRIVER, "call_bytes", 40);
	set_bytes(CUPTI_RUNTIME, "call_bytes", 40);
	set_bytes(CUPTI_SYNCHRONIZATION, "sync_bytes", 56);
	set_bytes(CUPTI_OVERHEAD, "overhead_bytes", 56);
	settings.delay_s = number("delay", 0);
	settings.zero = (uint64_t)number("zero", 0);
	settings.overheads = (uint64_t)number("overheads", 0);
	settings.steal_after = (uint64_t)number("steal_after", 0);
	settings.is_shared = number("shared", 0) != 0;
	settings.is_at_once = number("at_once", 0) != 0;
	settings.version = (uint32_t)number("version", CUPTI_DOUBLE_AGE > 1 ? 130001 : 18);
	settings.begun_s = now_s();
	n_lost = (uint64_t)number("dropped", 0);
}

static uint64_t time_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- buffers -------------------------------------------------------------------------------- */

static struct slot *own_slot(void)
{
	if (settings.is_shared)
		return &slots[0];
	if (!own) {
		uint32_t i = __atomic_fetch_add(&n_slots, 1, __ATOMIC_RELAXED);
		claim(i < MOST_SLOTS, "too many threads");
		own = &slots[i];
	}
	return own;
}

static void deliver(uint8_t *buffer, size_t size, size_t used)
{
	if (!settings.is_at_once)
		pthread_mutex_lock(&delivery);
	complete(NULL, 0, buffer, size, used);
	if (!settings.is_at_once)
		pthread_mutex_unlock(&delivery);
}

/* The caller holds the slot's lock. A full buffer is returned in `full`, for delivery without the
 * lock. */
static bool make_room(struct slot *slot, size_t bytes, struct slot *full)
{
	size_t most = 0;
	full->buffer = NULL;
	if (slot->buffer && slot->used + bytes <= slot->size)
		return true;
	if (slot->buffer) {
		full->buffer = slot->buffer;
		full->size = slot->size;
		full->used = slot->used;
	}
	slot->buffer = NULL;
	slot->used = slot->size = 0;
	request(&slot->buffer, &slot->size, &most);
	__atomic_fetch_add(&n_requests, 1, __ATOMIC_RELAXED);
	claim(most == 0, "a number of records was asked for");
	claim(slot->buffer || settings.version >= NULL_BUFFER_SINCE,
	      "no buffer, and this version crashes then");
	claim((uintptr_t)slot->buffer % 8 == 0, "a buffer is not aligned");
	claim(!slot->buffer || slot->size >= 4096, "a buffer is too small");
	slot->since_s = (double)time_ns() * 1e-9;
	return slot->buffer != NULL;
}

static bool is_stolen(void)
{
	return settings.steal_after &&
	       __atomic_load_n(&n_records, __ATOMIC_RELAXED) > settings.steal_after;
}

static void put(int kind, const void *record, size_t size)
{
	size_t bytes = settings.bytes[kind];
	struct slot *slot = own_slot();
	struct slot full;
	__atomic_fetch_add(&n_records, 1, __ATOMIC_RELAXED);
	if (is_stolen() || !__atomic_load_n(&complete, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&slot->lock);
	if (make_room(slot, bytes, &full)) {
		uint8_t *at = slot->buffer + slot->used;
		memset(at, 0xa5, bytes); /* unknown fields are not zero in reality either */
		memcpy(at, record, size < bytes ? size : bytes);
		slot->used += bytes;
	} else {
		__atomic_fetch_add(&n_lost, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&slot->lock);
	if (full.buffer)
		deliver(full.buffer, full.size, full.used);
}

/* ---- records -------------------------------------------------------------------------------- */

static bool is_on(int kind)
{
	return __atomic_load_n(&enabled, __ATOMIC_RELAXED) >> kind & 1;
}

static void put_call(const struct cuda_double_work *work, uint32_t link, uint64_t start)
{
	static const uint32_t cbids[] = {
		[CUDA_DOUBLE_LAUNCH] = 211,       [CUDA_DOUBLE_LAUNCH_DRIVER] = 307,
		[CUDA_DOUBLE_LAUNCH_GRAPH] = 311, [CUDA_DOUBLE_COPY] = 41,
		[CUDA_DOUBLE_PEER] = 161,         [CUDA_DOUBLE_SET] = 51,
		[CUDA_DOUBLE_SYNC] = 131,         [CUDA_DOUBLE_QUERY] = 138,
	};
	bool is_driver = work->what == CUDA_DOUBLE_LAUNCH_DRIVER;
	int domain = is_driver ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME;
	int kind = is_driver ? CUPTI_DRIVER : CUPTI_RUNTIME;
	uint32_t cbid = cbids[work->what];
	struct cupti_call call = {
		.kind = (uint32_t)kind,
		.cbid = cbid,
		.start = start,
		.end = time_ns(),
		.pid = (uint32_t)getpid(),
		.thread = (uint32_t)syscall(SYS_gettid),
		.correlation = link,
	};
	if (__atomic_load_n(&watched[domain][cbid], __ATOMIC_ACQUIRE) && on_call)
		on_call(on_call_context, domain, cbid, NULL);
	if (is_on(kind) || __atomic_load_n(&calls_on[domain][cbid], __ATOMIC_RELAXED))
		put(kind, &call, sizeof(call));
}

static void put_kernel(const struct cuda_double_work *work, uint32_t link, uint64_t start)
{
	uint64_t n = __atomic_add_fetch(&n_kernels, 1, __ATOMIC_RELAXED);
	struct cupti_kernel kernel = {
		.kind = CUPTI_CONCURRENT_KERNEL,
		.registers = 32,
		.start = start,
		.end = start + work->took_ns,
		.context = 1,
		.stream = work->stream,
		.grid = {80, 2, 1},
		.block = {128, 2, 1},
		.correlation = link,
		.name = work->name,
		.graph_node = work->what == CUDA_DOUBLE_LAUNCH_GRAPH ? 77 : 0,
		.graph = work->what == CUDA_DOUBLE_LAUNCH_GRAPH ? 5 : 0,
	};
	struct cupti_overhead overhead = {
		.kind = CUPTI_OVERHEAD,
		.overhead = 6u << 16,
		.object = CUPTI_OBJECT_THREAD,
		.object_thread = (uint32_t)syscall(SYS_gettid),
		.start = start,
		.end = start + 100,
	};
	if (settings.zero && n % settings.zero == 0)
		kernel.start = kernel.end = 0;
	if (is_on(CUPTI_CONCURRENT_KERNEL))
		put(CUPTI_CONCURRENT_KERNEL, &kernel, sizeof(kernel));
	if (settings.overheads && n % settings.overheads == 0 && is_on(CUPTI_OVERHEAD))
		put(CUPTI_OVERHEAD, &overhead, sizeof(overhead));
}

static void put_other(const struct cuda_double_work *work, uint32_t link, uint64_t start)
{
	uint64_t end = start + work->took_ns;
	struct cupti_memcpy copy = {
		.kind = CUPTI_MEMCPY,
		.copy_kind = 1,
		.from = 1,
		.to = 3,
		.flags = 1,
		.bytes = work->bytes,
		.start = start,
		.end = end,
		.context = 1,
		.stream = work->stream,
		.correlation = link,
	};
	struct cupti_memcpy2 peer = {
		.kind = CUPTI_MEMCPY2,
		.copy_kind = 10,
		.from = 3,
		.to = 3,
		.flags = 1,
		.bytes = work->bytes,
		.start = start,
		.end = end,
		.context = 1,
		.stream = work->stream,
		.from_device = 2,
		.to_device = 3,
		.correlation = link,
	};
	struct cupti_memset set = {
		.kind = CUPTI_MEMSET,
		.bytes = work->bytes,
		.start = start,
		.end = end,
		.context = 1,
		.stream = work->stream,
		.correlation = link,
		.memory = 3,
	};
	struct cupti_sync sync = {
		.kind = CUPTI_SYNCHRONIZATION,
		.type = 3,
		.start = start,
		.end = end,
		.correlation = link,
		.context = 1,
		.stream = work->stream,
		.event = UINT32_MAX,
	};
	if (work->what == CUDA_DOUBLE_COPY && is_on(CUPTI_MEMCPY))
		put(CUPTI_MEMCPY, &copy, sizeof(copy));
	if (work->what == CUDA_DOUBLE_PEER && is_on(CUPTI_MEMCPY2))
		put(CUPTI_MEMCPY2, &peer, sizeof(peer));
	if (work->what == CUDA_DOUBLE_SET && is_on(CUPTI_MEMSET))
		put(CUPTI_MEMSET, &set, sizeof(set));
	if (work->what == CUDA_DOUBLE_SYNC && is_on(CUPTI_SYNCHRONIZATION))
		put(CUPTI_SYNCHRONIZATION, &sync, sizeof(sync));
}

static void on_work(const struct cuda_double_work *work)
{
	uint64_t start = time_ns();
	uint32_t link = __atomic_add_fetch(&n_links, 1, __ATOMIC_RELAXED);
	if (work->what <= CUDA_DOUBLE_LAUNCH_GRAPH)
		put_kernel(work, link, start);
	else
		put_other(work, link, start);
	put_call(work, link, start);
}

static int *is_heard;

__attribute__((constructor)) static void hook(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = cuda ? dlsym(cuda, "cuda_double_hook") : NULL;
	is_heard = cuda ? dlsym(cuda, "cuda_double_is_heard") : NULL;
	if (symbol)
		__atomic_store_n((cuda_double_hook_fn **)symbol, on_work, __ATOMIC_RELEASE);
}

/* Starts or stops the recording of work: a tool enables the driver's calls last. */
static void hear(bool is_so)
{
	if (is_heard)
		__atomic_store_n(is_heard, is_so, __ATOMIC_RELEASE);
}

static void switch_kind(int kind, bool is_on)
{
	claim(kind > 0 && kind < LAST_KIND && settings.bytes[kind], "no such kind");
	claim(kind != CUPTI_KERNEL, "this kind makes kernels wait for each other");
	__atomic_fetch_or(&has_collected, is_on, __ATOMIC_RELAXED);
	if (is_on)
		__atomic_fetch_or(&enabled, 1ull << kind, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&enabled, ~(1ull << kind), __ATOMIC_RELAXED);
	if (kind == CUPTI_DRIVER)
		hear(is_on);
}

/* ---- the calls ------------------------------------------------------------------------------ */

static int is_gone; /* an exit handler has run */

static void destroy(void)
{
	__atomic_store_n(&is_gone, 1, __ATOMIC_RELEASE);
}

static void claim_alive(void)
{
	claim(!__atomic_load_n(&is_gone, __ATOMIC_ACQUIRE),
	      "used after its exit handlers have run");
}

static void hold(const char *key)
{
	const char *file = find(key);
	char held[WORD + 8];
	snprintf(held, sizeof(held), "%s.held", file ? file : "");
	FILE *made = file ? fopen(held, "w") : NULL;
	if (made)
		fclose(made);
	while (file && access(file, F_OK) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

__attribute__((constructor)) static void hold_load(void)
{
	if (find("hold_load"))
		atexit(destroy);
	hold("hold_load");
}

/* Runs once, at the first subscription: the part that takes long in real versions. */
static void start(void)
{
	static int has_begun;
	if (__atomic_exchange_n(&has_begun, 1, __ATOMIC_ACQ_REL))
		return;
	for (int i = 0; i < (int)number("handlers", 0); i++)
		atexit(destroy);
	hold("hold");
	claim_alive();
}

static bool has_owner(void)
{
	double age_s = (double)(now_s() - settings.begun_s);
	return find("owner") && (!find("owner_stays") || age_s < number("owner_stays", 0));
}

static bool has(enum owner kind)
{
	bool is_there = false;
	for (size_t i = 0; i < MOST_SUBSCRIBERS; i++)
		is_there |= __atomic_load_n(&owners[i], __ATOMIC_ACQUIRE) == kind;
	return is_there;
}

static bool is_refused(enum owner kind)
{
	if (has_owner() || has(OLD_CALL))
		return true;
	if (kind == OLD_CALL)
		return has(SHARING) || (has(EXCLUSIVE) && settings.version < LETS_OLD_IN_SINCE);
	/* 13.2 has no way back to sharing. */
	if (kind == SHARING && settings.version < LETS_OLD_IN_SINCE &&
	    __atomic_load_n(&has_collected, __ATOMIC_RELAXED))
		return true;
	return has(EXCLUSIVE); /* if others share, the caller has a subscription and nothing more */
}

static int subscribe(enum owner kind, cupti_subscriber *out, cupti_callback_fn *callback,
		     void *context)
{
	size_t i = 0;
	start();
	pthread_mutex_lock(&owning);
	bool is_in_use = is_refused(kind);
	while (i < MOST_SUBSCRIBERS - 1 && owners[i])
		i++;
	if (!is_in_use)
		__atomic_store_n(&owners[i], kind, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&owning);
	if (is_in_use)
		return CUPTI_IN_USE;
	on_call = callback;
	on_call_context = context;
	*out = (cupti_subscriber)(void *)&owners[i];
	return 0;
}

#if CUPTI_DOUBLE_AGE > 0
static void unsubscribe(cupti_subscriber subscriber)
{
	enum owner *owner = (void *)subscriber;
	claim(owner >= owners && owner < owners + MOST_SUBSCRIBERS, "unsubscribed nobody");
	__atomic_store_n(owner, NOBODY, __ATOMIC_RELEASE);
}
#endif

static int register_callbacks(cupti_request_fn *on_request, cupti_complete_fn *on_complete)
{
	claim_alive();
	if (has(SHARING))
		return CUPTI_NOT_COMPATIBLE;
	request = on_request;
	__atomic_store_n(&complete, on_complete, __ATOMIC_RELEASE);
	return 0;
}

static int enable(int kind)
{
	claim_alive();
	if (has(SHARING) && settings.version >= LETS_OLD_IN_SINCE)
		return CUPTI_NOT_COMPATIBLE;
	switch_kind(kind, true);
	return 0;
}

static int next_record(const uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	const uint8_t *at = buffer;
	if (*record)
		at = (const uint8_t *)*record + settings.bytes[(*record)->kind];
	if (at + sizeof(struct cupti_record) > buffer + valid)
		return CUPTI_LIMIT_REACHED;
	memcpy(record, &at, sizeof(at));
	return 0;
}

static bool is_ripe(const struct slot *slot, uint32_t flag)
{
	return slot->used && ((flag & CUPTI_FLUSH_FORCED) ||
			      (double)time_ns() * 1e-9 - slot->since_s >= settings.delay_s);
}

static int flush_all(uint32_t flag)
{
	claim_alive();
	claim(__atomic_load_n(&n_requests, __ATOMIC_RELAXED) > 0,
	      "flushed before a buffer was asked for: some versions hang");
	uint32_t n = __atomic_load_n(&n_slots, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < n && i < MOST_SLOTS; i++) {
		struct slot *slot = &slots[i];
		struct slot full = {.buffer = NULL};
		pthread_mutex_lock(&slot->lock);
		if (is_ripe(slot, flag)) {
			full.buffer = slot->buffer;
			full.size = slot->size;
			full.used = slot->used;
			slot->buffer = NULL;
			slot->used = 0;
		}
		pthread_mutex_unlock(&slot->lock);
		if (full.buffer && !is_stolen())
			deliver(full.buffer, full.size, full.used);
	}
	return 0;
}

__attribute__((destructor)) static void end(void)
{
	if (number("flushes_at_exit", 0) != 0 && complete && n_requests)
		flush_all(CUPTI_FLUSH_FORCED);
}

static size_t take_lost(void)
{
	pthread_mutex_lock(&delivery);
	size_t n = __atomic_exchange_n(&n_lost, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&delivery);
	return n;
}

CALL(cuptiGetVersion, *out = settings.version, uint32_t *out)
CALL(cuptiGetTimestamp, claim_alive(); *out = time_ns(), uint64_t *out)
CALL(cuptiGetCallbackName, return tell_name(domain, cbid, out), int domain, uint32_t cbid,
     const char **out)
CALL(cuptiSubscribe, return subscribe(OLD_CALL, out, callback, context), cupti_subscriber *out,
     cupti_callback_fn *callback, void *context)
#if CUPTI_DOUBLE_AGE > 0
CALL(cuptiUnsubscribe, unsubscribe(subscriber), cupti_subscriber subscriber)
#endif
CALL(cuptiActivityRegisterCallbacks, return register_callbacks(on_request, on_complete),
     cupti_request_fn *on_request, cupti_complete_fn *on_complete)
CALL(cuptiActivityEnable, return enable(kind), int kind)
CALL(cuptiActivityDisable, switch_kind(kind, false), int kind)
CALL(cuptiActivityFlushAll, return flush_all(flag), uint32_t flag)
CALL(cuptiActivityGetNextRecord, return next_record(buffer, valid, record), uint8_t *buffer,
     size_t valid, struct cupti_record **record)
CALL(cuptiActivityGetNumDroppedRecords, (void)context; (void)stream;
     *out = take_lost(), void *context, uint32_t stream, size_t *out)
CALL(cuptiActivitySetAttribute, claim(attribute &&*size == sizeof(size_t) && value, "attribute"),
     int attribute, size_t *size, void *value)
CALL(cuptiEnableCallback, claim(subscriber &&cbid < 1024, "callback");
     __atomic_store_n(&watched[domain][cbid], is_wanted, __ATOMIC_RELEASE), uint32_t is_wanted,
     cupti_subscriber subscriber, int domain, uint32_t cbid)

#if CUPTI_DOUBLE_AGE > 1
static int subscribe_by_name(cupti_subscriber *out, cupti_callback_fn *callback, void *context,
			     struct cupti_subscriber_params *params)
{
	size_t wide = sizeof(*params) + sizeof(uint64_t); /* the last field is the sharing flag */
	bool is_wide = params->size == wide;
	uint8_t shares = is_wide ? *((const uint8_t *)params + sizeof(*params)) : 0;
	claim((params->size == sizeof(*params) || is_wide) && strlen(params->own_name) < 53,
	      "parameters");
	if (is_wide && settings.version < SHARES_SINCE)
		return 1;
	int result = subscribe(shares ? SHARING : EXCLUSIVE, out, callback, context);
	if (result == CUPTI_IN_USE && params->other_name)
		snprintf(params->other_name, params->other_name_bytes, "CUPTI for %s",
			 find("owner") ? find("owner") : "itself");
	return result;
}

static void switch_call(int domain, uint32_t cbid, bool is_on)
{
	claim(cbid < 1024, "no such call");
	__atomic_store_n(&calls_on[domain][cbid], is_on, __ATOMIC_RELAXED);
	if (domain == CUPTI_DOMAIN_DRIVER && cbid == 652)
		hear(is_on);
}

CALL(cuptiSubscribe_v2, return subscribe_by_name(out, callback, context, params),
     cupti_subscriber *out, cupti_callback_fn *callback, void *context,
     struct cupti_subscriber_params *params)
CALL(cuptiActivityRegisterCallbacks_v2, claim(subscriber &&on_request &&on_complete, "sharing"),
     cupti_subscriber subscriber, cupti_request_fn *on_request, cupti_complete_fn *on_complete)
CALL(cuptiActivityEnable_v2, claim(subscriber &&kind, "sharing"), cupti_subscriber subscriber,
     int kind)
CALL(cuptiActivityGetNextRecord_v2, (void)subscriber;
     return next_record(buffer, valid, record), cupti_subscriber subscriber, uint8_t *buffer,
	    size_t valid, struct cupti_record **record)
CALL(cuptiSetThreadIdType, claim(type == CUPTI_THREAD_ID_SYSTEM, "type of thread ids"), int type)
CALL(cuptiActivityEnableDriverApi, switch_call(CUPTI_DOMAIN_DRIVER, cbid, is_wanted), uint32_t cbid,
     uint8_t is_wanted)
CALL(cuptiActivityEnableRuntimeApi, switch_call(CUPTI_DOMAIN_RUNTIME, cbid, is_wanted),
     uint32_t cbid, uint8_t is_wanted)
CALL(cuptiActivityEnableAllSyncRecords, claim(!is_wanted, "records of queries"), uint8_t is_wanted)
#endif
