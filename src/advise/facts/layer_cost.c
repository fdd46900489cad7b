/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the cost of a sample in each layer. */
#include "layer_cost.h"

#include <math.h>
#include <stdbool.h>

static double volume_of(const double *numbers, int n)
{
	double out = 1;
	for (int i = 0; i < n; i++)
		out *= numbers[i];
	return out;
}

static double extent_out(const struct tp_layer *layer, int d)
{
	if (layer->kind == TP_LAYER_UPCONV)
		return layer->extent[d] * layer->stride[d];
	return ceil(layer->extent[d] / layer->stride[d]);
}

static double numbers_in(const struct tp_layer *layer)
{
	return layer->channels * volume_of(layer->extent, layer->n_extents);
}

static double numbers_out(const struct tp_layer *layer)
{
	double out = layer->channels_out;
	for (int d = 0; d < layer->n_extents; d++)
		out *= extent_out(layer, d);
	return out;
}

static bool has_weights(const struct tp_layer *layer)
{
	return layer->kind == TP_LAYER_CONV || layer->kind == TP_LAYER_UPCONV ||
	       layer->kind == TP_LAYER_DENSE;
}

static double weights_of(const struct tp_layer *layer)
{
	return layer->channels * layer->channels_out * volume_of(layer->kernel, layer->n_extents);
}

static double operations_of(const struct tp_layer *layer)
{
	/* An upconv applies its kernel at each place of the input. */
	double places = layer->kind == TP_LAYER_UPCONV ? volume_of(layer->extent, layer->n_extents)
						       : numbers_out(layer) / layer->channels_out;
	return 3 * 2 * weights_of(layer) * places;
}

/* ---- halos ---- */

struct halo {
	double planes;      /* of the input, on each side */
	double planes_back; /* of the gradient of the output */
};

static struct halo halo_of(const struct tp_layer *layer, int d)
{
	double stride = layer->stride[d];
	double reach = ceil(fmax(layer->kernel[d] - stride, 0) / 2);
	double coarse = ceil(reach / stride);
	if (layer->kind == TP_LAYER_UPCONV)
		return (struct halo){.planes = coarse, .planes_back = reach};
	return (struct halo){.planes = reach, .planes_back = coarse};
}

static double halo_numbers(const struct tp_layer *layer, int d)
{
	struct halo halo = halo_of(layer, d);
	return 2 * layer->times *
	       (halo.planes * numbers_in(layer) / layer->extent[d] +
		halo.planes_back * numbers_out(layer) / extent_out(layer, d));
}

/* The dimension that all layers with extents have and whose halos are smallest; -1 = none. */
static int best_split(const struct tp_layer *layers, size_t n)
{
	int best = -1;
	double least = INFINITY;
	for (int d = 0; d < TP_LAYER_MAX_EXTENTS; d++) {
		bool is_there = false;
		double sum = 0;
		for (size_t i = 0; i < n; i++) {
			if (!layers[i].n_extents)
				continue;
			is_there = d < layers[i].n_extents;
			if (!is_there)
				break;
			sum += halo_numbers(&layers[i], d);
		}
		if (!is_there || sum >= least)
			continue;
		best = d;
		least = sum;
	}
	return best;
}

static double messages_of(const struct halo *halo)
{
	return (halo->planes > 0 ? 2 : 0) + (halo->planes_back > 0 ? 2 : 0);
}

static void add_halo(struct tp_layer_costs *costs, const struct tp_layer *layer,
		     double number_bytes)
{
	int d = costs->split;
	struct halo halo = halo_of(layer, d);
	costs->halo_bytes += number_bytes * halo_numbers(layer, d);
	costs->halo_messages += layer->times * messages_of(&halo);
	if (halo.planes > 0)
		costs->slabs = fmin(costs->slabs, floor(layer->extent[d] / halo.planes));
	if (halo.planes_back > 0)
		costs->slabs = fmin(costs->slabs, floor(extent_out(layer, d) / halo.planes_back));
}

/* ---- all layers ---- */

struct tp_layer_costs tp_layer_costs_sum(const struct tp_layer *layers, size_t n,
					 double number_bytes)
{
	struct tp_layer_costs costs = {.split = best_split(layers, n), .slabs = INFINITY};
	double kept = 0;
	double most = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tp_layer *layer = &layers[i];
		double in = numbers_in(layer);
		double out = numbers_out(layer);
		kept += layer->times * in;
		most = fmax(most, kept + in + out);
		if (has_weights(layer)) {
			double weights = weights_of(layer);
			costs.weight_bytes += layer->times * number_bytes * weights;
			costs.operations += layer->times * operations_of(layer);
			costs.least_bytes += layer->times * number_bytes * 3 * (in + out + weights);
		}
		if (costs.split >= 0 && layer->n_extents)
			add_halo(&costs, layer, number_bytes);
	}
	costs.sample_bytes = number_bytes * most;
	return costs;
}
