/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how often a function is called: at equal intervals, or in bursts that begin at equal
 * intervals, as one update for each tensor at the end of a step. Pure functions, thread-safe. */
#ifndef TRAINPROF_SRC_COLLECT_WATCH_CALL_PERIOD_H
#define TRAINPROF_SRC_COLLECT_WATCH_CALL_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TP_PERIOD_CALLS_MIN = 6,    /* fewer calls or bursts show no regularity */
	TP_PERIOD_CALLS_MAX = 1024, /* more are not examined */
};

struct tp_call_period {
	bool is_regular;   /* rounds begin at equal intervals */
	double rate_hz;    /* rounds per second, or calls if they are not regular; 0 = few calls */
	uint64_t pause_ns; /* a round begins with a call this long after the one before; 0 = each
			      call begins one */
	uint64_t burst_ns; /* the longest time from the first to the last call of a round */
};

/* Judges the times of calls, ascending. Most intervals between rounds must be about equal and make
 * up most of the time. Layers are called in a row, with the rest of the step in between: their
 * calls are bursts, if most have the same number of calls and much longer pauses between them than
 * within. So are the batches of epochs: see burst_ns. */
void tp_call_period_find(struct tp_call_period *out, const uint64_t *times_ns, size_t n);

/* True if a call at time_ns begins a round, last_ns being the time of the call before; 0 = there is
 * none. */
bool tp_call_period_begins_round(const struct tp_call_period *period, uint64_t last_ns,
				 uint64_t time_ns);

#endif
