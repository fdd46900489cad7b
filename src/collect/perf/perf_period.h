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

#include <stdint.h>

/* Rates (1 / period) lie within this share around the asked one, which is their mean. */
#define TP_PERF_JITTER_RATIO 0.4

/* The next number of a stream of 64 random bits (splitmix64, Steele et al. 2014). */
uint64_t tp_perf_random(uint64_t *seed);
/* The n-th period of a stream; any successive ones are spread evenly over all that there are. */
uint64_t tp_perf_period(uint64_t period_ns, uint64_t seed, uint32_t n);

#endif
