/* SPDX-License-Identifier: Apache-2.0 */
/* Compares runs: times with intervals, findings that are new or gone, and promised gains. */
#include "comparable.h"
#include "diff_warnings.h"
#include "place_match.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct maker {
	struct tp_run_diff *out;
	const struct tp_diff_request *request;
	struct tp_arena *arena;
};

static const struct tp_run_values *run_at(const struct tp_diff_request *request, size_t i)
{
	return i < request->n_base ? request->base[i] : request->now[i - request->n_base];
}

static size_t n_runs(const struct tp_diff_request *request)
{
	return request->n_base + request->n_now;
}

/* ---- times ------------------------------------------------------------------------------- */

/* Returns the first run in which the fact is not known to be above zero; NULL if there is none. */
static const struct tp_run_values *first_without(const struct tp_diff_request *request,
						 tp_fact_id fact)
{
	for (size_t i = 0; i < n_runs(request); i++) {
		const struct tp_quantity *value = &run_at(request, i)->facts[fact];
		if (!value->is_known || !(value->value > 0))
			return run_at(request, i);
	}
	return NULL;
}

static struct tp_run_value *values_of(const struct tp_diff_request *request, tp_fact_id fact)
{
	struct tp_run_value *out = tp_alloc(n_runs(request) * sizeof(*out));
	for (size_t i = 0; i < n_runs(request); i++)
		out[i] = tp_run_value_of(&run_at(request, i)->facts[fact]);
	return out;
}

static double mean_of(const struct tp_run_value *values, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i].value;
	return sum / (double)n;
}

static struct tp_change change_of(const struct tp_gate_estimate *estimate, double neutral)
{
	return (struct tp_change){
		.is_known = true,
		.difference = estimate->value,
		.low = estimate->low,
		.high = estimate->high,
		.is_sure = estimate->low > neutral || estimate->high < neutral,
	};
}

static struct tp_change difference(const struct tp_diff_request *request,
				   const struct tp_run_value *values,
				   const struct tp_gate_design *design)
{
	struct tp_gate_estimate estimate;
	size_t n = request->n_base;
	tp_gate_estimate_make(&estimate, values, n, values + n, request->n_now, design);
	struct tp_change out = change_of(&estimate, 0);
	out.base = mean_of(values, n);
	out.now = mean_of(values + n, request->n_now);
	return out;
}

static double confidence_of(const struct tp_diff_request *request)
{
	return request->confidence > 0 ? request->confidence : TP_GATE_CONFIDENCE;
}

/* `unit` is what noise is relative to, in the unit of the values. */
static struct tp_gate_design plan_of(const struct tp_diff_request *request, double confidence,
				     double unit)
{
	return (struct tp_gate_design){.is_paired = request->is_paired,
				       .confidence = confidence,
				       .noise = unit * TP_GATE_ASSUMED_NOISE,
				       .spread_min = unit * TP_GATE_SPREAD_MIN,
				       .is_now_first = request->is_now_first};
}

static void make_ratio(const struct maker *m, const struct tp_run_value *values,
		       struct tp_gate_estimate *ratio)
{
	const struct tp_diff_request *request = m->request;
	struct tp_spread *spread = &m->out->spread;
	const struct tp_gate_design design = plan_of(request, confidence_of(request), 1);
	size_t n = request->n_base;
	tp_gate_ratio_make(ratio, values, n, values + n, request->n_now, &design);
	m->out->ratio = change_of(ratio, 1);
	m->out->ratio.base = mean_of(values, n);
	m->out->ratio.now = mean_of(values + n, request->n_now);
	spread->run_to_run_ratio = ratio->spread;
	spread->is_assumed = ratio->is_assumed;
	spread->smallest_ratio = sqrt(ratio->high / ratio->low) - 1;
}

