/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in the attributes of perf events. */
#include "perf_attr.h"

#include "perf_decode.h"

#include <linux/hw_breakpoint.h>
#include <time.h>

enum {
	KERNEL_FRAMES = 64,
	WAKEUP_HITS = 32, /* soon enough to remove a breakpoint that is hit all the time */
	SWITCH_OUT_STACK_BYTES = 16 << 10,
};

bool tp_perf_has_event_id(const struct tp_perf_setup *setup)
{
	return setup->is_attaching || setup->has_leaves;
}

/* Attributes that all kinds share: records end with the same fields, and per-thread events wait for
 * exec and are inherited. */
static struct perf_event_attr attr_base(const struct tp_perf_setup *setup)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       (tp_perf_has_event_id(setup) ? PERF_SAMPLE_ID : 0),
		.disabled = 1,
		.inherit = !setup->is_wide,
		.enable_on_exec = !setup->is_attaching && !setup->is_wide,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
	};
}

struct perf_event_attr tp_perf_attr_sampler(const struct tp_perf_setup *setup, uint64_t period_ns)
{
	struct perf_event_attr attr = attr_base(setup);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = period_ns;
	attr.sample_type |= PERF_SAMPLE_IP;
	attr.exclude_kernel = !setup->has_kernel;
	attr.exclude_idle = setup->is_wide;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	if (setup->has_kernel) {
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr.exclude_callchain_user = 1; /* unreliable; stacks are copied */
		attr.sample_max_stack = KERNEL_FRAMES;
	}
	if (setup->stack_bytes) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = tp_perf_user_regs();
		attr.sample_stack_user = setup->stack_bytes;
	}
	return attr;
}

struct perf_event_attr tp_perf_attr_switches(const struct tp_perf_setup *setup)
{
	struct perf_event_attr attr = attr_base(setup);
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.context_switch = 1;
	attr.exclude_kernel = 1; /* it counts nothing; otherwise it would need more privileges */
	return attr;
}

/* The kernel counts a switch while the leaving thread is still current: its registers and stack are
 * those of its last place. */
struct perf_event_attr tp_perf_attr_switch_out(const struct tp_perf_setup *setup)
{
	struct perf_event_attr attr = tp_perf_attr_sampler(setup, TP_PERF_SWITCH_OUT_EVERY);
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.enable_on_exec = 0;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
	if (attr.sample_stack_user > SWITCH_OUT_STACK_BYTES)
		attr.sample_stack_user = SWITCH_OUT_STACK_BYTES;
	return attr;
}

/* The breakpoint must not survive an exec: then another program has the address. */
struct perf_event_attr tp_perf_attr_breakpoint(uint64_t address, unsigned len, bool is_call)
{
	const struct tp_perf_setup setup = {0};
	struct perf_event_attr attr = attr_base(&setup);
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.bp_type = is_call ? HW_BREAKPOINT_X : HW_BREAKPOINT_W;
	attr.bp_addr = address;
	attr.bp_len = is_call ? sizeof(long) : len;
	attr.sample_period = 1;
	attr.sample_type |= PERF_SAMPLE_IP;
	attr.disabled = attr.inherit = attr.enable_on_exec = 0;
	attr.watermark = 0;
	attr.wakeup_events = WAKEUP_HITS;
	attr.exclude_kernel = 1;
	attr.remove_on_exec = 1;
	return attr;
}
