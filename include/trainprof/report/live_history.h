/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what earlier intervals of a live view showed, and derives alarms from it. */
#ifndef TRAINPROF_REPORT_LIVE_HISTORY_H
#define TRAINPROF_REPORT_LIVE_HISTORY_H

#include "trainprof/model/profile.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_LIVE_INTERVALS_MAX = 256, TP_LIVE_ALARM_SIZE = 160 };

struct tp_live_interval {
	double step_ns;       /* mean time of a step; 0 = no step was seen */
	double step_max_ns;   /* time of the longest step; 0 = no step was seen */
	enum tp_part limiter; /* TP_N_PARTS = no thread was seen */
};

/* Zero-initialised it is empty. */
struct tp_live_history {
	struct tp_live_interval items[TP_LIVE_INTERVALS_MAX]; /* the oldest first */
	size_t n;
	bool has_limiter;
	enum tp_part limiter;           /* the limit that the last alarm left */
	bool is_slow;                   /* steps are slower than before */
	bool is_stalled;                /* steps have stopped */
	char alarm[TP_LIVE_ALARM_SIZE]; /* the last alarm, with its time of day; "" = none */
	bool is_new;                    /* the last interval gave it */
};

/*
 * Adds an interval, and sets the alarm when
 * - another part is the limit, by at least a tenth of the time more than the former limit has;
 * - the mean step takes 1.5 times the median of the intervals before;
 * - no step was seen after five intervals with steps, or steps are seen again.
 * `clock` is the time of day, "14:03:11".
 */
void tp_live_history_add(struct tp_live_history *history, const struct tp_profile *profile,
			 const char *clock);

#endif
