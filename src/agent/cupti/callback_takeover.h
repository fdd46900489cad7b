/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects that another tool has taken over CUPTI's buffer callbacks. CUPTI does not report this:
 * the last caller that registers buffer callbacks gets them, subscribed or not. The sign is that
 * kernels are launched while no buffer is requested or returned. Watching launches costs time, so
 * it starts only after two seconds without buffer activity, continues while launches continue, and
 * becomes less frequent while there are none. A GPU that executes one very long kernel looks the
 * same for a while, because a buffer returns only when all of its records are complete; but then
 * the launch queue fills up and launches stop. Ten consecutive seconds with launches are therefore
 * required.
 *
 * This code calls nothing and reads no clock: the caller passes in all values and acts on the
 * verdict.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CALLBACK_TAKEOVER_H
#define TRAINPROF_SRC_AGENT_CUPTI_CALLBACK_TAKEOVER_H

#include <stdbool.h>
#include <stdint.h>

enum tp_callback_takeover_verdict {
	TP_CALLBACK_TAKEOVER_NONE,
	TP_CALLBACK_TAKEOVER_WATCH,   /* start counting launches */
	TP_CALLBACK_TAKEOVER_UNWATCH, /* stop counting launches */
	TP_CALLBACK_TAKEOVER_DONE,    /* launches were seen, and no buffer was requested or returned
					 since */
};

/* All zero = nothing is known. */
struct tp_callback_takeover {
	uint64_t n_moved;  /* buffers requested and returned when that number last changed */
	uint64_t moved_ns; /* time of that change */
	uint64_t watch_ns; /* start of the current second of watching; 0 = not watching */
	uint64_t n_called; /* launches counted at that time */
	uint64_t pause_ns; /* pause between two watches */
	int n_busy;        /* consecutive seconds with launches in this watch */
};

/* Returns what to do at `now_ns`, given the numbers of buffers and of launches seen so far. */
enum tp_callback_takeover_verdict tp_callback_takeover_check(struct tp_callback_takeover *theft,
							     uint64_t now_ns, uint64_t n_moved,
							     uint64_t n_called);

#endif
