/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the advice for facts that were written by hand, as text and as JSON. */
#include "trainprof/report/facts_advice.h"

#include "report/digest/gain_text.h"
#include "report/json/document.h"

#include "trainprof/base/version.h"
#include "trainprof/report/explain.h"

#include <stdio.h>

/* ---- text ---- */

enum { COLUMN_MISSING = 36 };

static void print_subject(struct tp_page *page, const struct tp_report_advice *advice)
{
	tp_page_addf(page, TP_PAINT_DIM, "%s: %s given by hand",
		     advice->name ? advice->name : "facts",
		     tp_unit_counted(advice->n_given, "fact").text);
	tp_page_end(page);
	tp_page_end(page);
}

static void print_verdict(struct tp_page *page, const struct tp_findings *findings)
{
	tp_page_add(page, TP_PAINT_BOLD,
		    findings->verdict ? findings->verdict_title : "NO VERDICT");
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_wrap(page, 2, TP_PAINT_NONE,
		     findings->verdict
			     ? findings->verdict_sentence
			     : "The largest part of a step does not follow from these facts.",
		     0);
}

static void print_combined(struct tp_page *page, const struct tp_report_advice *advice)
{
	const struct tp_findings *findings = advice->findings;
	struct tp_buf text = {0};
	if (findings->n_fired > advice->max_advice)
		tp_buf_printf(&text, "And %zu more: -n %zu. ",
			      findings->n_fired - advice->max_advice, findings->n_fired);
	if (findings->has_combined) {
		tp_buf_puts(&text, "All changes together: ");
		tp_report_add_gain_range(&text, findings->combined_low, findings->combined_value,
					 findings->combined_high);
		tp_report_add_next_limit(&text, findings);
		tp_buf_putc(&text, '.');
	}
	if (text.len) {
		tp_page_end(page);
		tp_page_wrap(page, 0, TP_PAINT_NONE, tp_buf_text(&text), 0);
	}
	tp_buf_release(&text);
}

static void print_advices(struct tp_page *page, const struct tp_report_advice *advice)
{
	static const struct tp_report none = {0};
	const struct tp_findings *findings = advice->findings;
	for (size_t i = 0; i < findings->n_fired && i < advice->max_advice; i++) {
		struct tp_buf head = {0};
		tp_page_end(page);
		tp_buf_printf(&head, "%zu. %s", i + 1, findings->items[i].headline);
		tp_page_wrap(page, 3, TP_PAINT_BOLD, tp_buf_text(&head), 0);
		tp_report_explain(page, &none, &findings->items[i]);
		tp_buf_release(&head);
	}
	if (!findings->n_fired && findings->verdict) {
		tp_page_end(page);
		tp_page_wrap(page, 0, TP_PAINT_NONE,
			     "No advice would gain enough to be worth the work.", 0);
	}
	print_combined(page, advice);
}

static void print_missing(struct tp_page *page, const struct tp_findings *findings)
{
	if (!findings->n_wanted)
		return;
	tp_page_end(page);
	tp_page_wrap(page, 2, TP_PAINT_NONE,
		     "More advice is possible with these values, most useful first:", 0);
	for (size_t i = 0; i < findings->n_wanted; i++) {
		const struct tp_fact_desc *fact = tp_fact_desc(findings->wanted[i].fact);
		tp_page_addf(page, TP_PAINT_NONE, "  %s  ", fact->name);
		tp_page_column(page, COLUMN_MISSING);
		tp_page_wrap(page, 4, TP_PAINT_DIM, fact->text, 0);
	}
}

void tp_report_advice_text(struct tp_page *page, const struct tp_report_advice *advice)
{
	print_subject(page, advice);
	print_verdict(page, advice->findings);
	print_advices(page, advice);
	print_missing(page, advice->findings);
}

/* ---- JSON ---- */

static void write_facts(struct tp_json_writer *w, const struct tp_quantity *facts)
{
	tp_json_write_key(w, "facts");
	tp_json_open(w, '{');
	for (tp_fact_id i = 0; i < tp_n_facts; i++) {
		if (!facts[i].is_known)
			continue;
		tp_json_write_key(w, tp_fact_desc(i)->name);
		tp_report_json_quantity(w, &facts[i]);
	}
	tp_json_close(w, '}');
}

static void write_findings(struct tp_json_writer *w, const struct tp_findings *findings)
{
	tp_json_put_uint(w, "advice_shown", findings->n_fired);
	tp_json_write_key(w, "findings");
	tp_json_open(w, '[');
	for (size_t i = 0; i < findings->n_items; i++)
		if (findings->items[i].state != TP_FINDING_QUIET)
			tp_report_json_finding(w, &findings->items[i], NULL);
	tp_json_close(w, ']');
}

static void write_combined(struct tp_json_writer *w, const struct tp_findings *findings)
{
	if (!findings->has_combined)
		return;
	tp_json_write_key(w, "combined");
	tp_json_open(w, '{');
	tp_json_put_string(w, "kind",
			   tp_report_gain_kind(findings->combined_low, findings->combined_high));
	tp_json_put_number(w, "speedup", findings->combined_value);
	tp_report_json_interval(w, "bracket", findings->combined_low, findings->combined_high);
	tp_report_json_text(w, "then_limit", findings->then_limit);
	if (findings->then_steps_per_s > 0)
		tp_json_put_number(w, "then_steps_per_s", findings->then_steps_per_s);
	tp_json_close(w, '}');
}

static void write_missing(struct tp_json_writer *w, const struct tp_findings *findings)
{
	tp_json_write_key(w, "wanted");
	tp_json_open(w, '[');
	for (size_t i = 0; i < findings->n_wanted; i++) {
		const struct tp_fact_desc *fact = tp_fact_desc(findings->wanted[i].fact);
		tp_json_open(w, '{');
		tp_json_put_string(w, "fact", fact->name);
		tp_json_put_string(w, "unit", fact->unit);
		tp_json_put_string(w, "meaning", fact->text);
		tp_json_put_uint(w, "rules", findings->wanted[i].n_rules);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

void tp_report_advice_json(struct tp_json_writer *w, const struct tp_report_advice *advice)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-advice/1.0");
	tp_json_put_string(w, "version", tp_version());
	tp_json_put_known_string(w, "name", advice->name);
	write_facts(w, advice->facts);
	tp_report_json_verdict(w, advice->findings);
	write_findings(w, advice->findings);
	write_combined(w, advice->findings);
	write_missing(w, advice->findings);
	tp_json_close(w, '}');
}
