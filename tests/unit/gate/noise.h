/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated runs with known true values, and with the noise of real ones. The same seed gives the
 * same digits everywhere. */
#ifndef TRAINPROF_TESTS_UNIT_GATE_NOISE_H
#define TRAINPROF_TESTS_UNIT_GATE_NOISE_H

#include <stddef.h>
#include <stdint.h>

enum noise_kind {
	NOISE_QUIET,     /* runs differ by 0.5 %, neighbouring steps are correlated */
	NOISE_NEIGHBOUR, /* another program takes 0 to 15 % of the time in some stretches */
	NOISE_DRIFT,     /* the clock rate falls by 1 % from each run to the next */
	NOISE_BIMODAL,   /* a third of the steps takes 1.5 times as long */
	NOISE_EPOCHS,    /* a pause of 5 steps at the end of each epoch of 50 */
	NOISE_WANDER,    /* the machine is some 3 % faster or slower for two runs at a time */
	N_NOISES
};

struct noise {
	uint64_t state;
	enum noise_kind kind;
	size_t n_runs;       /* number generated so far: drift continues */
	double drift_ratio;  /* of NOISE_DRIFT, from run to run; 0 = 1 % */
	double wander_ratio; /* of the current two runs */
};

/* splitmix64 */
static inline double noise_uniform(struct noise *noise)
{
	uint64_t z = (noise->state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

double noise_normal(struct noise *noise);

/* Returns the mean step of a run of 200 steps of length 1 times `slowdown`, and its standard error
 * from the run's own ten batches. */
double noise_run(struct noise *noise, double slowdown, double *error);

const char *noise_name(enum noise_kind kind);

#endif
