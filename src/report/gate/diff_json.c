/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the differences between runs as JSON (docs/diff.schema.json). */
#include "trainprof/report/diff_text.h"

#include "diff_sentences.h"

#include "trainprof/base/version.h"

static void write_runs(struct tp_json_writer *w, const char *key,
		       const struct tp_run_values *const *runs, size_t n)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '[');
	for (size_t i = 0; i < n; i++) {
		tp_json_open(w, '{');
		tp_json_put_string(w, "name", runs[i]->name);
		tp_json_put_known_string(w, "label", runs[i]->label);
		if (runs[i]->has_steps)
			tp_json_put_uint(w, "steps", runs[i]->n_steps);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

/* `name` is that of the member that holds the difference, with its unit. */
static void write_change(struct tp_json_writer *w, const char *name, const struct tp_change *change)
{
	tp_json_open(w, '{');
	if (change->is_known) {
		tp_json_put_number(w, "base_ns", change->base);
		tp_json_put_number(w, "new_ns", change->now);
		tp_json_put_number(w, name, change->difference);
		tp_json_write_key(w, "ci95");
		tp_json_open(w, '[');
		tp_json_write_number(w, change->low);
		tp_json_write_number(w, change->high);
		tp_json_close(w, ']');
		tp_json_put_bool(w, "is_sure", change->is_sure);
	} else {
		tp_json_put_string(w, "missing", change->why);
	}
	tp_json_close(w, '}');
}

static void write_parts(struct tp_json_writer *w, const struct tp_run_diff *diff)
{
	tp_json_write_key(w, "parts");
	tp_json_open(w, '{');
	for (int i = 0; i < TP_N_PARTS; i++) {
		tp_json_write_key(w, tp_part_name(diff->order[i]));
		write_change(w, "difference_ns", &diff->parts[diff->order[i]]);
	}
	tp_json_close(w, '}');
}

static void write_spread(struct tp_json_writer *w, const struct tp_run_diff *diff)
{
	tp_json_write_key(w, "noise");
	tp_json_open(w, '{');
	tp_json_put_string(w, "design", diff->spread.is_paired ? "paired" : "unpaired");
	tp_json_put_uint(w, "base_runs", diff->spread.n_base);
	tp_json_put_uint(w, "new_runs", diff->spread.n_now);
	if (diff->ratio.is_known) {
		tp_json_put_number(w, "run_to_run_ratio", diff->spread.run_to_run_ratio);
		tp_json_put_bool(w, "is_assumed", diff->spread.is_assumed);
		tp_json_put_number(w, "smallest_visible_ratio", diff->spread.smallest_ratio);
	}
	tp_json_close(w, '}');
}

static void write_differences(struct tp_json_writer *w, const struct tp_run_diff *diff)
{
	tp_json_put_bool(w, "is_comparable", diff->is_comparable);
	tp_json_write_key(w, "unlike");
	tp_json_open(w, '[');
	for (size_t i = 0; i < diff->n_unlike; i++) {
		const struct tp_unlike *u = &diff->unlike[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "aspect", tp_comparable_name(u->aspect));
		tp_json_put_string(w, "what", u->what);
		tp_json_put_string(w, "base", u->base);
		tp_json_put_string(w, "new", u->now);
		tp_json_put_bool(w, "is_ignored", u->is_ignored);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
	tp_json_write_key(w, "warnings");
	tp_json_open(w, '[');
	for (size_t i = 0; i < diff->n_warnings; i++)
		tp_json_write_string(w, diff->warnings[i]);
	tp_json_close(w, ']');
}

static void write_items(struct tp_json_writer *w, const struct tp_run_diff *diff)
{
	tp_json_write_key(w, "items");
	tp_json_open(w, '[');
	for (size_t i = 0; i < diff->n_items; i++) {
		const struct tp_diff_item *item = &diff->items[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "kind", tp_item_kind_name(item->kind));
		tp_json_put_string(w, "name", item->name);
		tp_json_put_known_string(w, "base", item->base);
		tp_json_put_known_string(w, "new", item->now);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
	tp_json_put_uint(w, "items_left_out", diff->n_left_out);
}

static void write_gain(struct tp_json_writer *w, const struct tp_promise *promise)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "rule", promise->finding->rule);
	tp_json_write_key(w, "promised");
	tp_json_open(w, '[');
	tp_json_write_number(w, promise->finding->gain_low);
	tp_json_write_number(w, promise->finding->gain_high);
	tp_json_close(w, ']');
	tp_json_put_string(w, "of", promise->finding->is_gain_of_loop ? "loop" : "step");
	tp_json_put_number(w, "measured", promise->measured);
	tp_json_write_key(w, "measured_ci95");
	tp_json_open(w, '[');
	tp_json_write_number(w, promise->measured_low);
	tp_json_write_number(w, promise->measured_high);
	tp_json_close(w, ']');
	tp_json_put_bool(w, "is_reached", promise->is_reached);
	if (promise->has_fact) {
		tp_json_put_string(w, "fact", tp_fact_desc(promise->fact)->name);
		tp_json_put_number(w, "before", promise->before);
		tp_json_put_number(w, "after", promise->after);
	}
	tp_json_close(w, '}');
}

static void write_gate(struct tp_json_writer *w, const struct tp_run_diff *diff)
{
	tp_json_write_key(w, "gate");
	tp_json_open(w, '{');
	tp_json_put_number(w, "margin_ratio", diff->margin_ratio);
	tp_json_put_string(w, "answer", tp_gate_verdict_name(diff->answer));
	tp_json_put_known_string(w, "because", diff->undecided_because);
	tp_json_close(w, '}');
}

void tp_report_diff_json(struct tp_json_writer *w, const struct tp_run_diff *diff)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-diff/1.0");
	tp_json_put_string(w, "version", tp_version());
	write_runs(w, "base", diff->base, diff->spread.n_base);
	write_runs(w, "new", diff->now, diff->spread.n_now);
	tp_json_put_string(w, "of", diff->is_of_steps ? "step" : "run");
	tp_json_write_key(w, "time");
	write_change(w, "difference_ns", &diff->step);
	tp_json_write_key(w, "ratio");
	write_change(w, "ratio", &diff->ratio);
	if (diff->is_unfinished)
		tp_json_put_bool(w, "is_unfinished", true);
	write_parts(w, diff);
	write_spread(w, diff);
	write_differences(w, diff);
	write_items(w, diff);
	tp_json_write_key(w, "promises");
	tp_json_open(w, '[');
	for (size_t i = 0; i < diff->n_promises; i++)
		write_gain(w, &diff->promises[i]);
	tp_json_close(w, ']');
	if (diff->has_gate)
		write_gate(w, diff);
	tp_json_close(w, '}');
}
