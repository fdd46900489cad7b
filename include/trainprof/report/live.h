/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One screen about the last seconds of a measurement that goes on: the parts, steps a second,
 * threads, the hottest lines and functions, and what trainprof takes. No rule is asked: a few
 * seconds are too short for a verdict, and the screen says what was, not what to do.
 */
#ifndef TRAINPROF_REPORT_LIVE_H
#define TRAINPROF_REPORT_LIVE_H

#include "trainprof/model/profile.h"
#include "trainprof/report/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the profile does not know. Texts are borrowed. */
struct tp_live {
	const char *subject;  /* what is watched: "pid 4242", a recording's name */
	const char *clock;    /* the time of day: "14:03:11" */
	uint64_t watched_ns;  /* since watching began */
	uint64_t window_ns;   /* that the profile speaks of */
	double own_ratio;     /* CPU time of this process by the time it took; below 0 = unknown */
	bool is_recorded;     /* another process records; the profile knows what that takes */
	const char *note;     /* what is not seen, in a line; NULL */
	const char *end_note; /* the last line: which key ends it, or how the program ended; NULL */
	size_t max_lines;     /* of the screen; 0 = as many as are worth it */
};

/* Lines never wider than the page's style and, with max_lines, never more than that: then threads,
 * lines and functions are shown as far as there is room, the largest first. */
void tp_report_live(struct tp_page *page, const struct tp_profile *profile,
		    const struct tp_live *live);

#endif
