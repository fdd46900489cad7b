/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one sample of a network costs, layer by layer, and what it costs to split it in space: sums
 * over shapes, nothing measured. Any thread.
 *
 * For a layer of Ci channels in and Co out, extents X in and Y out (their products |X| and |Y|),
 * kernel K, stride S, b bytes a number:
 *
 *   extents     Y = ceil(X / S); of an upconv Y = X S; padded so that nothing else is lost
 *   memory      kept for the way back: the input, b Ci |X|. A sample needs the most, over all
 *               layers, of what is kept up to one and the gradients of both its sides:
 *               max over l of b (sum of Ci |X| up to l + Ci |X| + Co |Y| of l)
 *   operations  2 Ci Co |K| |Y| forward (|X| for an upconv), three times that there and back
 *   traffic     of each product each side once: 3 b (Ci |X| + Co |Y| + weights) there and back
 *   halo        a slab of one dimension d lacks h = ceil((K - S) / 2) planes of the input at
 *               either side, and ceil(h / S) of the output's gradient on the way back (the other
 *               way round for an upconv). A plane has 1 / X of the numbers. A device with two
 *               neighbours sends both, whatever the number of slabs: as many bytes as it lacks
 *   slabs       at most X / h in the layer that bears least, so that no halo lies in two neighbours
 *
 * The dimension is the one whose halos are smallest. Weights and what layers without products do
 * (pool, pointwise) move no traffic here: fused, they need none of their own. What a library takes
 * for workspaces is not in it, so memory is what a sample needs at least.
 *
 * Sources: N. Dryden et al., Improving Strong-Scaling of CNN Training by Exploiting Finer-Grained
 * Parallelism, arXiv 1903.06681 (halos of spatial convolutions and a model of each layer; abstract
 * read 2026-11-22, formulas ours); stas00/ml-engineering, training/performance (the way back costs
 * twice the way there; read 2026-11-20).
 */
#ifndef TRAINPROF_SRC_ADVISE_FACTS_LAYER_COST_H
#define TRAINPROF_SRC_ADVISE_FACTS_LAYER_COST_H

#include <stddef.h>

enum tp_layer_kind {
	TP_LAYER_CONV,
	TP_LAYER_UPCONV, /* transposed: extents grow by the stride */
	TP_LAYER_POOL,
	TP_LAYER_POINTWISE, /* norms, activations, copies: kernel and stride 1 */
	TP_LAYER_DENSE,     /* no extents */
	TP_N_LAYER_KINDS
};

enum { TP_LAYER_MAX_EXTENTS = 3 };

/* Numbers are whole and at least 1; they are doubles because their products are large. */
struct tp_layer {
	enum tp_layer_kind kind;
	int n_extents; /* 0 for dense */
	double channels;
	double channels_out;
	double extent[TP_LAYER_MAX_EXTENTS];
	double kernel[TP_LAYER_MAX_EXTENTS];
	double stride[TP_LAYER_MAX_EXTENTS];
	double times; /* so many of them, one behind the other */
};

/* Of one sample, there and back. */
struct tp_layer_costs {
	double sample_bytes;
	double weight_bytes;
	double operations;
	double least_bytes; /* of device memory traffic */
	int split; /* the dimension in which slabs are cut, of extent[]; -1: none has extents */
	double halo_bytes;
	double halo_messages;
	double slabs; /* at most; infinite when no layer needs a halo */
};

struct tp_layer_costs tp_layer_costs_sum(const struct tp_layer *layers, size_t n,
					 double number_bytes);

#endif
