/* SPDX-License-Identifier: Apache-2.0 */
/* Formats a plan as labelled lines. */
#include "plan_fields.h"

#include "report/digest/gain_text.h"

#include "trainprof/model/fact.h"
#include "trainprof/model/verdict_words.h"
#include "trainprof/report/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct lines {
	struct tp_arena *arena;
	struct tp_plan_field *items;
	size_t n;
	const char *label; /* label of the last line */
};

__attribute__((format(printf, 3, 4))) static void add_line(struct lines *lines, const char *label,
							   const char *format, ...)
{
	if (lines->n == TP_PLAN_FIELDS_MAX)
		return;
	struct tp_buf text = {0};
	va_list args;
	va_start(args, format);
	tp_buf_vprintf(&text, format, args);
	va_end(args);
	bool goes_on = lines->label && strcmp(lines->label, label) == 0;
	lines->items[lines->n++] =
		(struct tp_plan_field){.label = goes_on ? "" : label,
				       .text = tp_arena_strdup(lines->arena, tp_buf_text(&text))};
	lines->label = label;
	tp_buf_release(&text);
}

static const struct tp_finding *member(const struct tp_report_plan *plan,
				       const struct tp_plan_step *step, size_t i)
{
	return &plan->findings->items[step->advice[i]];
}

/* ---- what to do ---- */

