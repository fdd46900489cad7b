/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the network that a file of facts describes, layer by layer, and derives facts
 * (layer_cost.h):
 *
 *   "network": { "number_bytes": 4, "layers": [
 *     { "kind": "conv", "in": [4, 512, 512, 512], "out": 16, "kernel": 3, "stride": 2 },
 *     { "kind": "dense", "in": [2048], "out": 4 } ] }
 *
 * "in" has the channels, then one to three extents (none for dense). "out" is the number of
 * channels of the output, by default the same; kernel and stride are a number or one for each
 * extent, by default 1; "times" repeats a layer. All are whole numbers of at least 1.
 */
#ifndef TRAINPROF_SRC_ADVISE_FACTS_LAYER_LIST_H
#define TRAINPROF_SRC_ADVISE_FACTS_LAYER_LIST_H

#include "advise/condition/json_form.h"

#include "trainprof/base/json.h"

/* Reads the member "network" of `root`, if there is one, and sets the facts model.* of a sample
 * that the file does not set itself; their origin is "derived". model.state_bytes is then only
 * weights and gradients, its lower bound. model.sample_time_ns needs model.operations_per_s.
 * Mistakes are kept in the form, with their line. */
void tp_layer_list_read(struct tp_json_form *form, const struct tp_json *root,
			struct tp_quantity facts[TP_MAX_FACTS]);
/* Appends the JSON Schema of "network": a member "network" of "properties". */
void tp_layer_list_schema(struct tp_json_writer *w);
/* Appends the members of "$defs" that the schema refers to. */
void tp_layer_list_definitions(struct tp_json_writer *w);

#endif
