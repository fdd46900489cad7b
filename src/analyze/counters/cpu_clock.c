/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the time in which the main thread ran. */
#include "cpu_clock.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

void tp_cpu_clock_init(struct tp_cpu_clock *clock, const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	*clock = (struct tp_cpu_clock){0};
	if (!analysis->has_runs || analysis->main_task == TP_NO_TASK)
		return;
	size_t first = trace->run_index[analysis->main_task];
	uint64_t sum_ns = 0;
	clock->runs = trace->runs + first;
	clock->n = trace->run_index[analysis->main_task + 1] - first;
	clock->before_ns = tp_alloc((clock->n + 1) * sizeof(*clock->before_ns));
	for (size_t i = 0; i < clock->n; i++) {
		clock->before_ns[i] = sum_ns;
		sum_ns += clock->runs[i].end_ns - clock->runs[i].start_ns;
	}
}

void tp_cpu_clock_release(struct tp_cpu_clock *clock)
{
	free(clock->before_ns);
	*clock = (struct tp_cpu_clock){0};
}

uint64_t tp_cpu_clock_ns(const struct tp_cpu_clock *clock, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, clock->n, clock->runs[at].start_ns > time_ns);
	if (at == 0)
		return 0;
	const struct tp_run *run = &clock->runs[at - 1];
	uint64_t until_ns = time_ns < run->end_ns ? time_ns : run->end_ns;
	return clock->before_ns[at - 1] + until_ns - run->start_ns;
}
