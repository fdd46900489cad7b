/* Quiet, then watched, then cleared or stolen. */
#include "callback_takeover.h"

static const uint64_t QUIET_NS = 2000000000;
static const uint64_t WATCH_NS = 1000000000;
static const uint64_t LONGEST_PAUSE_NS = 64000000000;
enum {
	FEW = 16,         /* launches in a second that do not count as going on */
	BUSY_ENOUGH = 10, /* seconds in a row */
};

static void rest(struct tp_theft *theft, uint64_t now_ns)
{
	theft->watch_ns = 0;
	theft->n_busy = 0;
	theft->moved_ns = now_ns;
}

/* A second at a time. */
static enum tp_theft_verdict look_watched(struct tp_theft *theft, uint64_t now_ns,
					  uint64_t n_called)
{
	if (now_ns - theft->watch_ns < WATCH_NS)
		return TP_THEFT_NONE;
	if (n_called - theft->n_called >= FEW) {
		theft->watch_ns = now_ns;
		theft->n_called = n_called;
		return ++theft->n_busy >= BUSY_ENOUGH ? TP_THEFT_STOLEN : TP_THEFT_NONE;
	}
	rest(theft, now_ns);
	theft->pause_ns =
		theft->pause_ns * 2 < LONGEST_PAUSE_NS ? theft->pause_ns * 2 : LONGEST_PAUSE_NS;
	return TP_THEFT_UNWATCH;
}

enum tp_theft_verdict tp_theft_look(struct tp_theft *theft, uint64_t now_ns, uint64_t n_moved,
				    uint64_t n_called)
{
	bool is_first = theft->moved_ns == 0;
	if (is_first || n_moved != theft->n_moved) {
		bool was_watched = theft->watch_ns != 0;
		theft->n_moved = n_moved;
		theft->pause_ns = QUIET_NS;
		rest(theft, now_ns);
		return was_watched ? TP_THEFT_UNWATCH : TP_THEFT_NONE;
	}
	if (theft->watch_ns)
		return look_watched(theft, now_ns, n_called);
	if (now_ns - theft->moved_ns < theft->pause_ns)
		return TP_THEFT_NONE;
	theft->watch_ns = now_ns;
	theft->n_called = n_called;
	return TP_THEFT_WATCH;
}
