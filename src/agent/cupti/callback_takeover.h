/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has another tool taken our callbacks? CUPTI does not say: whoever registers buffer callbacks last
 * has them, subscriber or not. The sign is that kernels are launched and no buffer is asked for or
 * comes back. Watching launches costs, so it is done only after two quiet seconds, for as long as
 * launches go on, and ever more rarely while there are none. A GPU that is stuck in one kernel
 * looks the same for a while, because a buffer comes back when all of it is complete; but then the
 * queue fills and launches end. So ten seconds of them in a row are asked for.
 *
 * Nothing here calls anything or reads a clock: it is fed, and says what to do.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CALLBACK_TAKEOVER_H
#define TRAINPROF_SRC_AGENT_CUPTI_CALLBACK_TAKEOVER_H

#include <stdbool.h>
#include <stdint.h>

enum tp_callback_takeover_verdict {
	TP_CALLBACK_TAKEOVER_NONE,
	TP_CALLBACK_TAKEOVER_WATCH,   /* begin to count launches */
	TP_CALLBACK_TAKEOVER_UNWATCH, /* end it */
	TP_CALLBACK_TAKEOVER_DONE,    /* launches were seen, and not one buffer moved since */
};

/* Zeroed: nothing is known. */
struct tp_callback_takeover {
	uint64_t n_moved;  /* buffers asked for and returned, when it last changed */
	uint64_t moved_ns; /* when that was noticed */
	uint64_t watch_ns; /* when this second of watching began; 0 = it is not on */
	uint64_t n_called; /* launches seen then */
	uint64_t pause_ns; /* between two watches */
	int n_busy;        /* seconds of this watch, each with launches */
};

/* What to do at `now_ns`: numbers of buffers and of launches seen so far. */
enum tp_callback_takeover_verdict tp_callback_takeover_check(struct tp_callback_takeover *theft,
							     uint64_t now_ns, uint64_t n_moved,
							     uint64_t n_called);

#endif
