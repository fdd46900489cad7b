/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses what collector "perf" requests from the kernel. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_SETUP_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_SETUP_H

#include "perf_cost.h"
#include "perf_event.h"

/* Measures the cost of samples and switches here (out: cost; 20 ms of this thread) and chooses a
 * rate so that samples alone take at most half of the allowed overhead; a rate that was lowered for
 * that degrades the availability. */
void tp_perf_setup_choose(struct tp_perf_setup *out, struct tp_perf_cost *cost,
			  const struct tp_collect_context *context,
			  struct tp_availability *availability);

/* Degrades the availability for each part of `asked` that was not granted and writes what was
 * granted to context->actual. */
void tp_perf_setup_report(const struct tp_perf_setup *asked, const struct tp_perf_events *events,
			  const struct tp_collect_context *context,
			  struct tp_availability *availability);

/* The kernel's 120000 names take 45 ms of CPU time. They are loaded before the target starts,
 * because among hundreds of busy threads this takes more than a second, and the rings fill
 * meanwhile. */
void tp_perf_setup_load_symbols(const struct tp_perf_setup *setup,
				const struct tp_collect_context *context);

#endif