/* The difference in ns is derived from the ratio: one interval, two units. */
static void make_times(const struct maker *m, tp_fact_id fact, struct tp_gate_estimate *ratio)
{
	struct tp_run_value *values = values_of(m->request, fact);
	make_ratio(m, values, ratio);
	free(values);
	m->out->step = m->out->ratio;
	m->out->step.difference = m->out->step.now - m->out->step.base;
	m->out->step.low = m->out->step.base * (ratio->low - 1);
	m->out->step.high = m->out->step.base * (ratio->high - 1);
	if (!m->out->is_of_steps && fmax(m->out->step.base, m->out->step.now) < TP_GATE_RUN_MIN)
		tp_diff_warn(
			m->out,
			"runs below half a second are mostly the start of a process, which varies "
			"more than the interval says");
}

/* ---- parts ------------------------------------------------------------------------------- */

static bool all_have_parts(const struct tp_diff_request *request)
{
	for (size_t i = 0; i < n_runs(request); i++)
		if (!run_at(request, i)->has_parts ||
		    run_at(request, i)->has_steps != run_at(request, 0)->has_steps)
			return false;
	return true;
}

/* If one run is compared with one other, each part has the assumed noise of the whole step: time
 * may shift between parts by chance, so each part may change by as much as the step. */
static void make_part(const struct maker *m, enum tp_part part, double confidence)
{
	const struct tp_diff_request *request = m->request;
	struct tp_run_value *values = tp_alloc(n_runs(request) * sizeof(*values));
	const struct tp_gate_design design = plan_of(request, confidence, m->out->step.base);
	for (size_t i = 0; i < n_runs(request); i++) {
		values[i].value = run_at(request, i)->part_ns[part];
		values[i].error = run_at(request, i)->part_error_ns[part];
	}
	m->out->parts[part] = difference(request, values, &design);
	free(values);
}

static void sort_parts(struct tp_run_diff *out)
{
	for (int i = 0; i < TP_N_PARTS; i++) {
		int at = i;
		while (at > 0 && out->parts[out->order[at - 1]].base < out->parts[i].base) {
			out->order[at] = out->order[at - 1];
			at--;
		}
		out->order[at] = (enum tp_part)i;
	}
}

/* Six comparisons at once: each interval is widened so that all are valid together (Bonferroni). */
static void make_parts(const struct maker *m)
{
	bool is_known = all_have_parts(m->request);
	for (int part = 0; part < TP_N_PARTS; part++) {
		if (is_known)
			make_part(m, (enum tp_part)part,
				  1 - (1 - confidence_of(m->request)) / TP_N_PARTS);
		else
			m->out->parts[part].why = "not measured in all runs";
	}
	sort_parts(m->out);
}

/* ---- findings, settings and places that are new or gone ------------------------------------ */

static void add_item(const struct maker *m, enum tp_item_kind kind, const char *name,
		     const char *base, const char *now)
{
	if (m->out->n_items == TP_DIFF_ITEMS_MAX)
		m->out->n_left_out++;
	else
		m->out->items[m->out->n_items++] = (struct tp_diff_item){kind, name, base, now};
}

static bool has_state(const struct tp_run_values *run, const char *rule,
		      enum tp_finding_state state)
{
	for (size_t i = 0; i < run->n_findings; i++)
		if (strcmp(run->findings[i].rule, rule) == 0)
			return run->findings[i].state == state;
	return false;
}

static bool all_have_state(const struct tp_run_values *const *runs, size_t n, const char *rule,
			   enum tp_finding_state state)
{
	for (size_t i = 0; i < n; i++)
		if (!has_state(runs[i], rule, state))
			return false;
	return true;
}

struct side {
	const struct tp_run_values *const *runs;
	size_t n;
};

/* True if the finding is advice whose rule fired in all runs of `of`, and was judged but quiet in
 * all runs of `other`: a rule that could not be judged there has not disappeared. */
