/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the time between two polls, and tells new waits from those that last. */
#include "poll_pause.h"

#include "trainprof/base/clock.h"

#include <math.h>

enum { QUIET_POLLS = 10 };

#define DELAY_MAX_NS     TP_NS_PER_S
#define REPEAT_PERIOD_NS TP_NS_PER_S
#define RATE_MIN_HZ      0.1
/* A wake-up costs at least 25 us of CPU, whatever it finds: after QUIET_POLLS in a row without a
 * new wait, the distance of the next ones is multiplied by this factor; by less if a thread queues
 * for a CPU, where inspections show what it lost the CPU at. */
#define QUIET_FACTOR   4
#define CROWDED_FACTOR 2

bool tp_emitted_wait_lasts(const struct tp_emitted_wait *wait, uint64_t n_runs, enum tp_state state)
{
	return wait->time_ns > 0 && wait->n_runs == n_runs && wait->state == state;
}

bool tp_emitted_wait_is_current(const struct tp_emitted_wait *wait, uint64_t now_ns)
{
	return now_ns - wait->time_ns < REPEAT_PERIOD_NS;
}

void tp_poll_pause_add(struct tp_poll_pause *self, double cost_ns, bool has_new_wait)
{
	self->cost_ns += (cost_ns - self->cost_ns) / 8;
	self->n_quiet = has_new_wait ? 0 : self->n_quiet + 1;
}

/* xorshift64*; Vigna 2016. */
static double random_unit(struct tp_poll_pause *self)
{
	self->random ^= self->random >> 12;
	self->random ^= self->random << 25;
	self->random ^= self->random >> 27;
	return (double)(self->random * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

uint64_t tp_poll_pause_next_ns(struct tp_poll_pause *self, double rate_hz, double cpu_share)
{
	double delay_ns = (double)TP_NS_PER_S / fmax(rate_hz, RATE_MIN_HZ);
	if (self->n_quiet >= QUIET_POLLS)
		delay_ns *= self->is_crowded ? CROWDED_FACTOR : QUIET_FACTOR;
	if (cpu_share > 0)
		delay_ns = fmax(delay_ns, self->cost_ns / cpu_share);
	return (uint64_t)fmin(delay_ns * (0.5 + random_unit(self)), (double)DELAY_MAX_NS) + 1;
}
