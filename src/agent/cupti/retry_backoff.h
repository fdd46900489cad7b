/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when to try again after another tool was found to use CUPTI. Only an attempt shows
 * whether it still does, and an attempt costs that tool nothing, because subscribing fails. The
 * first attempt comes after half a minute, later ones after ever longer pauses of up to eight
 * minutes. After the third return the agent gives up, so that tools that come and go all the time
 * are left alone.
 *
 * A tool that took our callbacks without subscribing is different: nothing shows when it has
 * finished, and a second attempt would take the callbacks away from it. The agent then gives up at
 * once.
 *
 * This code calls nothing and reads no clock.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_RETRY_BACKOFF_H
#define TRAINPROF_SRC_AGENT_CUPTI_RETRY_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* All zero = no other tool was met. */
struct tp_retry_backoff {
	uint64_t pause_ns; /* pause until the next attempt; 0 = no other tool is known to use CUPTI
			    */
	uint64_t since_ns; /* when another tool was last found */
	int n_returns;
};

/* Records that another tool uses CUPTI. Returns false after too many times; it is then never tried
 * again. */
bool tp_retry_backoff_note_in_use(struct tp_retry_backoff *aside, uint64_t now_ns);
/* Records that CUPTI is ours; this counts as a return if another tool used it before. */
void tp_retry_backoff_note_open(struct tp_retry_backoff *aside);
bool tp_retry_backoff_can_try(const struct tp_retry_backoff *aside, uint64_t now_ns);

#endif