static bool is_only_of(const struct tp_value_finding *finding, struct side of, struct side other)
{
	return finding->is_advice &&
	       all_have_state(of.runs, of.n, finding->rule, TP_FINDING_FIRED) &&
	       all_have_state(other.runs, other.n, finding->rule, TP_FINDING_QUIET);
}

static void compare_findings(const struct maker *m)
{
	const struct side base = {m->request->base, m->request->n_base};
	const struct side now = {m->request->now, m->request->n_now};
	for (size_t i = 0; i < base.runs[0]->n_findings; i++) {
		const struct tp_value_finding *f = &base.runs[0]->findings[i];
		if (is_only_of(f, base, now))
			add_item(m, TP_ITEM_FINDING, f->rule, f->title, NULL);
	}
	for (size_t i = 0; i < now.runs[0]->n_findings; i++) {
		const struct tp_value_finding *f = &now.runs[0]->findings[i];
		if (is_only_of(f, now, base))
			add_item(m, TP_ITEM_FINDING, f->rule, NULL, f->title);
	}
}

/* Counts that a user sets, in addition to the facts that are named settings. */
static bool is_setting(tp_fact_id fact)
{
	static const enum tp_fact counts[] = {TP_FACT_LOADER_WORKERS, TP_FACT_LOADER_BATCH_SIZE,
					      TP_FACT_LOADER_PREFETCH, TP_FACT_COMPUTE_THREADS};
	for (size_t i = 0; i < TP_ARRAY_LEN(counts); i++)
		if (fact == counts[i])
			return true;
	return tp_text_starts_with(tp_fact_desc(fact)->name, "set.");
}

static const char *setting_text(const struct maker *m, tp_fact_id fact, double value)
{
	if (strcmp(tp_fact_desc(fact)->unit, "bool") == 0)
		return value != 0 ? "yes" : "no";
	return tp_arena_printf(m->arena, "%g", value);
}

static void compare_settings(const struct maker *m)
{
	for (tp_fact_id fact = 0; fact < tp_n_facts; fact++) {
		const struct tp_quantity *base = &m->request->base[0]->facts[fact];
		const struct tp_quantity *now = &m->request->now[0]->facts[fact];
		if (!is_setting(fact) || (!base->is_known && !now->is_known))
			continue;
		/* A setting that is visible only when it is used is unknown until then. */
		const char *a = base->is_known ? setting_text(m, fact, base->value) : NULL;
		const char *b = now->is_known ? setting_text(m, fact, now->value) : NULL;
		if (!a || !b || strcmp(a, b) != 0)
			add_item(m, TP_ITEM_SETTING, tp_fact_desc(fact)->name, a, b);
	}
}

static const char *variable_of(const struct tp_run_values *run, const char *name)
{
	for (size_t i = 0; i < run->n_variables; i++)
		if (strcmp(run->variables[i].name, name) == 0)
			return run->variables[i].value;
	return NULL;
}

static void compare_variables(const struct maker *m)
{
	const struct tp_run_values *base = m->request->base[0];
	const struct tp_run_values *now = m->request->now[0];
	for (size_t i = 0; i < base->n_variables; i++) {
		const char *name = base->variables[i].name;
		const char *b = variable_of(now, name);
		if (!b || strcmp(base->variables[i].value, b) != 0)
			add_item(m, TP_ITEM_SETTING, name, base->variables[i].value, b);
	}
	for (size_t i = 0; i < now->n_variables; i++)
		if (!variable_of(base, now->variables[i].name))
			add_item(m, TP_ITEM_SETTING, now->variables[i].name, NULL,
				 now->variables[i].value);
}

/* A place missing from a report took less than the places shown there, which is less than
 * TP_GATE_PLACE_MIN after the first ten. */
enum { PLACES_MAX = 10 };

