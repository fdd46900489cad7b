/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wait that a thread is mostly met in. A wait that ended while it was looked at says nothing of
 * itself; it is taken for one like those that did not.
 */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_TYPICAL_WAIT_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_TYPICAL_WAIT_H

#include "thread_inspect.h"

#include "trainprof/model/record.h"

#include <stdbool.h>

/* Zero-initialised: none is known. */
struct tp_typical_wait {
	struct tp_wait_info last;  /* that was met */
	struct tp_wait_info usual; /* met twice in a row */
	bool is_known;
};

/* A wait was met: blocked, with its cause. */
void tp_typical_wait_add(struct tp_typical_wait *self, const struct tp_wait_info *wait);

/* Give the sample its place and cause; false, and nothing changed, while none is known. */
bool tp_typical_wait_apply(const struct tp_typical_wait *self, struct tp_sample *sample);

#endif
