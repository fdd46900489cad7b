/* SPDX-License-Identifier: Apache-2.0 */
/* Advice with its evidence, the commands to type, and how to check the result. */
#include "html.h"

#include "report/digest/gain_text.h"
#include "report/digest/source_lines.h"
#include "report/digest/verdict.h"

#include "trainprof/model/fact.h"

static void add_paragraph(struct tp_buf *out, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	tp_buf_printf(out, "<p><b>%s</b> ", name);
	tp_html_add_text(out, text);
	tp_buf_puts(out, "</p>\n");
}

static void add_evidence_row(struct tp_buf *out, const struct tp_evidence *evidence)
{
	const struct tp_fact_desc *fact = tp_fact_desc(evidence->fact);
	const struct tp_quantity *value = &evidence->value;
	tp_buf_puts(out, "<tr><th scope=\"row\"><code>");
	tp_html_add_text(out, fact->name);
	tp_buf_puts(out, "</code></th>");
	tp_html_add_cell(out, fact->text);
	if (value->is_known)
		tp_html_add_number(out, tp_unit_value(value->value, fact->unit).text);
	else
		tp_html_add_cell(out, value->missing ? value->missing : "not measured");
	tp_buf_puts(out, "<td class=\"n\">");
	if (evidence->has_threshold) {
		tp_html_add_text(out, evidence->op);
		tp_buf_putc(out, ' ');
		tp_html_add_text(out, tp_unit_value(evidence->threshold, fact->unit).text);
	}
	tp_buf_printf(out, "</td><td>%s</td></tr>\n",
		      evidence->holds > 0    ? "yes"
		      : evidence->holds == 0 ? "no"
					     : "cannot be judged");
}

static void add_evidence(struct tp_buf *out, const struct tp_finding *finding)
{
	if (!finding->n_evidence)
		return;
	tp_buf_puts(out, "<details><summary>Evidence</summary>\n");
	tp_html_begin_table(out, "What the rule compared", "fact|meaning|>here|>asked for|holds");
	for (size_t i = 0; i < finding->n_evidence; i++)
		add_evidence_row(out, &finding->evidence[i]);
	tp_html_end_table(out);
	tp_buf_puts(out, "</details>\n");
}

static void add_actions(struct tp_buf *out, const struct tp_finding *finding)
{
	tp_buf_puts(out, "<ul>\n");
	for (size_t i = 0; i < finding->n_actions; i++) {
		tp_buf_puts(out, "<li>");
		tp_html_add_text(out, finding->actions[i].text);
		if (finding->actions[i].example) {
			tp_buf_puts(out, "<pre><code>");
			tp_html_add_text(out, finding->actions[i].example);
			tp_buf_puts(out, "</code></pre>");
		}
		tp_buf_puts(out, "</li>\n");
	}
	tp_buf_puts(out, "</ul>\n");
}

static void add_finding(struct tp_buf *out, const struct tp_report_digest *digest, size_t number,
			const struct tp_finding *finding)
{
	struct tp_buf text = {0};
	tp_buf_puts(out, "<article id=\"");
	tp_html_add_text(out, finding->rule);
	tp_buf_printf(out, "\"><h3>%zu. ", number);
	tp_html_add_text(out, finding->headline ? finding->headline : finding->title);
	tp_buf_puts(out, "</h3>\n<p class=\"gain\">");
	if (finding->has_gain) {
		tp_report_add_gain(&text, finding->gain_low, finding->gain_value,
				   finding->gain_high);
		tp_html_flush_text(out, &text);
		tp_buf_puts(out, " faster, ");
	}
	tp_buf_printf(out, "%s</p>\n", tp_sureness_name(finding->sureness));
	add_paragraph(out, "Why:", finding->because);
	tp_report_add_evidence_line(&text, digest->profile, finding);
	add_paragraph(out, "Where:", tp_buf_text(&text));
	tp_buf_release(&text);
	add_actions(out, finding);
	if (finding->kind == TP_ADVICE_SEMANTIC)
		add_paragraph(out, "It changes the training:",
			      finding->price ? finding->price : "check the model's quality");
	add_paragraph(out, "Did it help?", finding->verify);
	add_paragraph(out, "What would disprove it:", finding->refute);
	add_paragraph(out, "Less certain because:", finding->doubts);
	add_evidence(out, finding);
	tp_buf_puts(out, "<p class=\"dim\">rule <code>");
	tp_html_add_text(out, finding->rule);
	tp_buf_puts(out, "</code></p></article>\n");
}

void tp_html_add_advice(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_report *report = digest->report;
	size_t n = tp_report_n_advice(report);
	struct tp_buf text = {0};
	tp_html_begin_section(out, "advice", "What to change");
	if (!report->findings)
		add_paragraph(out, "No rules were applied:", report->no_findings_because);
	else if (!n && !tp_report_is_start_up(report->findings))
		tp_buf_puts(out, "<p>No advice would gain enough to be worth the work.</p>\n");
	for (size_t i = 0; report->findings && i < n; i++)
		add_finding(out, digest, i + 1, &report->findings->items[i]);
	if (n > 1 && report->findings && report->findings->has_combined) {
		tp_report_add_gain_range(&text, report->findings->combined_low,
					 report->findings->combined_value,
					 report->findings->combined_high);
		tp_report_add_next_limit(&text, report->findings);
		add_paragraph(out, "All changes together:", tp_buf_text(&text));
		tp_buf_release(&text);
	}
	tp_buf_puts(out, "</section>\n");
}