static void compare_places(const struct maker *m, const struct tp_run_values *of,
			   const struct tp_run_values *other, bool is_now)
{
	tp_fact_id whole = of->has_steps ? TP_FACT_STEP_TIME : TP_FACT_RUN_WINDOW;
	double least = of->facts[whole].value * TP_GATE_PLACE_MIN;
	if (!other->places.n) /* places were not measured there */
		return;
	const size_t *same = tp_place_match(&other->places, &of->places, m->arena);
	for (size_t i = 0; i < of->places.n && i < PLACES_MAX; i++) {
		const struct tp_value_place *place = &of->places.items[i];
		if (place->per_step_ns < least || same[i] < other->places.n)
			continue;
		const char *time = tp_arena_printf(m->arena, "%.3g ms%s", place->per_step_ns / 1e6,
						   tp_run_diff_per_step(m->out));
		/* A line may be listed once for each part. */
		const char *name =
			place->part ? tp_arena_printf(m->arena, "%s, %s", place->text, place->part)
				    : place->text;
		add_item(m, TP_ITEM_PLACE, name, is_now ? NULL : time, is_now ? time : NULL);
	}
}

/* ---- promised gains ---------------------------------------------------------------------- */

/* Returns true if the number that the advice should change did change, by a tenth or more:
 * otherwise the advice was not followed, and the rule is quiet for another reason. */
static bool has_moved(const struct tp_promise *promise)
{
	double larger = fmax(fabs(promise->before), fabs(promise->after));
	return promise->has_fact &&
	       fabs(promise->after - promise->before) > TP_GATE_MOVED_MIN * larger;
}

static void add_gain(const struct maker *m, const struct tp_value_finding *finding)
{
	struct tp_run_diff *out = m->out;
	struct tp_promise promise = {.finding = finding, .fact = finding->moves};
	if (out->n_promises == TP_DIFF_PROMISES_MAX || !out->ratio.is_known)
		return;
	/* The speed-up is the reciprocal of the ratio of times. */
	double others = finding->is_gain_of_loop && out->is_of_steps ? out->special_ratio : 1;
	promise.measured = 1 / (out->ratio.difference * others);
	promise.measured_low = 1 / (out->ratio.high * others);
	promise.measured_high = 1 / (out->ratio.low * others);
	promise.is_reached = promise.measured_high >= finding->gain_low;
	if (finding->moves < tp_n_facts) {
		const struct tp_quantity *before = &m->request->base[0]->facts[finding->moves];
		const struct tp_quantity *after = &m->request->now[0]->facts[finding->moves];
		promise.has_fact = before->is_known && after->is_known;
		promise.before = before->value;
		promise.after = after->value;
	}
	if (has_moved(&promise))
		out->promises[out->n_promises++] = promise;
}

/* Compares advice that was given in the base and is gone now with the gain that it promised. */
static void compare_gains(const struct maker *m)
{
	const struct side base = {m->request->base, m->request->n_base};
	const struct side now = {m->request->now, m->request->n_now};
	for (size_t i = 0; i < base.runs[0]->n_findings; i++) {
		const struct tp_value_finding *f = &base.runs[0]->findings[i];
		if (is_only_of(f, base, now) && f->has_gain && f->gain_high > 1)
			add_gain(m, f);
	}
}

/* ---- the answer -------------------------------------------------------------------------- */

static const struct tp_run_values *failed_run(const struct tp_diff_request *request)
{
	for (size_t i = 0; i < n_runs(request); i++)
		if (tp_run_has_failed(run_at(request, i)))
			return run_at(request, i);
	return NULL;
}

static const char *difference_text(const struct maker *m)
{
	for (size_t i = 0; i < m->out->n_unlike; i++) {
		const struct tp_unlike *u = &m->out->unlike[i];
		if (!u->is_ignored)
			return tp_arena_printf(m->arena,
					       "not the same %s: %s; --ignore=%s compares anyway",
					       tp_comparable_name(u->aspect), u->what,
					       tp_comparable_name(u->aspect));
	}
	return NULL;
}

/* If one run is compared with one other, no change below the assumed noise is judged, in either
 * direction. */
