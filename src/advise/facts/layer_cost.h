/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the cost of one sample of a network, layer by layer, and the cost of splitting it in
 * space: sums over shapes, nothing measured. Any thread.
 *
 * For a layer of Ci channels in and Co out, extents X in and Y out (their products |X| and |Y|),
 * kernel K, stride S, b bytes per number:
 *
 *   extents     Y = ceil(X / S); for an upconv Y = X S; padded so that nothing else is lost
 *   memory      kept for the backward pass: the input, b Ci |X|. A sample needs the maximum, over
 *               all layers, of what is kept up to a layer and the gradients of both its sides:
 *               max over l of b (sum of Ci |X| up to l + Ci |X| + Co |Y| of l)
 *   operations  2 Ci Co |K| |Y| forward (|X| for an upconv), three times that for both passes
 *   traffic     each operand of each product once: 3 b (Ci |X| + Co |Y| + weights) for both passes
 *   halo        a slab of one dimension d lacks h = ceil((K - S) / 2) planes of the input on
 *               each side, and ceil(h / S) of the output's gradient in the backward pass (the
 *               reverse for an upconv). A plane has 1 / X of the numbers. A device with two
 *               neighbours sends both, whatever the number of slabs: as many bytes as it lacks
 *   slabs       at most X / h in the layer with the lowest limit, so that no halo spans two
 *               neighbours
 *
 * The dimension is the one whose halos are smallest. Weights and layers without products (pool,
 * pointwise) cause no traffic here: fused, they need none of their own. Workspaces of libraries are
 * not included, so memory is the minimum that a sample needs.
 *
 * Sources: N. Dryden et al., Improving Strong-Scaling of CNN Training by Exploiting Finer-Grained
 * Parallelism, arXiv 1903.06681 (halos of spatial convolutions and a model of each layer; abstract
 * read 2026-11-22, formulas ours); stas00/ml-engineering, training/performance (the backward pass
 * costs twice the forward pass; read 2026-11-20).
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
	double times; /* number of such layers, one after the other */
};

/* The cost of one sample, forward and backward pass. */
struct tp_layer_costs {
	double sample_bytes;
	double weight_bytes;
	double operations;
	double least_bytes; /* of device memory traffic */
	int split; /* dimension of extent[] in which slabs are cut; -1 = no layer has extents */
	double halo_bytes;
	double halo_messages;
	double slabs; /* upper bound; infinite if no layer needs a halo */
};

struct tp_layer_costs tp_layer_costs_sum(const struct tp_layer *layers, size_t n,
					 double number_bytes);

#endif
