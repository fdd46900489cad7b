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
struct tp_usual_wait {
	struct tp_sight last;  /* that was met */
	struct tp_sight usual; /* met twice in a row */
	bool is_known;
};

/* A wait was met: blocked, with its cause. */
void tp_usual_wait_note(struct tp_usual_wait *self, const struct tp_sight *wait);

/* Give the sample its place and cause; false, and nothing changed, while none is known. */
bool tp_usual_wait_put(const struct tp_usual_wait *self, struct tp_sample *sample);

#endif
