/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a comparison of runs in words. */
#include "diff_sentences.h"

#include "report/digest/gain_text.h"

#include "trainprof/base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *tp_diff_title(const struct tp_run_diff *diff)
{
	if (!diff->ratio.is_known)
		return "CANNOT COMPARE";
	if (diff->unsound_because)
		return "NOT COMPARABLE";
	if (diff->is_unfinished || diff->hides_special)
		return "UNDECIDED";
	if (!diff->ratio.is_sure)
		return "NO DIFFERENCE SEEN";
	return diff->ratio.difference > 1 ? "SLOWER" : "FASTER";
}

/* A signed percent of a ratio of times: "+10", "-0.8". */
static void add_percent(struct tp_buf *out, double ratio)
{
	double percent = 100 * (ratio - 1);
	tp_buf_printf(out, "%+.*f", fabs(percent) < 9.95 ? 1 : 0, percent);
}

void tp_diff_add_sentence(struct tp_buf *out, const struct tp_run_diff *diff)
{
	const struct tp_change *ratio = &diff->ratio;
	if (!ratio->is_known) {
		tp_buf_printf(out, "Not all runs have a time to compare: %s.", ratio->why);
		return;
	}
	if (diff->unsound_because)
		tp_buf_printf(out, "%c%s. ", toupper((unsigned char)diff->unsound_because[0]),
			      diff->unsound_because + 1);
	tp_buf_printf(out, "%s became %s%s: ", tp_unit_time(ratio->base).text,
		      tp_unit_time(ratio->now).text, tp_run_diff_per_step(diff));
	add_percent(out, ratio->difference);
	tp_buf_puts(out, " % (");
	add_percent(out, ratio->low);
	tp_buf_puts(out, " to ");
	add_percent(out, ratio->high);
	tp_buf_puts(out, ").");
}

static void add_runs(struct tp_buf *out, const struct tp_spread *spread)
{
	if (spread->is_paired)
		tp_buf_printf(out, "%zu pair%s of runs", spread->n_base,
			      spread->n_base == 1 ? "" : "s");
	else
		tp_buf_printf(out, "%zu run%s against %zu", spread->n_base,
			      spread->n_base == 1 ? "" : "s", spread->n_now);
}

void tp_diff_add_evidence(struct tp_buf *out, const struct tp_run_diff *diff)
{
	const struct tp_spread *spread = &diff->spread;
	add_runs(out, spread);
	if (!diff->ratio.is_known) {
		tp_buf_puts(out, ".");
		return;
	}
	if (spread->is_assumed)
		tp_buf_printf(out,
			      ". How much two runs of the same program differ was not measured: "
			      "%.1f %% is assumed.",
			      100 * spread->run_to_run_ratio);
	else
		tp_buf_printf(out, "; runs of one side differ by %.1f %%.",
			      100 * spread->run_to_run_ratio);
	tp_buf_printf(out, " Changes below %.1f %% cannot be seen.", 100 * spread->smallest_ratio);
}

/* More names would fill the screen; JSON has them all. */
enum { NAMES_MAX = 5 };

void tp_diff_add_names(struct tp_buf *out, const struct tp_run_values *const *runs, size_t n)
{
	size_t n_shown = n > NAMES_MAX ? 1 : n;
	for (size_t i = 0; i < n_shown; i++)
		tp_buf_printf(out, "%s%s", i ? ", " : "", runs[i]->name);
	if (n > n_shown)
		tp_buf_printf(out, " and %zu more", n - n_shown);
	const char *label = runs[0]->label;
	if (label && *label && strcmp(label, tp_text_base_name(runs[0]->name)) != 0)
		tp_buf_printf(out, " (%s)", label);
}

/* ---- the table ---- */

static struct tp_unit_text signed_time(struct tp_unit_scale scale, double ns)
{
	struct tp_unit_text out = {{0}};
	const char *sign = ns < 0 ? "-" : "+";
	snprintf(out.text, sizeof(out.text), "%s%.38s", sign, tp_unit_scaled(scale, fabs(ns)).text);
	return out;
}

