/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a list of layers and derives the facts of a sample. */
#include "layer_list.h"

#include "layer_cost.h"

#include "trainprof/model/fact.h"

#include <math.h>

static const double MAX_NUMBER = 1e9;

static const char *const kinds[] = {[TP_LAYER_CONV] = "conv",   [TP_LAYER_UPCONV] = "upconv",
				    [TP_LAYER_POOL] = "pool",   [TP_LAYER_POINTWISE] = "pointwise",
				    [TP_LAYER_DENSE] = "dense", [TP_N_LAYER_KINDS] = NULL};

/* ---- one layer ---- */

static double whole_number(struct tp_json_form *form, const struct tp_json *value, const char *key)
{
	double number = tp_json_number(value, NAN);
	if (number >= 1 && number <= MAX_NUMBER && floor(number) == number)
		return number;
	tp_json_form_fail(form, value, "'%s' holds whole numbers from 1 to %.0f", key, MAX_NUMBER);
	return 1;
}

static double member_number(struct tp_json_form *form, const struct tp_json *object,
			    const char *key, double otherwise)
{
	const struct tp_json *member = tp_json_get(object, key);
	return member ? whole_number(form, member, key) : otherwise;
}

static void read_shape(struct tp_json_form *form, const struct tp_json *object,
		       struct tp_layer *out)
{
	size_t n = 0;
	const struct tp_json *list = tp_json_form_list(form, object, "in", true, &n);
	size_t most = out->kind == TP_LAYER_DENSE ? 1 : 1 + TP_LAYER_MAX_EXTENTS;
	size_t least = out->kind == TP_LAYER_DENSE ? 1 : 2;
	if (form->status)
		return;
	if (n < least || n > most) {
		tp_json_form_fail(form, list, "'in' of a %s layer is %s", kinds[out->kind],
				  out->kind == TP_LAYER_DENSE ? "[numbers]"
							      : "[channels, then 1 to 3 extents]");
		return;
	}
	out->n_extents = (int)n - 1;
	int i = -1;
	TP_JSON_EACH (item, list) {
		double number = whole_number(form, item, "in");
		if (i < 0)
			out->channels = number;
		else
			out->extent[i] = number;
		i++;
	}
}

/* Reads one number for all extents or one number per extent. */
static void read_each(struct tp_json_form *form, const struct tp_json *object, const char *key,
		      const struct tp_layer *layer, double out[TP_LAYER_MAX_EXTENTS])
{
	const struct tp_json *member = tp_json_get(object, key);
	bool is_list = tp_json_type(member) == TP_JSON_ARRAY;
	for (int d = 0; d < TP_LAYER_MAX_EXTENTS; d++)
		out[d] = is_list ? 1 : member_number(form, object, key, 1);
	if (member && (layer->kind == TP_LAYER_DENSE || layer->kind == TP_LAYER_POINTWISE))
		tp_json_form_fail(form, member, "a %s layer has no '%s'", kinds[layer->kind], key);
	if (!is_list)
		return;
	if (tp_json_count(member) != (size_t)layer->n_extents) {
		tp_json_form_fail(form, member,
				  "'%s' is one number, or one for each of the %d extents", key,
				  layer->n_extents);
		return;
	}
	int d = 0;
	TP_JSON_EACH (item, member)
		out[d++] = whole_number(form, item, key);
}

static void read_layer(struct tp_json_form *form, const struct tp_json *object,
		       struct tp_layer *out)
{
	static const char *const keys[] = {"kind", "in", "out", "kernel", "stride", "times", NULL};
	*out = (struct tp_layer){0};
	tp_json_form_check_keys(form, object, "a layer", keys);
	out->kind = (enum tp_layer_kind)tp_json_form_choice(form, object, "kind", kinds, -1);
	if (form->status)
		return;
	read_shape(form, object, out);
	out->channels_out = member_number(form, object, "out", out->channels);
	out->times = member_number(form, object, "times", 1);
	read_each(form, object, "kernel", out, out->kernel);
	read_each(form, object, "stride", out, out->stride);
	bool keeps_channels = out->kind == TP_LAYER_POOL || out->kind == TP_LAYER_POINTWISE;
	if (keeps_channels && out->channels_out != out->channels)
		tp_json_form_fail(form, object, "a %s layer puts out the channels that it takes in",
				  kinds[out->kind]);
}

/* ---- derived facts ---- */

static void set_derived(struct tp_quantity *facts, tp_fact_id fact, double value)
{
	if (facts[fact].is_known || !isfinite(value))
		return;
	facts[fact] = (struct tp_quantity){.is_known = true,
					   .origin = TP_ORIGIN_DERIVED,
					   .value = value,
					   .coverage = 1};
}

static void set_facts(struct tp_quantity *facts, const struct tp_layer_costs *costs)
{
	static const double WEIGHTS_AND_GRADIENTS = 2;
	set_derived(facts, TP_FACT_MODEL_SAMPLE, costs->sample_bytes);
	set_derived(facts, TP_FACT_MODEL_STATE, WEIGHTS_AND_GRADIENTS * costs->weight_bytes);
	set_derived(facts, TP_FACT_MODEL_OPERATIONS, costs->operations);
	set_derived(facts, TP_FACT_MODEL_LEAST, costs->least_bytes);
	if (costs->split < 0)
		return;
	set_derived(facts, TP_FACT_MODEL_HALO, costs->halo_bytes);
	set_derived(facts, TP_FACT_MODEL_HALO_MESSAGES, costs->halo_messages);
	set_derived(facts, TP_FACT_MODEL_SPLIT, costs->slabs);
}

