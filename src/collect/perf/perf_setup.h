/* SPDX-License-Identifier: Apache-2.0 */
/* What collector "perf" asks the kernel for. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_SETUP_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_SETUP_H

#include "perf_cost.h"
#include "perf_event.h"

/*
 * Measures what samples and switches cost here (out: cost; 20 ms of this thread) and chooses so
 * that samples alone take half of the allowed cost at most; a rate that had to be lowered for that
 * degrades the availability.
 */
void tp_perf_setup_choose(struct tp_perf_setup *out, struct tp_perf_cost *cost,
			  const struct tp_collect_context *context,
			  struct tp_availability *availability);

/* Of what was asked for and could not be had: degrades the availability. Of what was had: writes
 * context->actual. */
void tp_perf_setup_report(const struct tp_perf_setup *asked, const struct tp_perf_events *events,
			  const struct tp_collect_context *context,
			  struct tp_availability *availability);

/* The kernel's 120000 names take 45 ms of CPU: before the target starts, because among hundreds of
 * busy threads such a piece of work takes more than a second, and the rings fill meanwhile. */
void tp_perf_setup_load_symbols(const struct tp_perf_setup *setup,
				const struct tp_collect_context *context);

#endif
