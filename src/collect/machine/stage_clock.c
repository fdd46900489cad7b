/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the time of stages, round by round. */
#include "stage_clock.h"

#include "trainprof/base/clock.h"

#include <stddef.h>
#include <string.h>

#define SHORT_NS (500 * TP_NS_PER_US)
/* After a round in which stages took this long the CPU time is read: another program may have had
 * the CPU. */
#define LONG_ROUND_NS (300 * TP_NS_PER_US)

enum { ROUNDS = 4 };

enum tp_stage tp_stage_enter_at(struct tp_stage_clock *clock, enum tp_stage stage, uint64_t now_ns)
{
	if (!clock)
		return TP_STAGE_NONE;
	enum tp_stage before = clock->stage;
	if (before != TP_STAGE_NONE)
		clock->turn_ns[before] += now_ns - clock->since_ns;
	clock->stage = stage;
	clock->since_ns = now_ns;
	return before;
}

enum tp_stage tp_stage_enter(struct tp_stage_clock *clock, enum tp_stage stage)
{
	return clock ? tp_stage_enter_at(clock, stage, tp_clock_now_ns()) : TP_STAGE_NONE;
}

uint64_t tp_stage_used_ns(const struct tp_stage_clock *clock, uint64_t since_ns)
{
	uint64_t elapsed_ns = tp_clock_now_ns() - since_ns;
	if (!clock || elapsed_ns < SHORT_NS)
		return elapsed_ns;
	uint64_t used_ns = tp_clock_thread_cpu_ns() - clock->turn_cpu_ns;
	return used_ns < elapsed_ns ? used_ns : elapsed_ns;
}

static uint64_t stages_ns(const struct tp_stage_clock *clock)
{
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < TP_N_STAGES; i++)
		sum_ns += clock->turn_ns[i];
	return sum_ns;
}

bool tp_stage_end_round(struct tp_stage_clock *clock)
{
	uint64_t before_ns = clock->earlier_ns;
	clock->earlier_ns = stages_ns(clock);
	return ++clock->n_rounds >= ROUNDS || clock->earlier_ns - before_ns >= LONG_ROUND_NS;
}

void tp_stage_update(struct tp_stage_clock *clock, uint64_t cpu_ns)
{
	uint64_t sum_ns = stages_ns(clock);
	uint64_t used_ns = cpu_ns - clock->turn_cpu_ns;
	double scale = sum_ns > used_ns ? (double)used_ns / (double)sum_ns : 1;
	for (size_t i = 0; i < TP_N_STAGES; i++)
		clock->cpu_ns[i] += scale * (double)clock->turn_ns[i];
	memset(clock->turn_ns, 0, sizeof(clock->turn_ns));
	clock->turn_cpu_ns = cpu_ns;
	clock->earlier_ns = 0;
	clock->n_rounds = 0;
}
