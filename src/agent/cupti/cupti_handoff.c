/* SPDX-License-Identifier: Apache-2.0 */
/* Intercepts the calls by which other tools take CUPTI. */
#include "cupti_handoff.h"

#include "agent/ring/ring_writer.h"
#include "cupti_library.h"
#include "fork_gate.h"
#include "got_patch.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	WAIT_MS = 2000, /* longest wait of another tool; then CUPTI decides */
	ONE_MS_IN_NS = 1000000,
};

enum naming { UNNAMED, BEING_NAMED, NAMED };

/* One instance per process, like CUPTI; the intercepted calls carry no context. */
static struct {
	const struct tp_cupti_library *lib;
	const struct tp_ring_writer *ring;
	struct tp_got_patch slots;
	bool has_exports;    /* the exports of CUPTI itself are replaced, so later look-ups by name
				lead to us */
	int is_answering;    /* the agent's thread answers */
	int is_held;         /* the agent uses CUPTI or is about to */
	uint32_t n_inside;   /* tools inside their calls at this moment */
	uint32_t n_asked;    /* tools that waited or are waiting */
	uint32_t n_seen;     /* n_asked when the agent last checked */
	uint32_t n_answered; /* requests that the agent has answered */
	uint32_t n_subscribed; /* other tools that CUPTI serves or served */
	int takes;             /* a tool took the callbacks without subscribing */
	int is_takeover_reported;
	int naming; /* the first tool owns `name` until the agent has read it */
	char name[TP_CUPTI_HANDOFF_NAME_BYTES];
} handoff;

/* ---- in the other tool's thread ------------------------------------------------------------- */