static void add_how(struct lines *lines, const char *label, const struct tp_plan_action *planned)
{
	static const struct {
		const char *name;
		const char *word;
	} words[] = {{"pytorch", "PyTorch"}, {"jax", "JAX"}, {"tensorflow", "TF"}, {"c", "C, MPI"}};
	/* If one framework was recognised, the guide's line is about this run; an example may be
	 * about another framework. */
	if (planned->example && planned->n_how != 1) {
		add_line(lines, label, "%s", planned->example);
		return;
	}
	for (size_t i = 0; i < planned->n_how; i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (strcmp(words[k].name, planned->how[i].framework) == 0)
				add_line(lines, label, "%s: %s", words[k].word,
					 planned->how[i].text);
}

static void add_actions(struct lines *lines, const struct tp_plan_step *step)
{
	static const char *const labels[TP_N_PLAN_ACTION_ROLES] = {"do", "with", "room"};
	static const char *const before[TP_N_PLAN_ACTION_ROLES] = {"", "",
								   "if memory does not suffice: "};
	for (int role = 0; role < TP_N_PLAN_ACTION_ROLES; role++) {
		for (size_t i = 0; i < step->n_actions; i++) {
			const struct tp_plan_action *planned = &step->actions[i];
			if ((int)planned->role != role)
				continue;
			add_line(lines, labels[role], "%s%s%s%s%s", before[role], planned->text,
				 role ? " (trainprof guide " : "", role ? planned->technique : "",
				 role ? ")" : "");
			if (role != TP_PLAN_ACTION_OPENER)
				add_how(lines, labels[role], planned);
		}
	}
}

static bool is_action(const struct tp_plan_step *step, const char *technique)
{
	for (size_t i = 0; i < step->n_actions; i++)
		if (strcmp(step->actions[i].technique, technique) == 0)
			return true;
	return false;
}

/* Adds the other actions of the same rules. */
static void add_others(struct lines *lines, const struct tp_report_plan *plan,
		       const struct tp_plan_step *step)
{
	for (size_t i = 0; i < step->n_advice; i++) {
		const struct tp_finding *finding = member(plan, step, i);
		for (size_t k = 0; k < finding->n_actions; k++)
			if (!is_action(step, finding->actions[k].technique))
				add_line(lines, "or", "%s", finding->actions[k].text);
	}
}

/* ---- what it costs ---- */

static void add_price(struct lines *lines, const struct tp_report_plan *plan,
		      const struct tp_plan_step *step)
{
	for (size_t i = 0; i < step->n_advice; i++) {
		const struct tp_finding *finding = member(plan, step, i);
		const char *price = finding->price ? finding->price : "check the model's quality";
		bool is_stated = false;
		for (size_t k = 0; k < i; k++) {
			const char *before = member(plan, step, k)->price;
			is_stated |= before && strcmp(before, price) == 0;
		}
		if (finding->kind == TP_ADVICE_SEMANTIC)
			add_line(lines, "price", "changes the training: %s", price);
		else if (!is_stated && finding->price)
			add_line(lines, "price", "%s", price);
	}
}

static void add_yardstick(struct lines *lines, const char *label, const char *before,
			  const char *title, const struct tp_yardstick *yardstick)
{
	add_line(lines, label, "%s%s(trainprof guide %s).", before,
		 title ? tp_arena_printf(lines->arena, "%s ", title) : "", yardstick->technique);
	for (size_t i = 0; i < yardstick->n_reported; i++) {
		const struct tp_reported_result *reported = &yardstick->reported[i];
		add_line(lines, label, "%s Hardware: %s; against: %s. %s (checked %s)",
			 reported->text, reported->hardware, reported->baseline,
			 reported->source.title, reported->source.checked);
	}
}

/* The rate of the common yardstick is printed once, below the last step; another yardstick is
 * printed here. */
static void add_against(struct lines *lines, const struct tp_action_plan *action_plan,
			const struct tp_yardstick *against)
{
	if (!against)
		return;
	if (strcmp(against->technique, action_plan->yardstick->technique) == 0)
		add_line(lines, "against", "It must beat the alternative below: %s.",
			 against->title);
	else
		add_yardstick(lines, "against", "It must beat: ", against->title, against);
}

/* ---- what to check ---- */

bool tp_plan_step_rate(const struct tp_report_plan *plan, size_t i, struct tp_plan_step_rate *out)
{
	const struct tp_action_plan *action_plan = &plan->findings->action_plan;
	const struct tp_bound *bound = &action_plan->steps[i].so_far;
	if (!(action_plan->step_ns > 0) || !bound->is_known)
		return false;
	for (size_t k = 0; k <= i; k++)
		for (size_t t = 0; t < action_plan->steps[k].n_targets; t++)
			if (action_plan->steps[k].targets[t].is_of_loop)
				return false;
	double now = 1e9 / action_plan->step_ns;
	*out = (struct tp_plan_step_rate){now, now * bound->low, now * bound->high};
	return true;
}

static void add_target(struct lines *lines, const struct tp_plan_target *target, double step_ns)
{
	const char *name = tp_fact_desc(target->fact)->name;
	const char *whole = target->is_of_loop ? "loop" : "step";
	if (step_ns > 0 && !target->is_of_loop)
		add_line(lines, "check", "%s: now %s per step (%s); expect %s to %s", name,
			 tp_unit_time(target->now * step_ns).text,
			 tp_unit_percent(target->now).text,
			 tp_unit_time(target->best * step_ns).text,
			 tp_unit_time(target->worst * step_ns).text);
	else
		add_line(lines, "check", "%s: now %s; expect %s to %s of today's %s", name,
			 tp_unit_percent(target->now).text, tp_unit_percent(target->best).text,
			 tp_unit_percent(target->worst).text, whole);
}

/* A rate with only an upper end is not printed as an interval. */
static void add_rate(struct lines *lines, const struct tp_plan_step_rate *rate)
{
	double low = rate->low / rate->now;
	bool has_high = tp_gain_has_high(low, rate->high / rate->now);
	if (tp_gain_is_estimate(low) && !has_high)
		add_line(lines, "check",
			 "throughput: %s steps/s now, at least %s with all changes so far",
			 tp_unit_number(rate->now).text, tp_unit_number(rate->low).text);
	else if (has_high && tp_gain_is_estimate(low))
		add_line(lines, "check",
			 "throughput: %s steps/s now, %s to %s with all changes so far",
			 tp_unit_number(rate->now).text, tp_unit_number(rate->low).text,
			 tp_unit_number(rate->high).text);
	else if (has_high)
		add_line(lines, "check",
			 "throughput: %s steps/s now, up to %s with all changes so far",
			 tp_unit_number(rate->now).text, tp_unit_number(rate->high).text);
}

static void add_checks(struct lines *lines, const struct tp_report_plan *plan, size_t i)
{
	const struct tp_action_plan *action_plan = &plan->findings->action_plan;
	const struct tp_plan_step *step = &action_plan->steps[i];
	struct tp_plan_step_rate rate;
	for (size_t k = 0; k < step->n_targets; k++)
		add_target(lines, &step->targets[k], action_plan->step_ns);
	if (tp_plan_step_rate(plan, i, &rate))
		add_rate(lines, &rate);
	for (size_t k = 0; k < step->n_advice; k++)
		if (member(plan, step, k)->verify)
			add_line(lines, "check", "%s", member(plan, step, k)->verify);
}

/* ---- what it gains ---- */

static void add_gain(struct lines *lines, const struct tp_plan_step *step,
		     enum tp_sureness sureness)
{
	const struct tp_bound *gain = &step->gain;
	struct tp_buf text = {0};
	if (gain->is_known)
		tp_report_add_gain(&text, gain->low, gain->value, gain->high);
	else
		tp_buf_puts(&text, "not measured");
	add_line(lines, "gain", "%s, %s", tp_buf_text(&text), tp_sureness_name(sureness));
	tp_buf_release(&text);
}

static void add_bound(struct lines *lines, const struct tp_plan_step *step, size_t i)
{
	const struct tp_bound *bound = &step->so_far;
	struct tp_buf text = {0};
	if (bound->is_known)
		tp_report_add_gain_range(&text, bound->low, bound->value, bound->high);
	else
		tp_buf_puts(&text, "not measured");
	if (bound->is_known && i && !step->adds && step->gain.is_known)
		tp_buf_printf(&text, " (no more than %s alone)",
			      i == 1 ? "change 1" : "the changes before it");
	add_line(lines, "so far", "%s", tp_buf_text(&text));
	tp_buf_release(&text);
}

/* A limit below the expected rate would contradict it: it is named without its rate. */
static void add_stop(struct lines *lines, const struct tp_report_plan *plan, size_t i)
{
	const struct tp_plan_step *step = &plan->findings->action_plan.steps[i];
	double now = plan->findings->action_plan.step_ns > 0
			     ? 1e9 / plan->findings->action_plan.step_ns
			     : 0;
	double at = step->then_steps_per_s;
	if (!step->then_limit)
		return;
	const char *limit = tp_verdict_words_limit(tp_part_find(step->then_limit));
	bool is_above = now > 0 && step->so_far.is_known &&
			tp_report_gain_is_above(step->so_far.low, step->so_far.high, at / now);
	if (at > 0 && !is_above)
		add_line(lines, "then", "%s limits, at no more than %s steps/s", limit,
			 tp_unit_number(at).text);
	else
		add_line(lines, "then", "%s limits; at which rate is not known", limit);
}

/* ---- the whole plan ---- */

const char *tp_plan_step_summary(const struct tp_report_plan *plan, size_t i)
{
	const struct tp_plan_step *step = &plan->findings->action_plan.steps[i];
	const struct tp_finding *finding = member(plan, step, 0);
	/* A finding's headline describes its first action. */
	bool is_first = !step->n_actions ||
			(finding->n_actions &&
			 strcmp(finding->actions[0].technique, step->actions[0].technique) == 0);
	return is_first ? finding->headline : step->actions[0].text;
}

const char *tp_plan_step_title(struct tp_arena *arena, const struct tp_report_plan *plan, size_t i)
{
	return tp_arena_printf(arena, "%zu. %s", i + 1, tp_plan_step_summary(plan, i));
}

/* A stage's text about several ranks is left out for a single process. */
static void add_order(struct lines *lines, const struct tp_report_plan *plan,
		      const struct tp_plan_step *step)
{
	const struct tp_quantity *ranks = &plan->facts[TP_FACT_COMM_RANKS];
	const char *of_ranks = strstr(step->stage, ", on each rank");
	size_t len = strlen(step->stage);
	if (of_ranks && !(ranks->is_known && ranks->value > 1))
		len = (size_t)(of_ranks - step->stage);
	add_line(lines, "order", "stage %u of the diagnosis: %.*s", step->order, (int)len,
		 step->stage);
}

size_t tp_plan_step_fields(struct tp_arena *arena, const struct tp_report_plan *plan, size_t i,
			   struct tp_plan_field *out)
{
	const struct tp_plan_step *step = &plan->findings->action_plan.steps[i];
	struct lines lines = {.arena = arena, .items = out};
	for (size_t k = 0; k < step->n_advice; k++)
		add_line(&lines, "because", "%s", member(plan, step, k)->because);
	if (step->stage)
		add_order(&lines, plan, step);
	add_gain(&lines, step, member(plan, step, 0)->sureness);
	add_actions(&lines, step);
	add_others(&lines, plan, step);
	add_price(&lines, plan, step);
	add_against(&lines, &plan->findings->action_plan, step->against);
	add_checks(&lines, plan, i);
	add_bound(&lines, step, i);
	add_stop(&lines, plan, i);
	return lines.n;
}

static void add_missing(struct lines *lines, const struct tp_report_plan *plan)
{
	const struct tp_findings *findings = plan->findings;
	if (findings->n_not_judged)
		add_line(lines, "missing", "%s could not be checked%s",
			 tp_unit_counted(findings->n_not_judged, "rule").text,
			 findings->n_wanted ? ". The most useful missing data:"
					    : "; the missing data would hardly change this plan.");
	for (size_t i = 0; i < findings->n_wanted; i++) {
		tp_fact_id fact = findings->wanted[i].fact;
		const char *why = plan->facts[fact].missing;
		add_line(lines, "missing", "%s, %s%s%s", tp_fact_desc(fact)->name,
			 tp_fact_desc(fact)->text, why ? ": " : "", why ? why : "");
	}
}

size_t tp_plan_fields(struct tp_arena *arena, const struct tp_report_plan *plan,
		      struct tp_plan_field *out)
{
	const struct tp_action_plan *action_plan = &plan->findings->action_plan;
	struct lines lines = {.arena = arena, .items = out};
	if (action_plan->n_steps)
		add_line(&lines, "after", "Measure again after each change: the order may change.");
	if (action_plan->yardstick)
		add_yardstick(&lines, "fewer",
			      "trainprof does not record the loss, so it cannot judge methods that "
			      "train fewer steps (trainprof guide iterations). Such a method must "
			      "beat simply shortening the schedule ",
			      NULL, action_plan->yardstick);
	add_missing(&lines, plan);
	return lines.n;
}
