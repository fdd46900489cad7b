/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling periods that are unlikely to be synchronous with a program.
 *
 * With the requested period itself, a loop of that length, or of half or double that length, would
 * be sampled at the same place each time: people choose round numbers for both. With a period close
 * to it, the sampled place in such a loop would move slowly and look like a slower loop. So every
 * period is far from the requested one, and its ratio to it is a noble number: one that is as far
 * from all simple fractions as a number can be. In addition, the period of the target's first
 * thread is drawn again every few samples. A thread that is born later keeps the period that was
 * set at its fork: the kernel offers no way to change it.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_PERIOD_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

/* Rates (1 / period) lie within this share around the requested one, which is their mean. */
#define TP_PERF_JITTER_RATIO 0.4

/* Returns the next number of a stream of 64 random bits (splitmix64, Steele et al. 2014). */
uint64_t tp_perf_random(uint64_t *seed);
/* Returns the n-th period of a stream; any successive ones are spread evenly over all values. */
uint64_t tp_perf_period(uint64_t period_ns, uint64_t seed, uint32_t n);

/* When sampling periods are drawn again, and the resulting rate. */

struct tp_perf_period_schedule {
	uint64_t seed;
	uint64_t period_ns;     /* requested */
	unsigned factor;        /* set by the governor */
	uint32_t n_drawn;       /* number of periods so far */
	uint64_t n_samples;     /* of the target's first thread, at the last draw */
	uint64_t drawn_ns;      /* time of the last draw */
	double rated_periods;   /* number that a busy CPU would have had so far */
	uint64_t rated_from_ns; /* time when the factor changed */
	uint64_t started_ns;
};

/* Keeps `pace->seed`. */
void tp_perf_period_schedule_start(struct tp_perf_period_schedule *pace, uint64_t period_ns,
				   uint64_t now_ns);
/* Sets another factor. The average rate still includes the earlier time. */
void tp_perf_period_schedule_set_factor(struct tp_perf_period_schedule *pace, unsigned factor,
					uint64_t now_ns);
/* True if the target's first thread, which is running now with n_samples so far, shall get a new
 * period. Not more often than every few samples: setting a period restarts it, and a thread that
 * computes little would never reach its end. The rule counts time, not only samples: otherwise long
 * periods would last longer, and the rate would be too low. */
bool tp_perf_period_schedule_is_due(const struct tp_perf_period_schedule *pace, uint64_t n_samples,
				    uint64_t now_ns);
/* Draws a new period. Each draw cuts off half a period on average; shorter periods keep the
 * rate. */
uint64_t tp_perf_period_schedule_draw(struct tp_perf_period_schedule *pace, uint64_t n_samples,
				      uint64_t now_ns);
/* Returns the number of periods that a busy CPU would have had since the start. */
double tp_perf_period_schedule_periods(const struct tp_perf_period_schedule *pace, uint64_t now_ns);
/* Returns the average since the start; 0 before any time has passed. */
double tp_perf_period_schedule_rate_hz(struct tp_perf_period_schedule *pace, uint64_t now_ns);

#endif
