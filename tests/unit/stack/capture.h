/* SPDX-License-Identifier: Apache-2.0 */
/* Captures this thread's registers and a copy of its stack, as a sample of the kernel does. */
#ifndef TRAINPROF_TESTS_UNIT_STACK_CAPTURE_H
#define TRAINPROF_TESTS_UNIT_STACK_CAPTURE_H

#include "trainprof/stack/symbol.h"
#include "trainprof/stack/unwind.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes the compiler really call a function, even if it could optimise the call away. */
#if defined(__clang__)
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone, noipa))
#endif

/* Prevents a call from being the last operation of a function, which would make it a jump. */
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

enum { CAPTURE_MAX_BYTES = 256 << 10 };

struct capture {
	struct tp_unwind_regs regs;
	uint64_t stack[CAPTURE_MAX_BYTES / 8];
	size_t size;
};

struct unwound {
	struct tp_modules *modules;
	struct tp_maps *maps;
	struct tp_stack_frame frames[TP_STACK_MAX_FRAMES];
	struct tp_unwind_result result;
};

/* End of the current stack if a test runs on another stack than the thread's own. */
static uint64_t capture_other_top;

static inline uint64_t capture_stack_top(void)
{
	if (capture_other_top)
		return capture_other_top;
	pthread_attr_t attr;
	void *base = NULL;
	size_t size = 0;
	ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &base, &size);
	pthread_attr_destroy(&attr);
	return (uint64_t)(uintptr_t)base + size;
}

/* The copy must not be instrumented: it reads across the red zones of every caller. */
__attribute__((no_sanitize("address", "undefined"))) static inline void
capture_copy(struct capture *out, uint64_t top)
{
	size_t size = (size_t)(top - out->regs.sp);
	out->size = (size < CAPTURE_MAX_BYTES ? size : CAPTURE_MAX_BYTES) & ~(size_t)7;
	const volatile uint64_t *from = (const volatile uint64_t *)(uintptr_t)out->regs.sp;
	for (size_t i = 0; i < out->size / 8; i++)
		out->stack[i] = from[i];
}

/* Inlined into the function whose stack position is captured. */
__attribute__((always_inline)) static inline void capture_here(struct capture *out)
{
	uint64_t top = capture_stack_top();
#if defined(__x86_64__)
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=r"(out->regs.ip), "=r"(out->regs.sp), "=r"(out->regs.bp));
	out->regs.lr = 0;
#else
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
			 : "=r"(out->regs.ip), "=r"(out->regs.sp), "=r"(out->regs.bp),
			   "=r"(out->regs.lr));
#endif
	capture_copy(out, top);
}

static inline void unwound_init(struct unwound *u)
{
	memset(u, 0, sizeof(*u));
	u->modules = tp_modules_new();
	u->maps = tp_maps_new(u->modules, getpid());
	ck_assert_int_eq(tp_maps_read(u->maps, NULL), TP_OK);
}

static inline void unwound_release(struct unwound *u)
{
	tp_maps_free(u->maps);
	tp_modules_free(u->modules);
}

static inline void unwound_walk(struct unwound *u, const struct capture *capture)
{
	tp_unwind(u->maps, &capture->regs, capture->stack, capture->size, u->frames,
		  TP_STACK_MAX_FRAMES, &u->result);
}

static inline const char *unwound_name(const struct unwound *u, size_t i)
{
	struct tp_symbol symbol;
	if (i >= u->result.n_frames)
		return "(no such frame)";
	tp_symbol_find(&u->frames[i], &symbol);
	return symbol.name;
}

/* Returns the index of the first frame from `at` on with that name; fails the test if there is
 * none. */
static inline size_t unwound_find(const struct unwound *u, const char *name, size_t at)
{
	for (size_t i = at; i < u->result.n_frames; i++) {
		if (strcmp(unwound_name(u, i), name) == 0)
			return i;
	}
	ck_abort_msg("no frame named %s", name);
}

#endif
