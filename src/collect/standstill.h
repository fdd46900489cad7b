/* SPDX-License-Identifier: Apache-2.0 */
/* Detects that trainprof itself did not run: it was stopped, it got no CPU, the machine was
 * suspended. */
#ifndef TRAINPROF_SRC_COLLECT_STANDSTILL_H
#define TRAINPROF_SRC_COLLECT_STANDSTILL_H

#include "trainprof/model/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* Two clocks at one instant. */
struct tp_standstill_now {
	uint64_t now_ns;  /* CLOCK_MONOTONIC */
	uint64_t boot_ns; /* CLOCK_BOOTTIME: also counts while the machine is suspended */
};

struct tp_standstill_now tp_standstill_read(void);

/* The loop was at `before`, is at `after`, and intended to sleep at most `meant_ns`: a longer time
 * is recorded as a gap. `was_stopped`: the program `pid` was stopped and continued meanwhile, and
 * trainprof with it. */
void tp_standstill_check(struct tp_sink *sink, const struct tp_standstill_now *before,
			 const struct tp_standstill_now *after, uint64_t meant_ns, bool was_stopped,
			 pid_t pid);

#endif