static void wake_agent(void)
{
	syscall(SYS_futex, &handoff.ring->header->wanted, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool is_acked(uint32_t number)
{
	uint32_t n = __atomic_load_n(&handoff.n_answered, __ATOMIC_ACQUIRE);
	return (int32_t)(n - number) >= 0;
}

/* nanosleep() is not used, because a thread may be cancelled in it. */
static void wait_for_ack(void)
{
	const struct timespec nap = {.tv_nsec = ONE_MS_IN_NS};
	uint32_t number = __atomic_add_fetch(&handoff.n_asked, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < WAIT_MS && !is_acked(number); i++) {
		uint32_t n = __atomic_load_n(&handoff.n_answered, __ATOMIC_RELAXED);
		if (!__atomic_load_n(&handoff.is_answering, __ATOMIC_ACQUIRE))
			return;
		wake_agent();
		syscall(SYS_futex, &handoff.n_answered, FUTEX_WAIT_PRIVATE, n, &nap, NULL, 0);
	}
}

static void copy_name(const char *own_name, uintptr_t caller)
{
	char path[512];
	int before = UNNAMED;
	if (!__atomic_compare_exchange_n(&handoff.naming, &before, BEING_NAMED, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	tp_got_patch_file_of(path, sizeof(path), caller);
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	const char *caller_name = *file ? file : program_invocation_short_name;
	const char *name = own_name && *own_name ? own_name : caller_name;
	memcpy(handoff.name, name, strnlen(name, sizeof(handoff.name) - 1));
	__atomic_store_n(&handoff.naming, NAMED, __ATOMIC_RELEASE);
}

static void request_handoff(bool is_subscribing, const char *own_name, uintptr_t caller)
{
	int saved = errno;
	bool takes = !is_subscribing && !__atomic_load_n(&handoff.n_subscribed, __ATOMIC_ACQUIRE);
	__atomic_add_fetch(&handoff.n_inside, 1, __ATOMIC_SEQ_CST);
	bool waits = __atomic_load_n(&handoff.is_held, __ATOMIC_SEQ_CST) &&
		     tp_ring_writer_is_ours(handoff.ring);
	if (waits || takes)
		copy_name(own_name, caller);
	if (takes)
		__atomic_store_n(&handoff.takes, 1, __ATOMIC_RELEASE);
	if (waits)
		wait_for_ack();
	errno = saved;
}

static int go(int result)
{
	__atomic_sub_fetch(&handoff.n_inside, 1, __ATOMIC_SEQ_CST);
	return result;
}

static int note_subscribe(int result)
{
	if (result == CUPTI_OK)
		__atomic_add_fetch(&handoff.n_subscribed, 1, __ATOMIC_RELEASE);
	return go(result);
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

static int on_subscribe(cupti_subscriber *out, cupti_callback_fn *callback, void *context)
{
	request_handoff(true, NULL, CALLER);
	return note_subscribe(handoff.lib->subscribe(out, callback, context));
}

static int on_subscribe_v2(cupti_subscriber *out, cupti_callback_fn *callback, void *context,
			   struct cupti_subscriber_params *params)
{
	bool has_name =
		params && params->size >= offsetof(struct cupti_subscriber_params, other_name);
	request_handoff(true, has_name ? params->own_name : NULL, CALLER);
	return note_subscribe(handoff.lib->subscribe_v2(out, callback, context, params));
}

static int on_register(cupti_request_fn *request, cupti_complete_fn *complete)
{
	request_handoff(false, NULL, CALLER);
	return go(handoff.lib->register_callbacks(request, complete));
}

static int on_enable(int kind)
{
	request_handoff(false, NULL, CALLER);
	return go(handoff.lib->enable(kind));
}

/* ---- in the agent's thread ------------------------------------------------------------------ */

void tp_cupti_handoff_begin(const struct tp_cupti_library *lib, const struct tp_ring_writer *ring)
{
	handoff.lib = lib;
	handoff.ring = ring;
	handoff.is_takeover_reported = 0;
	__atomic_store_n(&handoff.is_answering, 1, __ATOMIC_RELEASE);
}

void tp_cupti_handoff_end(void)
{
	tp_cupti_handoff_release();
	__atomic_store_n(&handoff.is_answering, 0, __ATOMIC_RELEASE);
}

enum { N_IMPORTS = 4 };

static void list_imports(struct tp_got_import out[N_IMPORTS])
{
	const struct tp_cupti_library *lib = handoff.lib;
	const struct tp_got_import imports[N_IMPORTS] = {
		{"cuptiSubscribe", (uintptr_t)lib->subscribe, (uintptr_t)on_subscribe},
		{"cuptiSubscribe_v2", (uintptr_t)lib->subscribe_v2, (uintptr_t)on_subscribe_v2},
		{"cuptiActivityRegisterCallbacks", (uintptr_t)lib->register_callbacks,
		 (uintptr_t)on_register},
		{"cuptiActivityEnable", (uintptr_t)lib->enable, (uintptr_t)on_enable},
	};
	memcpy(out, imports, sizeof(imports));
}

/* Redirects look-ups by name and libraries that are loaded later. If an export could not be
 * replaced, the import slots of loaded libraries are still replaced. */
static void replace_exports(const struct tp_got_import imports[N_IMPORTS])
{
	for (size_t i = 0; i < N_IMPORTS && !handoff.has_exports; i++)
		if (imports[i].theirs)
			tp_got_patch_export(imports[i].theirs, imports[i].ours);
	handoff.has_exports = true;
}

bool tp_cupti_handoff_watch(void)
{
	struct tp_got_import imports[N_IMPORTS];
	unsigned long long n_loaded = handoff.slots.n_loaded;
	if (!tp_fork_gate_enter())
		return false; /* retried at the next check */
	list_imports(imports);
	replace_exports(imports);
	tp_got_patch_replace(&handoff.slots, imports, N_IMPORTS, "libcupti.so");
	tp_fork_gate_leave();
	return handoff.slots.n_loaded != n_loaded;
}

/* Each side first publishes its own intent and then reads the other's. */
bool tp_cupti_handoff_hold(void)
{
	__atomic_store_n(&handoff.is_held, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&handoff.n_inside, __ATOMIC_SEQ_CST))
		return true;
	tp_cupti_handoff_release();
	return false;
}

void tp_cupti_handoff_release(void)
{
	__atomic_store_n(&handoff.is_held, 0, __ATOMIC_SEQ_CST);
}

enum tp_cupti_handoff tp_cupti_handoff_query(char name[TP_CUPTI_HANDOFF_NAME_BYTES])
{
	bool takes = __atomic_load_n(&handoff.takes, __ATOMIC_ACQUIRE);
	handoff.n_seen = __atomic_load_n(&handoff.n_asked, __ATOMIC_ACQUIRE);
	if (handoff.n_seen == handoff.n_answered && (!takes || handoff.is_takeover_reported))
		return TP_CUPTI_HANDOFF_NONE;
	if (__atomic_load_n(&handoff.naming, __ATOMIC_ACQUIRE) == NAMED) {
		memcpy(name, handoff.name, TP_CUPTI_HANDOFF_NAME_BYTES);
		memset(handoff.name, 0, sizeof(handoff.name));
		__atomic_store_n(&handoff.naming, UNNAMED, __ATOMIC_RELEASE);
	}
	handoff.is_takeover_reported = takes;
	return takes ? TP_CUPTI_HANDOFF_REPLACE : TP_CUPTI_HANDOFF_SUBSCRIBE;
}

void tp_cupti_handoff_ack(void)
{
	__atomic_store_n(&handoff.n_answered, handoff.n_seen, __ATOMIC_RELEASE);
	syscall(SYS_futex, &handoff.n_answered, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
