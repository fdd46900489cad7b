/* SPDX-License-Identifier: Apache-2.0 */
/* Shows how a rule was evaluated for a run. */
#include "trainprof/report/explain.h"

#include "report/digest/gain_text.h"
#include "report/digest/source_lines.h"

#include "trainprof/report/units.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
	COLUMN_FACT = 2,
	COLUMN_VALUE = 34,
	COLUMN_LIMIT = 54,
	COLUMN_HOLDS = 65,
	COLUMN_BASIS = 70,
	COLUMN_TEXT = 10,
};

static enum tp_paint state_paint(const struct tp_finding *finding)
{
	if (finding->state == TP_FINDING_FIRED && !finding->suppressed)
		return TP_PAINT_BAD;
	return finding->state == TP_FINDING_QUIET ? TP_PAINT_GOOD : TP_PAINT_WARN;
}

static const char *state_word(const struct tp_finding *finding)
{
	static const char *const words[] = {"APPLIES", "does not apply", "not checked"};
	return finding->suppressed ? "not shown" : words[finding->state];
}

static void add_quantity(struct tp_buf *out, const struct tp_quantity *value, const char *unit)
{
	if (!value->is_known) {
		tp_buf_puts(out, "unknown");
		return;
	}
	tp_buf_puts(out, tp_unit_value(value->value, unit).text);
	struct tp_unit_text low = tp_unit_value(value->low, unit);
	struct tp_unit_text high = tp_unit_value(value->high, unit);
	/* An interval without width, or beside the value, says nothing. */
	if (value->has_interval && value->low <= value->value && value->value <= value->high &&
	    strcmp(low.text, high.text) != 0)
		tp_buf_printf(out, " (%s–%s)", low.text, high.text);
}

static void add_origin(struct tp_buf *out, const struct tp_quantity *value)
{
	tp_buf_puts(out, tp_origin_name(value->origin));
	if (value->seen)
		tp_buf_printf(out, ", %s", value->seen);
	if (value->n)
		tp_buf_printf(out, ", n %s", tp_unit_count(value->n).text);
	if (value->coverage > 0 && value->coverage < 0.995)
		tp_buf_printf(out, ", %s seen", tp_unit_percent(value->coverage).text);
}

