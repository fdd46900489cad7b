/* SPDX-License-Identifier: Apache-2.0 */
/* State machine: idle, then watching launches, then cleared or taken over. */
#include "callback_takeover.h"

static const uint64_t QUIET_NS = 2000000000;
static const uint64_t WATCH_NS = 1000000000;
static const uint64_t LONGEST_PAUSE_NS = 64000000000;
enum {
	FEW_LAUNCHES = 16, /* fewer launches per second than this do not count as activity */
	BUSY_SECONDS = 10, /* consecutive seconds of activity */
};

static void reset(struct tp_callback_takeover *theft, uint64_t now_ns)
{
	theft->watch_ns = 0;
	theft->n_busy = 0;
	theft->moved_ns = now_ns;
}

/* Evaluates one second of watching. */
static enum tp_callback_takeover_verdict check_watched(struct tp_callback_takeover *theft,
						       uint64_t now_ns, uint64_t n_called)
{
	if (now_ns - theft->watch_ns < WATCH_NS)
		return TP_CALLBACK_TAKEOVER_NONE;
	if (n_called - theft->n_called >= FEW_LAUNCHES) {
		theft->watch_ns = now_ns;
		theft->n_called = n_called;
		return ++theft->n_busy >= BUSY_SECONDS ? TP_CALLBACK_TAKEOVER_DONE
						       : TP_CALLBACK_TAKEOVER_NONE;
	}
	reset(theft, now_ns);
	theft->pause_ns =
		theft->pause_ns * 2 < LONGEST_PAUSE_NS ? theft->pause_ns * 2 : LONGEST_PAUSE_NS;
	return TP_CALLBACK_TAKEOVER_UNWATCH;
}

enum tp_callback_takeover_verdict tp_callback_takeover_check(struct tp_callback_takeover *theft,
							     uint64_t now_ns, uint64_t n_moved,
							     uint64_t n_called)
{
	bool is_first = theft->moved_ns == 0;
	if (is_first || n_moved != theft->n_moved) {
		bool was_watched = theft->watch_ns != 0;
		theft->n_moved = n_moved;
		theft->pause_ns = QUIET_NS;
		reset(theft, now_ns);
		return was_watched ? TP_CALLBACK_TAKEOVER_UNWATCH : TP_CALLBACK_TAKEOVER_NONE;
	}
	if (theft->watch_ns)
		return check_watched(theft, now_ns, n_called);
	if (now_ns - theft->moved_ns < theft->pause_ns)
		return TP_CALLBACK_TAKEOVER_NONE;
	theft->watch_ns = now_ns;
	theft->n_called = n_called;
	return TP_CALLBACK_TAKEOVER_WATCH;
}
