/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network as a file of facts tells it, layer by layer, and the facts that follow (layer_cost.h):
 *
 *   "network": { "number_bytes": 4, "layers": [
 *     { "kind": "conv", "in": [4, 512, 512, 512], "out": 16, "kernel": 3, "stride": 2 },
 *     { "kind": "dense", "in": [2048], "out": 4 } ] }
 *
 * "in" has the channels, then one to three extents (none for dense). "out" are the channels of the
 * output, by default as many; kernel and stride are a number or one for each extent, by default 1;
 * "times" repeats a layer. All are whole numbers of at least 1.
 */
#ifndef TRAINPROF_SRC_ADVISE_FACTS_LAYER_LIST_H
#define TRAINPROF_SRC_ADVISE_FACTS_LAYER_LIST_H

#include "advise/condition/json_form.h"

#include "trainprof/base/json.h"

/*
 * Read the member "network" of `root`, if there is one, and set the facts model.* of a sample that
 * the file does not tell itself; origin derived. model.state_bytes is then weights and gradients
 * alone, the least that it can be. model.sample_time_ns needs model.operations_per_s. What is wrong
 * is kept in the form, with its line.
 */
void tp_layer_list_read(struct tp_json_form *form, const struct tp_json *root,
			struct tp_quantity facts[TP_MAX_FACTS]);
/* Append what "network" may be, as JSON Schema: a member "network" of "properties". */
void tp_layer_list_schema(struct tp_json_writer *w);
/* Append the members of "$defs" that it refers to. */
void tp_layer_list_definitions(struct tp_json_writer *w);

#endif