static void print_evidence(struct tp_page *page, const struct tp_evidence *evidence)
{
	static const char *const words[] = {"?", "no", "yes"};
	const struct tp_fact_desc *fact = tp_fact_desc(evidence->fact);
	struct tp_buf text = {0};
	tp_page_column(page, COLUMN_FACT);
	tp_page_add(page, TP_PAINT_NONE, fact->name);
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_column(page, COLUMN_VALUE);
	add_quantity(&text, &evidence->value, fact->unit);
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&text));
	if (evidence->op && evidence->op[0] && evidence->has_threshold) {
		tp_page_add(page, TP_PAINT_NONE, "  ");
		tp_page_column(page, COLUMN_LIMIT);
		tp_page_addf(page, TP_PAINT_NONE, "%s %s", evidence->op,
			     tp_unit_value(evidence->threshold, fact->unit).text);
	}
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_column(page, COLUMN_HOLDS);
	tp_page_add(page, TP_PAINT_NONE, words[evidence->holds + 1]);
	tp_buf_clear(&text);
	if (fact->text)
		tp_buf_printf(&text, "%s; ", fact->text);
	if (evidence->value.is_known)
		add_origin(&text, &evidence->value);
	else
		tp_buf_puts(&text,
			    evidence->value.missing ? evidence->value.missing : "not measured");
	size_t needed = text.len + 2;
	if (needed > tp_page_room(page) || page->columns >= COLUMN_BASIS)
		tp_page_end(page);
	tp_page_column(page, page->columns ? COLUMN_BASIS : COLUMN_FACT + 2);
	tp_page_wrap(page, COLUMN_FACT + 2, TP_PAINT_DIM, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

static void print_field(struct tp_page *page, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	tp_page_addf(page, TP_PAINT_BOLD, "  %s", name);
	tp_page_add(page, TP_PAINT_NONE, " ");
	tp_page_column(page, COLUMN_TEXT);
	tp_page_wrap(page, COLUMN_TEXT, TP_PAINT_NONE, text, 0);
}

/* Prints the place in the program, if it is a Python program and the rule is about a part of its
 * time. */
static void print_line_of(struct tp_page *page, const struct tp_report *report,
			  const struct tp_finding *finding)
{
	struct tp_buf text = {0};
	if (finding->place && finding->because && strstr(finding->because, finding->place))
		return; /* it was printed already */
	if (finding->place)
		tp_buf_puts(&text, finding->place);
	else if (report->profile && report->profile->n_lines && finding->state == TP_FINDING_FIRED)
		tp_report_add_evidence_line(&text, report->profile, finding);
	print_field(page, "line", tp_buf_text(&text));
	tp_buf_release(&text);
}

/* The same words as on the other pages: the size of the gain and its certainty. */
static void print_gain(struct tp_page *page, const struct tp_finding *finding)
{
	if (finding->state != TP_FINDING_FIRED || !finding->n_actions)
		return;
	struct tp_buf text = {0};
	if (finding->has_gain)
		tp_report_add_gain(&text, finding->gain_low, finding->gain_value,
				   finding->gain_high);
	else
		tp_buf_puts(&text, "not measured");
	tp_buf_printf(&text, ", %s", tp_sureness_name(finding->sureness));
	if (finding->has_gain && finding->gain_method)
		tp_buf_printf(&text, "; %s", finding->gain_method);
	print_field(page, "gain", tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_actions(struct tp_page *page, const struct tp_finding *finding)
{
	for (size_t i = 0; i < finding->n_actions; i++) {
		const struct tp_action *action = &finding->actions[i];
		struct tp_buf text = {0};
		if (action->headline)
			tp_buf_printf(&text, "%s. ", action->headline);
		tp_buf_puts(&text, action->text);
		print_field(page, i ? "or" : "do", tp_buf_text(&text));
		tp_buf_release(&text);
		if (action->example) {
			tp_page_column(page, COLUMN_TEXT + 2);
			tp_page_wrap(page, COLUMN_TEXT + 4, TP_PAINT_NONE, action->example, 0);
		}
		if (action->prefix || action->loader) {
			tp_page_column(page, COLUMN_TEXT + 2);
			tp_page_addf(page, TP_PAINT_DIM, "measure it: trainprof try %s",
				     finding->rule);
			tp_page_end(page);
		}
	}
}

/* ---- the guide's entries about the techniques ---- */

/* The technique's page has more of them. */
enum { MAX_REPORTED = 2 };

static void print_reported(struct tp_page *page, const char *name,
			   const struct tp_reported_result *items, size_t n)
{
	for (size_t i = 0; i < n && i < MAX_REPORTED; i++) {
		const struct tp_reported_result *reported = &items[i];
		size_t len = strlen(reported->text);
		struct tp_buf text = {0};
		tp_buf_printf(&text, "%s%s Hardware: %s; against %s; %s (checked %s)",
			      reported->text, len && reported->text[len - 1] == '.' ? "" : ".",
			      reported->hardware, reported->baseline, reported->source.title,
			      reported->source.checked);
		print_field(page, i ? "" : name, tp_buf_text(&text));
		tp_buf_release(&text);
	}
}

/* Prints the yardstick of a technique that needs fewer iterations: a training that is just
 * shorter. */
static void print_yardstick(struct tp_page *page, const struct tp_yardstick *yardstick)
{
	struct tp_buf text = {0};
	tp_buf_printf(&text, "trainprof guide %s: %s. Compare with it:", yardstick->technique,
		      yardstick->title);
	print_field(page, "against", tp_buf_text(&text));
	print_reported(page, "", yardstick->reported, yardstick->n_reported);
	tp_buf_release(&text);
}

static void print_conditions(struct tp_page *page, const struct tp_references *literature)
{
	static const char *const here[] = {"", " (here: no)", " (here: yes)"};
	for (size_t i = 0; i < literature->n_caveats; i++) {
		const struct tp_condition_result *caveat = &literature->caveats[i];
		struct tp_buf text = {0};
		tp_buf_printf(&text, "%s%s", caveat->text, here[caveat->holds + 1]);
		print_field(page, caveat->is_need ? "needs" : "not if", tp_buf_text(&text));
		tp_buf_release(&text);
	}
}

/* True if an action before the i-th has the same yardstick. */
static bool is_repeated(const struct tp_finding *finding, size_t i)
{
	const char *technique = finding->actions[i].literature->against->technique;
	for (size_t k = 0; k < i; k++) {
		const struct tp_references *before = finding->actions[k].literature;
		if (before && before->against && strcmp(before->against->technique, technique) == 0)
			return true;
	}
	return false;
}

/* Prints the gains that others reported, next to the gain that was computed for this run. */
static void print_references(struct tp_page *page, const struct tp_finding *finding)
{
	for (size_t i = 0; i < finding->n_actions; i++) {
		const struct tp_action *action = &finding->actions[i];
		const struct tp_references *literature = action->literature;
		if (!literature)
			continue;
		struct tp_buf text = {0};
		tp_buf_printf(&text, "trainprof guide %s: %s", action->technique,
			      literature->title);
		print_field(page, "guide", tp_buf_text(&text));
		print_reported(page, "others", literature->reported, literature->n_reported);
		tp_buf_clear(&text);
		tp_buf_printf(&text, "%s; risk to the model: %s, %s", literature->effort_text,
			      literature->risk, literature->risk_text);
		print_field(page, "effort", tp_buf_text(&text));
		print_conditions(page, literature);
		/* Actions of one rule mostly share their yardstick. */
		if (literature->against && !is_repeated(finding, i))
			print_yardstick(page, literature->against);
		tp_buf_release(&text);
	}
}

static void print_confidence(struct tp_page *page, const struct tp_finding *finding)
{
	if (!finding->doubts)
		return;
	struct tp_buf text = {0};
	tp_buf_printf(&text, "Less certain because: %s", finding->doubts);
	print_field(page, "doubt", tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_sources(struct tp_page *page, const struct tp_finding *finding)
{
	print_field(page, "rule", finding->path);
	for (size_t i = 0; i < finding->n_sources; i++) {
		const struct tp_citation *source = &finding->sources[i];
		struct tp_buf text = {0};
		tp_buf_puts(&text, source->title ? source->title : "");
		if (source->where && !strstr(tp_buf_text(&text), source->where))
			tp_buf_printf(&text, ", %s", source->where);
		if (source->checked)
			tp_buf_printf(&text, " (checked %s)", source->checked);
		print_field(page, i ? "" : "source", tp_buf_text(&text));
		tp_buf_release(&text);
	}
}

void tp_report_explain_line(struct tp_page *page, const struct tp_finding *finding)
{
	tp_page_addf(page, TP_PAINT_BOLD, "%s  ", finding->rule);
	tp_page_wrap(page, 2, TP_PAINT_NONE, finding->title, 1);
}

static void print_title(struct tp_page *page, const struct tp_finding *finding)
{
	struct tp_buf text = {0};
	tp_buf_printf(&text, "%s  %s", finding->rule, finding->title);
	tp_page_wrap_with_right(page, 0, tp_buf_text(&text), state_paint(finding),
				state_word(finding), 2);
	tp_buf_release(&text);
}

void tp_report_explain(struct tp_page *page, const struct tp_report *report,
		       const struct tp_finding *finding)
{
	print_title(page, finding);
	tp_page_end(page);
	for (size_t i = 0; i < finding->n_evidence; i++)
		print_evidence(page, &finding->evidence[i]);
	if (finding->n_evidence)
		tp_page_end(page);
	print_field(page, "because", finding->because);
	print_line_of(page, report, finding);
	print_field(page, "missing", finding->not_judged_because);
	print_field(page, "quiet", finding->quiet_because);
	print_field(page, "silent", finding->suppressed);
	print_actions(page, finding);
	if (!finding->suppressed) /* a suppressed finding already contains it */
		print_field(page, "done", finding->done);
	print_gain(page, finding);
	print_references(page, finding);
	print_confidence(page, finding);
	if (finding->kind == TP_ADVICE_SEMANTIC || finding->price)
		print_field(page, "price",
			    finding->price ? finding->price : "changes the training");
	print_field(page, "verify", finding->verify);
	print_field(page, "refute", finding->refute);
	print_sources(page, finding);
}

void tp_report_explain_fact(struct tp_page *page, const struct tp_report *report, tp_fact_id id)
{
	const struct tp_fact_desc *fact = tp_fact_desc(id);
	const struct tp_quantity *value = &report->profile->facts[id];
	struct tp_buf text = {0};
	add_quantity(&text, value, fact->unit);
	tp_page_column(page, 2);
	tp_page_add(page, TP_PAINT_NONE, fact->name);
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_column(page, COLUMN_VALUE);
	tp_page_add(page, TP_PAINT_BOLD, tp_buf_text(&text));
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_column(page, COLUMN_LIMIT);
	tp_buf_clear(&text);
	if (value->is_known)
		tp_buf_printf(&text, "%s%s%s", fact->text, value->seen ? "; seen: " : "",
			      value->seen ? value->seen : "");
	else
		tp_buf_puts(&text, value->missing ? value->missing : "not measured");
	tp_page_wrap(page, COLUMN_FACT + 2, TP_PAINT_DIM, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}
