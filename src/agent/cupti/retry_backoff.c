/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential backoff: 30 s, doubling up to 8 minutes; gives up after three returns. */
#include "retry_backoff.h"

static const uint64_t PAUSE_NS = UINT64_C(30000000000);
static const uint64_t LONGEST_PAUSE_NS = UINT64_C(480000000000);
enum { RETRIES_MAX = 3 };

bool tp_retry_backoff_note_in_use(struct tp_retry_backoff *aside, uint64_t now_ns)
{
	uint64_t pause_ns = aside->pause_ns ? aside->pause_ns * 2 : PAUSE_NS;
	aside->pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
	aside->since_ns = now_ns;
	return aside->n_returns < RETRIES_MAX;
}

void tp_retry_backoff_note_open(struct tp_retry_backoff *aside)
{
	aside->n_returns += aside->pause_ns != 0;
	aside->pause_ns = 0;
}

bool tp_retry_backoff_can_try(const struct tp_retry_backoff *aside, uint64_t now_ns)
{
	return now_ns - aside->since_ns >= aside->pause_ns;
}
