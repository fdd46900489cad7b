/* SPDX-License-Identifier: Apache-2.0 */
/* The wait in which a thread is usually found. Nothing is known about a wait that ended while it
 * was inspected; it is assumed to be like those that did not. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_TYPICAL_WAIT_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_TYPICAL_WAIT_H

#include "thread_inspect.h"

#include "trainprof/model/record.h"

#include <stdbool.h>

/* All zero = none is known. */
struct tp_typical_wait {
	struct tp_wait_info last;  /* the last one found */
	struct tp_wait_info usual; /* found twice in a row */
	bool is_known;
};

/* Adds a wait that was found: blocked, with its cause. */
void tp_typical_wait_add(struct tp_typical_wait *self, const struct tp_wait_info *wait);

/* Sets the sample's stack and cause; returns false and changes nothing while none is known. */
bool tp_typical_wait_apply(const struct tp_typical_wait *self, struct tp_sample *sample);

#endif