static const char *describe_limit(const struct maker *m)
{
	const struct tp_spread *spread = &m->out->spread;
	if (spread->is_assumed)
		return tp_arena_printf(m->arena,
				       "with one run per side, two runs of the same program may "
				       "differ by %.1f %%; "
				       "record more runs",
				       100 * spread->smallest_ratio);
	return tp_arena_printf(m->arena, "changes below %.1f %% cannot be seen with these runs",
			       100 * spread->smallest_ratio);
}

static void judge(const struct maker *m, const struct tp_gate_estimate *ratio)
{
	struct tp_run_diff *out = m->out;
	out->answer = TP_GATE_UNDECIDED;
	const struct tp_run_values *failed = failed_run(m->request);
	if (!out->is_comparable)
		out->unsound_because = difference_text(m);
	else if (failed)
		out->unsound_because =
			tp_arena_printf(m->arena, "the program of %s did not end well",
					failed->name);
	if (out->unsound_because)
		out->undecided_because = out->unsound_because;
	else if (!out->ratio.is_known)
		out->undecided_because = out->ratio.why;
	else
		out->answer = tp_gate_verdict(ratio, m->request->margin_ratio);
	out->hides_special =
		out->ratio.is_known && out->is_of_steps &&
		tp_pairs_hide_special(out->ratio.is_sure ? TP_PAIRS_DIFFERENT : TP_PAIRS_ALIKE,
				      out->ratio.difference, out->special_ratio);
	if (out->answer == TP_GATE_PASS && out->is_of_steps && out->special_ratio > 1) {
		out->answer = TP_GATE_UNDECIDED;
		out->undecided_because = TP_GATE_SPECIAL_DIFFER;
	}
	if (out->answer == TP_GATE_UNDECIDED && !out->undecided_because)
		out->undecided_because = describe_limit(m);
}

/* Selects the time of a step if all runs have steps; of the whole run if all are complete runs. */
static tp_fact_id time_to_compare(const struct maker *m)
{
	const struct tp_run_values *without = first_without(m->request, TP_FACT_STEP_TIME);
	m->out->is_of_steps = !without;
	if (!without)
		return TP_FACT_STEP_TIME;
	const char *why = tp_arena_printf(m->arena, "no steps are known of %s", without->name);
	for (size_t i = 0; i < n_runs(m->request); i++) {
		const char *mode = run_at(m->request, i)->mode;
		if (!mode || strcmp(mode, "run") != 0 ||
		    first_without(m->request, TP_FACT_RUN_DURATION)) {
			m->out->step.why = why;
			m->out->ratio.why = why;
			return tp_n_facts;
		}
	}
	tp_diff_warn(m->out, tp_arena_printf(m->arena, "%s: whole runs are compared", why));
	return TP_FACT_RUN_DURATION;
}

void tp_run_diff_make(struct tp_run_diff *out, const struct tp_diff_request *request,
		      struct tp_arena *arena)
{
	const struct maker m = {out, request, arena};
	struct tp_gate_estimate ratio = {0};
	*out = (struct tp_run_diff){
		.base = request->base,
		.now = request->now,
		.spread = {.n_base = request->n_base,
			   .n_now = request->n_now,
			   .is_paired = request->is_paired},
		.has_gate = request->has_gate,
		.margin_ratio = request->margin_ratio,
	};
	tp_comparable_check(out, request, arena);
	tp_diff_warn_of_runs(out, request, arena);
	tp_fact_id time = time_to_compare(&m);
	if (time < tp_n_facts)
		make_times(&m, time, &ratio);
	make_parts(&m);
	compare_findings(&m);
	compare_settings(&m);
	compare_variables(&m);
	compare_places(&m, request->base[0], request->now[0], false);
	compare_places(&m, request->now[0], request->base[0], true);
	compare_gains(&m);
	judge(&m, &ratio);
}
