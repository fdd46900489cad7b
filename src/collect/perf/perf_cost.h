/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of one sample and of one context switch on this machine. Bare metal and a nested virtual
 * machine differ by a factor of ten, so it is measured on trainprof itself before the target
 * starts. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_COST_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_COST_H

#include "perf_event.h"

struct tp_perf_cost {
	double sample_ns; /* time that one interrupt takes from the running thread */
	double switch_ns; /* added to one switch out and back in, by events and their records */
	double record_ns; /* part of it that is saved when switch records are off */
};

/* Takes about 20 ms, 50 ms at most. Values that cannot be measured are those of a virtual machine
 * (docs/measurements.md), so that the budget errs on the careful side. */
void tp_perf_cost_measure(struct tp_perf_cost *out, const struct tp_perf_setup *setup);

#endif
