/* Stands in the way of calls that take CUPTI. */
#include "cupti_handoff.h"

#include "agent/ring/ring_writer.h"
#include "cupti_library.h"
#include "got_patch.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	WAIT_MS = 2000, /* of a newcomer, at most; then CUPTI decides */
	FORK_MS = 100,  /* of a fork, at most */
	ONE_MS_IN_NS = 1000000,
};

enum naming { UNNAMED, BEING_NAMED, NAMED };

/* One in a process, as CUPTI is; calls that come carry no context. */
static struct {
	const struct tp_cuptilib *lib;
	const struct tp_ringwriter *ring;
	struct tp_importslots slots;
	int is_tended;         /* the agent's thread answers */
	int is_held;           /* the agent has CUPTI, or is about to take it */
	uint32_t n_inside;     /* newcomers in their calls */
	uint32_t n_asked;      /* that wait, or waited */
	uint32_t n_seen;       /* of them, when the agent asked */
	uint32_t n_answered;   /* of them */
	uint32_t n_subscribed; /* newcomers that CUPTI serves, or served */
	int takes;             /* one that did not subscribe */
	int is_told_taken;
	int naming; /* whoever comes first has the name, until the agent has read it */
	char name[TP_NEWCOMER_NAME];
} newcomers;

/* ---- in the newcomer's thread --------------------------------------------------------------- */

