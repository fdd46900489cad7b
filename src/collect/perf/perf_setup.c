/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses rate, stack size and ring size by the capacity of the machine. */
#include "perf_setup.h"

#include "collect/machine/availability.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/stack/modules.h"
#include "trainprof/stack/symbol.h"

#include <errno.h>

enum {
	/* Half of it holds 30 samples with a stack: polls drain it before it wakes the loop. It is
	 * four times what kernel.perf_event_mlock_kb grants each user for a CPU, and is halved
	 * where that and RLIMIT_MEMLOCK do not suffice. */
	RING_PAGES = 512,
	RING_PAGES_ALL = 8192,
	STACK_BYTES_MAX = 65528,
};

/* Returns the ring size per CPU, so that all rings together stay within a bound on large
 * machines. */
static uint32_t ring_pages(uint32_t n_cpus)
{
	uint32_t pages = RING_PAGES;
	while (pages > 16 && pages * n_cpus > RING_PAGES_ALL)
		pages /= 2;
	return pages;
}

/* The rate is limited so that samples alone cost at most half of the allowed overhead. */
void tp_perf_setup_choose(struct tp_perf_setup *out, struct tp_perf_cost *cost,
			  const struct tp_collect_context *context,
			  struct tp_availability *availability)
{
	const struct tp_collect_config *config = context->config;
	uint32_t stack =
		config->stack_bytes < STACK_BYTES_MAX ? config->stack_bytes : STACK_BYTES_MAX;
	*out = (struct tp_perf_setup){
		.has_kernel = tp_perf_test_open(true) == 0,
		.has_switches = config->max_switch_rate_hz > 0,
		.has_leaves = config->max_switch_rate_hz > 0 && !config->is_attaching,
		.stack_bytes = stack / 8 * 8,
		.ring_pages = ring_pages(context->host->info.n_cpus),
	};
	out->has_leaves = out->has_leaves && out->has_kernel && out->stack_bytes > 0;
	tp_perf_cost_measure(cost, out);
	double rate_hz = config->sample_rate_hz;
	double most_hz = config->max_overhead_ratio / 2 / (cost->sample_ns * 1e-9);
	if (rate_hz > most_hz) {
		tp_availability_degrade(availability,
					"sampling at %.0f Hz instead of %.0f to stay below %.1f %%",
					most_hz, rate_hz, config->max_overhead_ratio * 100);
		rate_hz = most_hz;
	}
	double kernel_hz = context->host->perf_max_rate_hz;
	if (kernel_hz > 0 && rate_hz > kernel_hz)
		rate_hz = kernel_hz;
	out->period_ns = (uint64_t)((double)TP_NS_PER_S / (rate_hz > 0.1 ? rate_hz : 0.1));
}

static const char *explain_no_switch_out(int failure)
{
	bool is_short = failure == EMFILE || failure == ENFILE;
	return is_short ? "too few file descriptors" : tp_errno_text(failure);
}

void tp_perf_setup_report(const struct tp_perf_setup *asked, const struct tp_perf_events *events,
			  const struct tp_collect_context *context,
			  struct tp_availability *availability)
{
	const struct tp_perf_setup *got = &events->setup;
	if (asked->has_switches && !got->has_switches)
		tp_availability_degrade(availability,
					"no switch records: too few file descriptors");
	else if (asked->has_leaves && !got->has_leaves)
		tp_availability_degrade(availability, "no samples of threads that leave a CPU: %s",
					explain_no_switch_out(events->leaves_failure));
	if (got->stack_bytes < asked->stack_bytes)
		tp_availability_degrade(availability,
					"%u KiB of each stack: locked memory is limited",
					got->stack_bytes / 1024);
	context->actual->sample_rate_hz = (double)TP_NS_PER_S / (double)got->period_ns;
	context->actual->stack_bytes = got->stack_bytes;
}

void tp_perf_setup_load_symbols(const struct tp_perf_setup *setup,
				const struct tp_collect_context *context)
{
	struct tp_symbol symbol;
	struct tp_stack_frame frame = {
		.module = tp_modules_kernel(tp_task_tree_modules(context->tree))};
	if (setup->has_kernel)
		tp_symbol_find(&frame, &symbol);
}