static void read_network(struct tp_json_form *form, const struct tp_json *network,
			 struct tp_quantity *facts)
{
	static const char *const keys[] = {"number_bytes", "layers", NULL};
	size_t n = 0;
	size_t i = 0;
	tp_json_form_check_keys(form, network, "'network'", keys);
	double number_bytes = member_number(form, network, "number_bytes", 4);
	const struct tp_json *list = tp_json_form_list(form, network, "layers", true, &n);
	if (form->status)
		return;
	struct tp_layer *layers = tp_arena_array(form->arena, n, sizeof(*layers));
	TP_JSON_EACH (item, list)
		read_layer(form, item, &layers[i++]);
	if (form->status)
		return;
	struct tp_layer_costs costs = tp_layer_costs_sum(layers, n, number_bytes);
	set_facts(facts, &costs);
}

void tp_layer_list_read(struct tp_json_form *form, const struct tp_json *root,
			struct tp_quantity facts[TP_MAX_FACTS])
{
	const struct tp_json *network = tp_json_get(root, "network");
	const struct tp_quantity *rate = &facts[TP_FACT_MODEL_OPERATION_RATE];
	if (network)
		read_network(form, network, facts);
	const struct tp_quantity *operations = &facts[TP_FACT_MODEL_OPERATIONS];
	if (operations->is_known && rate->is_known && rate->value > 0)
		set_derived(facts, TP_FACT_MODEL_SAMPLE_TIME,
			    operations->value / rate->value * 1e9);
}

/* ---- schema ---- */

static void put_ref(struct tp_json_writer *w, const char *key, const char *path)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '{');
	tp_json_put_string(w, "$ref", path);
	tp_json_close(w, '}');
}

static void write_number(struct tp_json_writer *w, const char *key)
{
	put_ref(w, key, "#/$defs/whole");
}

static void write_number_or_list(struct tp_json_writer *w, const char *key)
{
	put_ref(w, key, "#/$defs/whole_or_list");
}

static void write_list(struct tp_json_writer *w, unsigned most)
{
	tp_json_put_string(w, "type", "array");
	tp_json_put_uint(w, "minItems", 1);
	tp_json_put_uint(w, "maxItems", most);
	write_number(w, "items");
}

static void write_texts(struct tp_json_writer *w, const char *key, const char *const *texts)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '[');
	for (size_t i = 0; texts[i]; i++)
		tp_json_write_string(w, texts[i]);
	tp_json_close(w, ']');
}

/* Opens an object that allows only its own keys, up to the content of "properties". */
static void open_object(struct tp_json_writer *w, const char *const *required)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "type", "object");
	tp_json_put_bool(w, "additionalProperties", false);
	write_texts(w, "required", required);
	tp_json_write_key(w, "properties");
	tp_json_open(w, '{');
}

static void close_object(struct tp_json_writer *w)
{
	tp_json_close(w, '}');
	tp_json_close(w, '}');
}

static void write_layer(struct tp_json_writer *w)
{
	static const char *const required[] = {"kind", "in", NULL};
	open_object(w, required);
	tp_json_write_key(w, "kind");
	tp_json_open(w, '{');
	write_texts(w, "enum", kinds);
	tp_json_close(w, '}');
	tp_json_write_key(w, "in");
	tp_json_open(w, '{');
	write_list(w, 1 + TP_LAYER_MAX_EXTENTS);
	tp_json_close(w, '}');
	write_number(w, "out");
	write_number_or_list(w, "kernel");
	write_number_or_list(w, "stride");
	write_number(w, "times");
	close_object(w);
}

void tp_layer_list_definitions(struct tp_json_writer *w)
{
	tp_json_write_key(w, "whole");
	tp_json_open(w, '{');
	tp_json_put_string(w, "type", "integer");
	tp_json_put_uint(w, "minimum", 1);
	tp_json_close(w, '}');
	tp_json_write_key(w, "whole_or_list");
	tp_json_open(w, '{');
	tp_json_write_key(w, "anyOf");
	tp_json_open(w, '[');
	tp_json_open(w, '{');
	tp_json_put_string(w, "$ref", "#/$defs/whole");
	tp_json_close(w, '}');
	tp_json_open(w, '{');
	write_list(w, TP_LAYER_MAX_EXTENTS);
	tp_json_close(w, '}');
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}

void tp_layer_list_schema(struct tp_json_writer *w)
{
	static const char *const required[] = {"layers", NULL};
	tp_json_write_key(w, "network");
	open_object(w, required);
	write_number(w, "number_bytes");
	tp_json_write_key(w, "layers");
	tp_json_open(w, '{');
	tp_json_put_string(w, "type", "array");
	tp_json_put_uint(w, "minItems", 1);
	tp_json_put_uint(w, "maxItems", TP_JSON_FORM_MAX_ITEMS);
	tp_json_write_key(w, "items");
	write_layer(w);
	tp_json_close(w, '}');
	close_object(w);
}
