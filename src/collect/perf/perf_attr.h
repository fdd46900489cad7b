/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes with which each kind of event is opened. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_ATTR_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_ATTR_H

#include "perf_event.h"

#include <linux/perf_event.h>
#include <stdint.h>

/* True if records contain their event's id. */
bool tp_perf_has_event_id(const struct tp_perf_setup *setup);

/* Samples of running threads; also reports mappings, names, forks and exits. */
struct perf_event_attr tp_perf_attr_sampler(const struct tp_perf_setup *setup, uint64_t period_ns);
/* Context-switch records only. */
struct perf_event_attr tp_perf_attr_switches(const struct tp_perf_setup *setup);
/* Samples of threads that leave a CPU, at one of TP_PERF_SWITCH_OUT_EVERY switches. */
struct perf_event_attr tp_perf_attr_switch_out(const struct tp_perf_setup *setup);
/* A hardware breakpoint on one thread: a record at each write to the `len` bytes (1, 2, 4 or 8) at
 * `address`, or at each call of the function there. Such records have the layout {.has_event =
 * false} with neither chain nor stack. */
struct perf_event_attr tp_perf_attr_breakpoint(uint64_t address, unsigned len, bool is_call);

#endif
