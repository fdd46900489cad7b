/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the advice of a finding, with the guide's entries about it. */
#include "document.h"

static void write_reported(struct tp_json_writer *w, const struct tp_reported_result *items,
			   size_t n)
{
	tp_json_write_key(w, "reported");
	tp_json_open(w, '[');
	for (size_t i = 0; i < n; i++) {
		const struct tp_reported_result *reported = &items[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "text", reported->text);
		tp_json_put_string(w, "hardware", reported->hardware);
		tp_json_put_string(w, "baseline", reported->baseline);
		tp_json_write_key(w, "source");
		tp_json_open(w, '{');
		tp_report_json_text(w, "title", reported->source.title);
		tp_report_json_text(w, "where", reported->source.where);
		tp_report_json_text(w, "checked", reported->source.checked);
		tp_json_close(w, '}');
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

/* "holds" is absent if the facts do not show whether the condition holds. */
static void write_conditions(struct tp_json_writer *w, const struct tp_references *literature)
{
	tp_json_write_key(w, "conditions");
	tp_json_open(w, '[');
	for (size_t i = 0; i < literature->n_caveats; i++) {
		const struct tp_condition_result *caveat = &literature->caveats[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "kind", caveat->is_need ? "needs" : "not_when");
		tp_json_put_string(w, "text", caveat->text);
		if (caveat->holds >= 0)
			tp_json_put_bool(w, "holds", caveat->holds);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

void tp_report_json_yardstick(struct tp_json_writer *w, const struct tp_yardstick *yardstick)
{
	tp_json_write_key(w, "against");
	tp_json_open(w, '{');
	tp_json_put_string(w, "technique", yardstick->technique);
	tp_json_put_string(w, "title", yardstick->title);
	write_reported(w, yardstick->reported, yardstick->n_reported);
	tp_json_close(w, '}');
}

static void write_references(struct tp_json_writer *w, const struct tp_references *literature)
{
	tp_json_write_key(w, "guide");
	tp_json_open(w, '{');
	tp_json_put_string(w, "title", literature->title);
	tp_json_put_string(w, "effort", literature->effort);
	tp_json_write_key(w, "risk");
	tp_json_open(w, '{');
	tp_json_put_string(w, "level", literature->risk);
	tp_json_put_string(w, "text", literature->risk_text);
	tp_json_close(w, '}');
	write_reported(w, literature->reported, literature->n_reported);
	write_conditions(w, literature);
	if (literature->against)
		tp_report_json_yardstick(w, literature->against);
	tp_json_close(w, '}');
}

void tp_report_json_actions(struct tp_json_writer *w, const struct tp_finding *finding)
{
	tp_json_write_key(w, "actions");
	tp_json_open(w, '[');
	for (size_t i = 0; i < finding->n_actions; i++) {
		const struct tp_action *action = &finding->actions[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "text", action->text);
		tp_report_json_text(w, "example", action->example);
		tp_report_json_text(w, "technique", action->technique);
		if (action->literature)
			write_references(w, action->literature);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}
