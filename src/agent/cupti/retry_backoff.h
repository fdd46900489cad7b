/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to try again after another tool was found to have CUPTI. That it still has it shows only by
 * trying, which costs it nothing: subscribing fails. So after half a minute, then after ever
 * longer, eight minutes at most. Somebody whose tools come and go all the time is left alone after
 * the third return.
 *
 * A tool that took our callbacks without subscribing is another matter: nothing tells when it is
 * done, and a second try would steal from it. There is no way back from that.
 *
 * Nothing here calls anything or reads a clock.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_RETRY_BACKOFF_H
#define TRAINPROF_SRC_AGENT_CUPTI_RETRY_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: nobody was met. */
struct tp_retry_backoff {
	uint64_t pause_ns; /* until the next try; 0 = nobody has CUPTI as far as is known */
	uint64_t since_ns; /* when somebody was last found to have it */
	int n_returns;
};

/* Another tool has it. False: that was once too often, it is never tried again. */
bool tp_retry_backoff_note_in_use(struct tp_retry_backoff *aside, uint64_t now_ns);
/* CUPTI is ours; a return, if it was another tool's before. */
void tp_retry_backoff_note_open(struct tp_retry_backoff *aside);
bool tp_retry_backoff_can_try(const struct tp_retry_backoff *aside, uint64_t now_ns);

#endif