static struct tp_diff_row row_of(const char *name, const struct tp_change *change,
				 struct tp_unit_scale scale)
{
	struct tp_diff_row row = {.name = name, .is_sure = change->is_sure};
	if (!change->is_known) {
		row.base = row.now = row.difference = (struct tp_unit_text){"unknown"};
		return row;
	}
	row.base = tp_unit_scaled(scale, change->base);
	row.now = tp_unit_scaled(scale, change->now);
	row.difference = signed_time(scale, change->difference);
	snprintf(row.interval.text, sizeof(row.interval.text), "(%.15s to %.15s)",
		 signed_time(scale, change->low).text, signed_time(scale, change->high).text);
	return row;
}

size_t tp_diff_rows(struct tp_diff_row rows[1 + TP_N_PARTS], const struct tp_run_diff *diff)
{
	size_t n = 0;
	double largest = fmax(diff->step.base, diff->step.now);
	struct tp_unit_scale scale = tp_unit_scale_for(largest);
	rows[n++] = row_of(diff->is_of_steps ? "step" : "run", &diff->step, scale);
	for (int i = 0; i < TP_N_PARTS; i++) {
		const struct tp_change *part = &diff->parts[diff->order[i]];
		if (part->is_known && part->base <= 0 && part->now <= 0)
			continue;
		rows[n++] = row_of(tp_part_name(diff->order[i]), part, scale);
	}
	return n;
}

/* ---- lines ---- */

void tp_diff_add_difference(struct tp_buf *out, const struct tp_unlike *unlike)
{
	tp_buf_printf(out, "%s (%s): %s; now %s%s", unlike->what,
		      tp_comparable_name(unlike->aspect), unlike->base, unlike->now,
		      unlike->is_ignored ? "" : " - not comparable");
}

void tp_diff_add_item(struct tp_buf *out, const struct tp_diff_item *item)
{
	static const char *const words[] = {"advice", "setting", "place"};
	tp_buf_printf(out, "%s %s: ", words[item->kind], item->name);
	if (item->kind == TP_ITEM_SETTING)
		tp_buf_printf(out, "%s -> %s", item->base ? item->base : "not seen",
			      item->now ? item->now : "not seen");
	else if (item->now)
		tp_buf_printf(out, "new: %s", item->now);
	else
		tp_buf_printf(out, "gone: %s", item->base);
}

static void add_moved(struct tp_buf *out, const struct tp_promise *promise)
{
	const struct tp_fact_desc *fact = tp_fact_desc(promise->fact);
	struct tp_unit_text before, after;
	if (strcmp(fact->unit, "ratio") == 0) {
		before = tp_unit_percent(promise->before);
		after = tp_unit_percent(promise->after);
	} else {
		before = tp_unit_value(promise->before, fact->unit);
		after = tp_unit_value(promise->after, fact->unit);
	}
	tp_buf_printf(out, " %s: %s -> %s.", fact->name, before.text, after.text);
}

void tp_diff_add_gain(struct tp_buf *out, const struct tp_run_diff *diff,
		      const struct tp_promise *promise)
{
	const struct tp_value_finding *finding = promise->finding;
	const char *kind = tp_report_gain_kind(finding->gain_low, finding->gain_high);
	tp_buf_printf(out, "%s no longer applies. Promised: ", finding->rule);
	if (strcmp(kind, "floor") == 0)
		tp_buf_printf(out, "at least %.2f times as fast", finding->gain_low);
	else
		tp_buf_printf(out, "%.2f to %.2f times as fast", finding->gain_low,
			      finding->gain_high);
	tp_buf_printf(out, "; measured%s: %.2f (%.2f to %.2f).",
		      diff->n_promises > 1 ? ", with all changes" : "", promise->measured,
		      promise->measured_low, promise->measured_high);
	if (!promise->is_reached)
		tp_buf_puts(out, " That is less than promised.");
	if (promise->has_fact)
		add_moved(out, promise);
}

void tp_diff_add_verdict(struct tp_buf *out, const struct tp_run_diff *diff)
{
	double margin = 100 * diff->margin_ratio;
	bool is_said = diff->undecided_because ==
		       (diff->ratio.is_known ? diff->unsound_because : diff->ratio.why);
	if (diff->answer == TP_GATE_FAIL)
		tp_buf_printf(out, "Gate: fails, it is slower by more than %.3g %%.", margin);
	else if (diff->answer == TP_GATE_PASS)
		tp_buf_printf(out, "Gate: passes, it is not slower by %.3g %%.", margin);
	else
		tp_buf_printf(out, "Gate: cannot tell whether it is slower by %.3g %%%s%s.", margin,
			      is_said ? "" : ": ", is_said ? "" : diff->undecided_because);
}
