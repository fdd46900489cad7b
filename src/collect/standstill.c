/* SPDX-License-Identifier: Apache-2.0 */
/* Compares how long the loop slept with how long it intended to. */
#include "standstill.h"

#include "trainprof/base/clock.h"
#include "trainprof/model/stop.h"

/* Rings hold more than this of a busy program, and a busy machine delays a wake-up by less. */
#define STILL_MIN_NS (TP_NS_PER_S / 2)
/* The two clocks are read one after the other. */
#define ASLEEP_MIN_NS (TP_NS_PER_S / 10)

struct tp_standstill_now tp_standstill_read(void)
{
	struct tp_standstill_now now;
	now.now_ns = tp_clock_now_ns();
	now.boot_ns = tp_clock_boot_ns();
	return now;
}

void tp_standstill_check(struct tp_sink *sink, const struct tp_standstill_now *before,
			 const struct tp_standstill_now *after, uint64_t meant_ns, bool was_stopped,
			 pid_t pid)
{
	char reason[TP_STOP_REASON_SIZE];
	uint64_t passed_ns = after->now_ns - before->now_ns;
	uint64_t boot_ns = after->boot_ns - before->boot_ns;
	if (boot_ns > passed_ns && boot_ns - passed_ns >= ASLEEP_MIN_NS) {
		tp_stop_format(reason, TP_STOP_SUSPENDED, 0, boot_ns - passed_ns);
		tp_sink_gap(sink, TP_STOP_SOURCE, reason, after->now_ns, after->now_ns, 0);
	}
	if (passed_ns < STILL_MIN_NS || passed_ns - STILL_MIN_NS < meant_ns)
		return;
	enum tp_stop_kind kind = was_stopped ? TP_STOP_SIGNAL : TP_STOP_MEASURER;
	tp_stop_format(reason, kind, was_stopped ? pid : 0, 0);
	tp_sink_gap(sink, TP_STOP_SOURCE, reason, before->now_ns, after->now_ns, 0);
}
