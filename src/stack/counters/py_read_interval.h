/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often something in the program's memory is read again.
 *
 * Most numbers never change: they are settings. What did not change for n sightings is read again
 * after n / 16 more of them, 64 at most. So a change is noticed late by at most a sixteenth of the
 * time for which there was none, and what changes is read each time. A sighting is a reading that
 * met the place where it is, whether it was read or not.
 */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_READ_INTERVAL_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_READ_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_PY_READ_INTERVAL_SHARE = 16, TP_PY_READ_INTERVAL_MAX_WAIT = 64 };

/* A zeroed structure is due at once. */
struct tp_py_read_interval {
	uint32_t n_seen; /* sightings since the last change */
	uint32_t due;    /* the value of n_seen from which on it is read again */
};

bool tp_py_read_interval_is_due(const struct tp_py_read_interval *interval);
/* It was met and not read. */
void tp_py_read_interval_skip(struct tp_py_read_interval *interval);
/* It was met and read. */
void tp_py_read_interval_read(struct tp_py_read_interval *interval, bool has_changed);

#endif