static void ring_the_bell(void)
{
	syscall(SYS_futex, &newcomers.ring->header->wanted, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool is_answered(uint32_t number)
{
	uint32_t n = __atomic_load_n(&newcomers.n_answered, __ATOMIC_ACQUIRE);
	return (int32_t)(n - number) >= 0;
}

/* Not by nanosleep(), at which a thread may be cancelled. */
static void wait_for_way(void)
{
	const struct timespec nap = {.tv_nsec = ONE_MS_IN_NS};
	uint32_t number = __atomic_add_fetch(&newcomers.n_asked, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < WAIT_MS && !is_answered(number); i++) {
		uint32_t n = __atomic_load_n(&newcomers.n_answered, __ATOMIC_RELAXED);
		if (!__atomic_load_n(&newcomers.is_tended, __ATOMIC_ACQUIRE))
			return;
		ring_the_bell();
		syscall(SYS_futex, &newcomers.n_answered, FUTEX_WAIT_PRIVATE, n, &nap, NULL, 0);
	}
}

static void take_name(const char *own_name, uintptr_t caller)
{
	char path[512];
	int before = UNNAMED;
	if (!__atomic_compare_exchange_n(&newcomers.naming, &before, BEING_NAMED, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	tp_importslots_file_of(path, sizeof(path), caller);
	const char *slash = strrchr(path, '/');
	const char *name = own_name && *own_name ? own_name : slash ? slash + 1 : path;
	memcpy(newcomers.name, name, strnlen(name, sizeof(newcomers.name) - 1));
	__atomic_store_n(&newcomers.naming, NAMED, __ATOMIC_RELEASE);
}

static void come(bool is_subscribing, const char *own_name, uintptr_t caller)
{
	int saved = errno;
	bool takes = !is_subscribing && !__atomic_load_n(&newcomers.n_subscribed, __ATOMIC_ACQUIRE);
	__atomic_add_fetch(&newcomers.n_inside, 1, __ATOMIC_SEQ_CST);
	bool waits = __atomic_load_n(&newcomers.is_held, __ATOMIC_SEQ_CST) &&
		     tp_ringwriter_is_ours(newcomers.ring);
	if (waits || takes)
		take_name(own_name, caller);
	if (takes)
		__atomic_store_n(&newcomers.takes, 1, __ATOMIC_RELEASE);
	if (waits)
		wait_for_way();
	errno = saved;
}

static int go(int result)
{
	__atomic_sub_fetch(&newcomers.n_inside, 1, __ATOMIC_SEQ_CST);
	return result;
}

static int note_subscribed(int result)
{
	if (result == CUPTI_OK)
		__atomic_add_fetch(&newcomers.n_subscribed, 1, __ATOMIC_RELEASE);
	return go(result);
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

static int on_subscribe(cupti_subscriber *out, cupti_callback_fn *callback, void *context)
{
	come(true, NULL, CALLER);
	return note_subscribed(newcomers.lib->subscribe(out, callback, context));
}

static int on_subscribe_v2(cupti_subscriber *out, cupti_callback_fn *callback, void *context,
			   struct cupti_subscriber_params *params)
{
	bool has_name =
		params && params->size >= offsetof(struct cupti_subscriber_params, other_name);
	come(true, has_name ? params->own_name : NULL, CALLER);
	return note_subscribed(newcomers.lib->subscribe_v2(out, callback, context, params));
}

static int on_register(cupti_request_fn *request, cupti_complete_fn *complete)
{
	come(false, NULL, CALLER);
	return go(newcomers.lib->register_callbacks(request, complete));
}

static int on_enable(int kind)
{
	come(false, NULL, CALLER);
	return go(newcomers.lib->enable(kind));
}

/* ---- forks meanwhile ------------------------------------------------------------------------ */

/*
 * A child has a copy of the loader's locks, and nobody who gives back what the agent's thread held:
 * it would wait for ever where it loads something or ends. So a fork waits until the loader has
 * answered, but not for long: the thread that forks may be the one that the loader serves.
 */
static struct {
	uint32_t n_forking;
	int is_asking;
	bool is_watched; /* forks are: without that nobody asks */
} gate;

static void before_fork(void)
{
	const struct timespec nap = {.tv_nsec = ONE_MS_IN_NS};
	int saved = errno;
	__atomic_add_fetch(&gate.n_forking, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < FORK_MS && __atomic_load_n(&gate.is_asking, __ATOMIC_SEQ_CST); i++)
		syscall(SYS_futex, &gate.is_asking, FUTEX_WAIT_PRIVATE, 1, &nap, NULL, 0);
	errno = saved;
}

static void after_fork(void)
{
	__atomic_sub_fetch(&gate.n_forking, 1, __ATOMIC_SEQ_CST);
}

static void after_fork_in_child(void)
{
	__atomic_store_n(&gate.n_forking, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&gate.is_asking, 0, __ATOMIC_SEQ_CST);
}

/* Who asks and who forks: each says first what it does, and looks then at the other one. */
static bool may_ask(void)
{
	__atomic_store_n(&gate.is_asking, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&gate.n_forking, __ATOMIC_SEQ_CST))
		return true;
	__atomic_store_n(&gate.is_asking, 0, __ATOMIC_SEQ_CST);
	return false;
}

/* ---- in the agent's ------------------------------------------------------------------------- */

void tp_newcomer_begin(const struct tp_cuptilib *lib, const struct tp_ringwriter *ring)
{
	newcomers.lib = lib;
	newcomers.ring = ring;
	newcomers.is_told_taken = 0;
	if (!gate.is_watched)
		gate.is_watched = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
	__atomic_store_n(&newcomers.is_tended, 1, __ATOMIC_RELEASE);
}

void tp_newcomer_end(void)
{
	tp_newcomer_let_go();
	__atomic_store_n(&newcomers.is_tended, 0, __ATOMIC_RELEASE);
}

void tp_newcomer_watch(void)
{
	const struct tp_cuptilib *lib = newcomers.lib;
	const struct tp_import imports[] = {
		{"cuptiSubscribe", (uintptr_t)lib->subscribe, (uintptr_t)on_subscribe},
		{"cuptiSubscribe_v2", (uintptr_t)lib->subscribe_v2, (uintptr_t)on_subscribe_v2},
		{"cuptiActivityRegisterCallbacks", (uintptr_t)lib->register_callbacks,
		 (uintptr_t)on_register},
		{"cuptiActivityEnable", (uintptr_t)lib->enable, (uintptr_t)on_enable},
	};
	if (!gate.is_watched || !may_ask())
		return; /* at the next look */
	tp_importslots_replace(&newcomers.slots, imports, sizeof(imports) / sizeof(imports[0]),
			       "libcupti.so");
	__atomic_store_n(&gate.is_asking, 0, __ATOMIC_SEQ_CST);
}

/* Each says first what it does, and looks then at what the other one has said. */
bool tp_newcomer_hold(void)
{
	__atomic_store_n(&newcomers.is_held, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&newcomers.n_inside, __ATOMIC_SEQ_CST))
		return true;
	tp_newcomer_let_go();
	return false;
}

void tp_newcomer_let_go(void)
{
	__atomic_store_n(&newcomers.is_held, 0, __ATOMIC_SEQ_CST);
}

enum tp_newcomer tp_newcomer_ask(char name[TP_NEWCOMER_NAME])
{
	bool takes = __atomic_load_n(&newcomers.takes, __ATOMIC_ACQUIRE);
	newcomers.n_seen = __atomic_load_n(&newcomers.n_asked, __ATOMIC_ACQUIRE);
	if (newcomers.n_seen == newcomers.n_answered && (!takes || newcomers.is_told_taken))
		return TP_NEWCOMER_NONE;
	if (__atomic_load_n(&newcomers.naming, __ATOMIC_ACQUIRE) == NAMED) {
		memcpy(name, newcomers.name, TP_NEWCOMER_NAME);
		memset(newcomers.name, 0, sizeof(newcomers.name));
		__atomic_store_n(&newcomers.naming, UNNAMED, __ATOMIC_RELEASE);
	}
	newcomers.is_told_taken = takes;
	return takes ? TP_NEWCOMER_TAKES : TP_NEWCOMER_SUBSCRIBES;
}

void tp_newcomer_answer(void)
{
	__atomic_store_n(&newcomers.n_answered, newcomers.n_seen, __ATOMIC_RELEASE);
	syscall(SYS_futex, &newcomers.n_answered, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
