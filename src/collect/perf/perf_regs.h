/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that unwinding needs, with their numbers in the perf samples of this machine. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_REGS_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_REGS_H

#include <stddef.h>
#include <stdint.h>

#include "trainprof/stack/unwind.h"

/* Ascending by bit, the order in samples (arch/ * /include/uapi/asm/perf_regs.h, 6.18). */
struct perf_reg {
	unsigned bit;
	size_t offset; /* in struct tp_unwind_regs */
};

#if defined(__x86_64__)
static const struct perf_reg perf_regs[] = {
	{6, offsetof(struct tp_unwind_regs, bp)},
	{7, offsetof(struct tp_unwind_regs, sp)},
	{8, offsetof(struct tp_unwind_regs, ip)},
};
#elif defined(__aarch64__)
static const struct perf_reg perf_regs[] = {
	{29, offsetof(struct tp_unwind_regs, bp)},
	{30, offsetof(struct tp_unwind_regs, lr)},
	{31, offsetof(struct tp_unwind_regs, sp)},
	{32, offsetof(struct tp_unwind_regs, ip)},
};
#else
#error "trainprof knows the registers of x86-64 and aarch64 only"
#endif

#endif
