/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling periods that a program can hardly be in step with.
 *
 * Were the period the asked one, a loop of that length, of its half or of its double would be met
 * at the same place each time: people choose round numbers on both sides. Were it close to that,
 * such a loop would be met at places that move slowly, and would look like a slow one. So every
 * period is far from the asked one, and its ratio to it is a noble number: one that is as far from
 * all simple fractions as a number can be. Besides, the one that the target's first thread meets is
 * drawn anew every few samples. A thread born later keeps the period that was in force at its
 * birth: the kernel offers no way to change it.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_PERIOD_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

/* Rates (1 / period) lie within this share around the asked one, which is their mean. */
#define TP_PERF_JITTER_RATIO 0.4

/* The next number of a stream of 64 random bits (splitmix64, Steele et al. 2014). */
uint64_t tp_perf_random(uint64_t *seed);
/* The n-th period of a stream; any successive ones are spread evenly over all that there are. */
uint64_t tp_perf_period(uint64_t period_ns, uint64_t seed, uint32_t n);

/* When sampling periods are drawn anew, and the rate that comes of it. */

struct tp_perf_period_schedule {
	uint64_t seed;
	uint64_t period_ns;     /* asked for */
	unsigned factor;        /* that the governor puts on it */
	uint32_t n_drawn;       /* periods so far */
	uint64_t n_samples;     /* of the target's first thread, when the period was last drawn */
	uint64_t drawn_ns;      /* then */
	double rated_periods;   /* that a busy CPU would have had so far */
	uint64_t rated_from_ns; /* since the factor changed */
	uint64_t started_ns;
};

/* `pace->seed` stays. */
void tp_perf_period_schedule_start(struct tp_perf_period_schedule *pace, uint64_t period_ns,
				   uint64_t now_ns);
/* Another factor. The average rate remembers the time before. */
void tp_perf_period_schedule_set_factor(struct tp_perf_period_schedule *pace, unsigned factor,
					uint64_t now_ns);
/*
 * Whether the target's first thread, seen running now with n_samples so far, gets a new period. Not
 * more often than every few samples: setting a period starts it anew, and a thread that computes
 * little would never reach its end. After some time, not after some samples: else long periods
 * would last longer, and the rate be too low.
 */
bool tp_perf_period_schedule_is_due(const struct tp_perf_period_schedule *pace, uint64_t n_samples,
				    uint64_t now_ns);
/* A new period. Each draw cuts half a period off on average: shorter ones keep the rate. */
uint64_t tp_perf_period_schedule_draw(struct tp_perf_period_schedule *pace, uint64_t n_samples,
				      uint64_t now_ns);
/* How many a busy CPU would have had since the start. */
double tp_perf_period_schedule_periods(const struct tp_perf_period_schedule *pace, uint64_t now_ns);
/* On average since the start; 0 before any time has passed. */
double tp_perf_period_schedule_rate_hz(struct tp_perf_period_schedule *pace, uint64_t now_ns);

#endif
