/* SPDX-License-Identifier: Apache-2.0 */
/* One screen about the last seconds of a continuing measurement: the parts, steps per second,
 * threads, the hottest lines and functions, and trainprof's own cost. No rule is evaluated: a few
 * seconds are too short for a verdict, so the screen says what happened, not what to do. */
#ifndef TRAINPROF_REPORT_LIVE_H
#define TRAINPROF_REPORT_LIVE_H

#include "trainprof/base/buf.h"
#include "trainprof/model/profile.h"
#include "trainprof/report/live_history.h"
#include "trainprof/report/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A rank of a job in the interval. */
struct tp_live_rank {
	int64_t number; /* -1 = unknown */
	pid_t pid;
	const struct tp_profile *profile; /* borrowed */
};

/* Returns its communication, most of which is waiting for other ranks, as a share of its main
 * thread's time. */
double tp_live_rank_waits(const struct tp_live_rank *rank);

/* Information that the profile does not have. Texts are borrowed. */
struct tp_live {
	const char *subject;  /* the subject: "pid 4242", a recording's name */
	const char *clock;    /* the time of day: "14:03:11" */
	uint64_t watched_ns;  /* since the start of watching */
	uint64_t window_ns;   /* length of the profile's window */
	double own_ratio;     /* CPU time of this process / elapsed time; below 0 = unknown */
	bool is_recorded;     /* another process records; the profile contains its cost */
	const char *note;     /* one line about what is not visible; NULL */
	const char *end_note; /* the last line: which key quits, or how the program ended; NULL */
	/* Earlier intervals and the last alarm; NULL = unknown. */
	const struct tp_live_history *history;
	/* The ranks of a job, of which shown_rank is the one with the profile; NULL = no job. */
	const struct tp_live_rank *ranks;
	size_t n_ranks;
	size_t shown_rank;
	size_t max_lines; /* height of the screen; 0 = as many lines as are useful */
};

/* Lines are never wider than the page's style allows and, with max_lines, never more than that:
 * threads, lines and functions are then shown as far as they fit, the largest first. */
void tp_report_live(struct tp_page *page, const struct tp_profile *profile,
		    const struct tp_live *live);

/* Schema id of the following; any 1.x can be read. */
#define TP_LIVE_SCHEMA "trainprof-top/1.0"

/* Appends the interval as one line of JSON: parts, steps, threads, lines, cost, alarm, ranks.
 * Values that are not known are null. */
void tp_report_live_add_json(struct tp_buf *out, const struct tp_profile *profile,
			     const struct tp_live *live);

#endif
