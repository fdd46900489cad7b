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
			 const struct tp_plan_step *move)
{
	tp_json_write_key(w, "advice");
	tp_json_open(w, '[');
	for (size_t i = 0; i < move->n_advice; i++) {
		const struct tp_finding *finding = &plan->findings->items[move->advice[i]];
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

static void write_actions(struct tp_json_writer *w, const struct tp_plan_step *move)
{
	tp_json_write_key(w, "do");
	tp_json_open(w, '[');
	for (size_t i = 0; i < move->n_deeds; i++) {
		const struct tp_plan_action *deed = &move->deeds[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "role", tp_plan_action_role_name(deed->role));
		tp_json_put_string(w, "technique", deed->technique);
		tp_json_put_string(w, "text", deed->text);
		tp_report_json_text(w, "example", deed->example);
		tp_report_json_text(w, "verify", deed->verify);
		tp_json_write_key(w, "how");
		tp_json_open(w, '{');
		for (size_t k = 0; k < deed->n_how; k++)
			tp_json_put_string(w, deed->how[k].framework, deed->how[k].text);
		tp_json_close(w, '}');
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static void write_targets(struct tp_json_writer *w, const struct tp_plan_step *move)
{
	tp_json_write_key(w, "targets");
	tp_json_open(w, '[');
	for (size_t i = 0; i < move->n_targets; i++) {
		const struct tp_plan_target *target = &move->targets[i];
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
	const struct tp_plan_step *move = &plan->findings->course.moves[i];
	struct tp_plan_step_rate rate;
	tp_json_open(w, '{');
	if (move->order)
		tp_json_put_uint(w, "order", move->order);
	tp_report_json_text(w, "stage", move->stage);
	tp_json_put_string(w, "kind",
			   tp_advice_kind_name(move->is_semantic ? TP_ADVICE_SEMANTIC
								 : TP_ADVICE_FREE));
	write_advice(w, plan, move);
	write_actions(w, move);
	write_bound(w, "gain", &move->gain);
	write_targets(w, move);
	if (move->against)
		tp_report_json_yardstick(w, move->against);
	write_bound(w, "so_far", &move->so_far);
	tp_json_put_bool(w, "adds", move->adds);
	if (tp_plan_step_rate(plan, i, &rate)) {
		tp_json_write_key(w, "steps_per_s");
		tp_json_open(w, '{');
		tp_json_put_number(w, "now", rate.now);
		tp_report_json_interval(w, "after", rate.low, rate.high);
		tp_json_close(w, '}');
	}
	tp_report_json_text(w, "then_limit", move->then_limit);
	if (move->then_steps_per_s > 0)
		tp_json_put_number(w, "then_steps_per_s", move->then_steps_per_s);
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
	const struct tp_action_plan *course = &plan->findings->course;
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-plan/1.0");
	tp_json_put_string(w, "version", tp_version());
	tp_json_put_string(w, "subject", plan->subject);
	tp_report_json_verdict(w, plan->findings);
	if (course->step_ns > 0)
		tp_json_put_number(w, "step_ns", course->step_ns);
	tp_json_write_key(w, "steps");
	tp_json_open(w, '[');
	for (size_t i = 0; i < course->n_moves; i++)
		write_step(w, plan, i);
	tp_json_close(w, ']');
	if (course->yardstick)
		tp_report_json_yardstick(w, course->yardstick);
	write_missing(w, plan);
	tp_json_close(w, '}');
}
