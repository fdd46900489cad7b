/* SPDX-License-Identifier: Apache-2.0 */
/* Makes CUPTI's exit handlers wait for the agent's thread. */
#include "exit_guard.h"

#include "agent/ring/host_clock.h"
#include "agent/ring/ring_writer.h"
#include "fork_gate.h"
#include "got_patch.h"

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	EXIT_MS = 1800, /* longest wait for the thread; the end is delayed by 2 s at most, with what
			   remains to be done after it */
	SETTLE_MS = 10,
	HANDLERS_MAX = 512, /* CUPTI 11.8 to 13.4 register 11 */
};

#define NS_PER_MS 1000000

typedef void exit_handler_fn(void *argument);

/* The C++ ABI's registration, which atexit() uses as well. NOLINTNEXTLINE: the ABI's name */
extern int __cxa_atexit(exit_handler_fn *run, void *argument, void *library);

struct exit_handler {
	exit_handler_fn *run;
	void *argument;
};

static struct {
	const struct tp_ring_writer *ring;
	int is_running; /* the agent's thread runs */
	int is_inside;  /* it is calling CUPTI */
	int is_over;    /* the program is ending */
	int is_overdue; /* the thread did not stop in time: CUPTI's handlers must not run */
	uint32_t n_handlers;
	struct exit_handler handlers[HANDLERS_MAX];
} guard;

static uint64_t now_ns(void)
{
	return tp_host_clock_ns(CLOCK_MONOTONIC);
}

static void nap_1_ms(void)
{
	const struct timespec nap = {.tv_nsec = NS_PER_MS};
	nanosleep(&nap, NULL);
}

static bool is_running(void)
{
	return __atomic_load_n(&guard.is_running, __ATOMIC_ACQUIRE);
}

/* Runs in the thread that ends the program. Returns false if the agent's thread is still inside
 * CUPTI. */
static bool stop_thread(void)
{
	if (!guard.ring || !tp_ring_writer_is_ours(guard.ring))
		return !__atomic_load_n(&guard.is_inside, __ATOMIC_RELAXED);
	__atomic_store_n(&guard.is_over, 1, __ATOMIC_RELEASE);
	if (__atomic_load_n(&guard.is_overdue, __ATOMIC_RELAXED))
		return false;
	uint64_t until_ns = now_ns() + (uint64_t)EXIT_MS * NS_PER_MS;
	while (is_running() && now_ns() < until_ns) {
		syscall(SYS_futex, &guard.ring->header->wanted, FUTEX_WAKE, 1, NULL, NULL, 0);
		nap_1_ms();
	}
	__atomic_store_n(&guard.is_overdue, is_running(), __ATOMIC_RELEASE);
	return !is_running();
}

static void on_exit_of_program(void)
{
	(void)stop_thread();
}

static void run_guarded(void *context)
{
	const struct exit_handler *handler = context;
	if (stop_thread())
		handler->run(handler->argument);
}

/* A child that is forked meanwhile would inherit the locked list of handlers, and hang at its end.
 */
static int register_between_forks(exit_handler_fn *run, void *argument, void *library)
{
	bool is_inside = tp_fork_gate_wait();
	int failure = __cxa_atexit(run, argument, library);
	if (is_inside)
		tp_fork_gate_leave();
	return failure;
}

/* Called by libcupti in place of __cxa_atexit. */
static int on_register(exit_handler_fn *run, void *argument, void *library)
{
	uint32_t i = __atomic_fetch_add(&guard.n_handlers, 1, __ATOMIC_RELAXED);
	if (i >= HANDLERS_MAX)
		return register_between_forks(run, argument, library);
	guard.handlers[i] = (struct exit_handler){.run = run, .argument = argument};
	return register_between_forks(run_guarded, &guard.handlers[i], library);
}

void tp_exit_guard_begin(const struct tp_ring_writer *ring)
{
	guard.ring = ring;
	__atomic_store_n(&guard.is_running, 1, __ATOMIC_RELEASE);
}

void tp_exit_guard_end(void)
{
	__atomic_store_n(&guard.is_running, 0, __ATOMIC_RELEASE);
}

void tp_exit_guard_register(void)
{
	bool is_inside = tp_fork_gate_wait();
	atexit(on_exit_of_program);
	if (is_inside)
		tp_fork_gate_leave();
}

bool tp_exit_guard_is_over(void)
{
	return __atomic_load_n(&guard.is_over, __ATOMIC_ACQUIRE);
}

void tp_exit_guard_checkpoint(void)
{
	while (__atomic_load_n(&guard.is_overdue, __ATOMIC_ACQUIRE))
		pause();
}

void tp_exit_guard_set_inside(bool is_inside)
{
	__atomic_store_n(&guard.is_inside, is_inside, __ATOMIC_RELAXED);
}

bool tp_exit_guard_cover(const void *address)
{
	const struct tp_got_import import = {"__cxa_atexit", (uintptr_t)__cxa_atexit,
					     (uintptr_t)on_register};
	return tp_got_patch_replace_in((uintptr_t)address, &import, 1);
}

bool tp_exit_guard_confirm(void)
{
	tp_exit_guard_register();
	for (int i = 0; i < SETTLE_MS && !tp_exit_guard_is_over(); i++)
		nap_1_ms();
	return !tp_exit_guard_is_over();
}
