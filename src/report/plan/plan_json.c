/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a plan as JSON (docs/plan.schema.json). */
#include "trainprof/report/plan_text.h"

#include "plan_fields.h"
#include "report/digest/gain_text.h"
#include "report/json/document.h"

#include "trainprof/base/version.h"

static void write_bound(struct tp_json_writer *w, const char *key, const struct tp_bound *bound)
{
	tp_json_write_key(w, key);
	if (!bound->is_known) {
		tp_json_write_null(w);
		return;
	}
	tp_json_open(w, '{');
	tp_json_put_string(w, "kind", tp_report_gain_kind(bound->low, bound->high));
	tp_json_put_number(w, "speedup", bound->value);
	tp_report_json_interval(w, "bracket", bound->low, bound->high);
	tp_json_close(w, '}');
}

static void write_advice(struct tp_json_writer *w, const struct tp_report_plan *plan,
			 const struct tp_plan_step *step)
{
	tp_json_write_key(w, "advice");
	tp_json_open(w, '[');
	for (size_t i = 0; i < step->n_advice; i++) {
		const struct tp_finding *finding = &plan->findings->items[step->advice[i]];
		tp_json_open(w, '{');
		tp_json_put_string(w, "rule", finding->rule);
		tp_report_json_text(w, "headline", finding->headline);
		tp_report_json_text(w, "because", finding->because);
		tp_json_put_string(w, "kind", tp_advice_kind_name(finding->kind));
		tp_json_put_string(w, "how_sure", tp_sureness_name(finding->sureness));
		tp_report_json_text(w, "price", finding->price);
		tp_report_json_text(w, "verify", finding->verify);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static void write_actions(struct tp_json_writer *w, const struct tp_plan_step *step)
{
	tp_json_write_key(w, "do");
	tp_json_open(w, '[');
	for (size_t i = 0; i < step->n_actions; i++) {
		const struct tp_plan_action *planned = &step->actions[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "role", tp_plan_action_role_name(planned->role));
		tp_json_put_string(w, "technique", planned->technique);
		tp_json_put_string(w, "text", planned->text);
		tp_report_json_text(w, "example", planned->example);
		tp_report_json_text(w, "verify", planned->verify);
		tp_json_write_key(w, "how");
		tp_json_open(w, '{');
		for (size_t k = 0; k < planned->n_how; k++)
			tp_json_put_string(w, planned->how[k].framework, planned->how[k].text);
		tp_json_close(w, '}');
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static void write_targets(struct tp_json_writer *w, const struct tp_plan_step *step)
{
	tp_json_write_key(w, "targets");
	tp_json_open(w, '[');
	for (size_t i = 0; i < step->n_targets; i++) {
		const struct tp_plan_target *target = &step->targets[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "fact", tp_fact_desc(target->fact)->name);
		tp_json_put_string(w, "of", target->is_of_loop ? "loop" : "step");
		tp_json_put_number(w, "now", target->now);
		tp_report_json_interval(w, "after", target->best, target->worst);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static void write_step(struct tp_json_writer *w, const struct tp_report_plan *plan, size_t i)
{
	const struct tp_plan_step *step = &plan->findings->action_plan.steps[i];
	struct tp_plan_step_rate rate;
	tp_json_open(w, '{');
	if (step->order)
		tp_json_put_uint(w, "order", step->order);
	tp_report_json_text(w, "stage", step->stage);
	tp_json_put_string(w, "kind",
			   tp_advice_kind_name(step->is_semantic ? TP_ADVICE_SEMANTIC
								 : TP_ADVICE_FREE));
	write_advice(w, plan, step);
	write_actions(w, step);
	write_bound(w, "gain", &step->gain);
	write_targets(w, step);
	if (step->against)
		tp_report_json_yardstick(w, step->against);
	write_bound(w, "so_far", &step->so_far);
	tp_json_put_bool(w, "adds", step->adds);
	if (tp_plan_step_rate(plan, i, &rate)) {
		tp_json_write_key(w, "steps_per_s");
		tp_json_open(w, '{');
		tp_json_put_number(w, "now", rate.now);
		tp_report_json_interval(w, "after", rate.low, rate.high);
		tp_json_close(w, '}');
	}
	tp_report_json_text(w, "then_limit", step->then_limit);
	if (step->then_steps_per_s > 0)
		tp_json_put_number(w, "then_steps_per_s", step->then_steps_per_s);
	tp_json_close(w, '}');
}

static void write_missing(struct tp_json_writer *w, const struct tp_report_plan *plan)
{
	const struct tp_findings *findings = plan->findings;
	tp_json_put_uint(w, "rules_not_judged", findings->n_not_judged);
	tp_json_write_key(w, "missing");
	tp_json_open(w, '[');
	for (size_t i = 0; i < findings->n_wanted; i++) {
		tp_fact_id fact = findings->wanted[i].fact;
		tp_json_open(w, '{');
		tp_json_put_string(w, "fact", tp_fact_desc(fact)->name);
		tp_json_put_string(w, "meaning", tp_fact_desc(fact)->text);
		tp_report_json_text(w, "because", plan->facts[fact].missing);
		tp_json_put_uint(w, "rules", findings->wanted[i].n_rules);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

void tp_report_plan_json(struct tp_json_writer *w, const struct tp_report_plan *plan)
{
	const struct tp_action_plan *action_plan = &plan->findings->action_plan;
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-plan/1.0");
	tp_json_put_string(w, "version", tp_version());
	tp_json_put_string(w, "subject", plan->subject);
	tp_report_json_verdict(w, plan->findings);
	if (action_plan->step_ns > 0)
		tp_json_put_number(w, "step_ns", action_plan->step_ns);
	tp_json_write_key(w, "steps");
	tp_json_open(w, '[');
	for (size_t i = 0; i < action_plan->n_steps; i++)
		write_step(w, plan, i);
	tp_json_close(w, ']');
	if (action_plan->yardstick)
		tp_report_json_yardstick(w, action_plan->yardstick);
	write_missing(w, plan);
	tp_json_close(w, '}');
}
