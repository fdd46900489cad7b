/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one sample and one context switch cost on this machine. Between bare metal and a nested
 * virtual machine lies a factor of ten, so it is measured, before the target starts, on ourselves.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_COST_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_COST_H

#include "perf_event.h"

struct tp_perf_cost {
	double sample_ns; /* time that one interrupt takes from the running thread */
	double switch_ns; /* added to one way out and in again, by events and their records */
	double record_ns; /* the part of it that is saved when switch records are off */
};

/* Takes about 20 ms, 50 ms at most. What cannot be measured gets the figures of a virtual
 * machine (docs/measurements.md), so that the budget errs on the careful side. */
void tp_perf_cost_measure(struct tp_perf_cost *out, const struct tp_perf_setup *setup);

#endif
