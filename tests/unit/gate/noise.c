/* SPDX-License-Identifier: Apache-2.0 */
/* Generates simulated runs. */
#include "noise.h"

#include <math.h>

double noise_normal(struct noise *noise)
{
	return sqrt(-2 * log(noise_uniform(noise))) * cos(6.283185307179586 * noise_uniform(noise));
}

const char *noise_name(enum noise_kind kind)
{
	static const char *const names[] = {
		"quiet",         "busy neighbour",     "drifting clock",
		"bimodal steps", "epochs with pauses", "wandering machine"};
	return names[kind];
}

enum { N_STEPS = 200, N_BATCHES = 10 };

/* Generates the steps of one run: correlated noise of 3 % and spikes on 1 % of them, as
 * docs/design/gate.md describes, and the additional noise of the kind. */
static void fill(struct noise *noise, double *steps, double level)
{
	const double phi = 0.5;
	double value = noise_normal(noise);
	double load = 0;
	for (int i = 0; i < N_STEPS; i++) {
		double step = level * (1 + 0.03 * value);
		value = phi * value + sqrt(1 - phi * phi) * noise_normal(noise);
		if (noise_uniform(noise) < 0.01)
			step *= 1.5;
		if (noise->kind == NOISE_NEIGHBOUR) {
			if (noise_uniform(noise) < 0.05)
				load = noise_uniform(noise) < 0.5 ? 0 : 0.15 * noise_uniform(noise);
			step *= 1 + load;
		}
		if (noise->kind == NOISE_BIMODAL && noise_uniform(noise) < 1.0 / 3)
			step *= 1.5;
		if (noise->kind == NOISE_EPOCHS && i % 50 == 49)
			step += 5 * level * (1 + 0.2 * noise_normal(noise));
		steps[i] = step;
	}
}

double noise_run(struct noise *noise, double slowdown, double *error)
{
	double steps[N_STEPS];
	double batches[N_BATCHES] = {0};
	double mean = 0;
	double variance = 0;
	double between = noise->kind == NOISE_NEIGHBOUR ? 0.01 : 0.005;
	double level = slowdown * (1 + between * noise_normal(noise));
	if (noise->kind == NOISE_DRIFT)
		level *= pow(1 + (noise->drift_ratio > 0 ? noise->drift_ratio : 0.01),
			     (double)noise->n_runs);
	if (noise->kind == NOISE_WANDER) {
		if (noise->n_runs % 2 == 0)
			noise->wander_ratio = 0.03 * noise_normal(noise);
		level *= 1 + noise->wander_ratio;
	}
	noise->n_runs++;
	fill(noise, steps, level);
	for (int i = 0; i < N_STEPS; i++) {
		mean += steps[i] / N_STEPS;
		batches[i * N_BATCHES / N_STEPS] += steps[i] * N_BATCHES / N_STEPS;
	}
	for (int i = 0; i < N_BATCHES; i++)
		variance += pow(batches[i] - mean, 2) / (N_BATCHES - 1);
	*error = sqrt(variance / N_BATCHES);
	return mean;
}
