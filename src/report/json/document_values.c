/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the values that all documents use. */
#include "document.h"

void tp_report_json_text(struct tp_json_writer *w, const char *key, const char *text)
{
	if (text && *text)
		tp_json_put_string(w, key, text);
}

void tp_report_json_interval(struct tp_json_writer *w, const char *key, double low, double high)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '[');
	w->is_flat = true;
	tp_json_write_number(w, low);
	tp_json_write_number(w, high);
	tp_json_close(w, ']');
	w->is_flat = false;
}

void tp_report_json_quantity(struct tp_json_writer *w, const struct tp_quantity *quantity)
{
	tp_json_open(w, '{');
	if (!quantity->is_known) {
		tp_json_write_key(w, "value");
		tp_json_write_null(w);
		tp_json_put_string(w, "missing",
				   quantity->missing ? quantity->missing : "not measured");
		tp_json_close(w, '}');
		return;
	}
	tp_json_put_number(w, "value", quantity->value);
	if (quantity->has_interval)
		tp_report_json_interval(w, "ci95", quantity->low, quantity->high);
	if (quantity->n)
		tp_json_put_uint(w, "n", quantity->n);
	tp_json_put_string(w, "origin", tp_origin_name(quantity->origin));
	tp_json_put_number(w, "coverage_ratio", quantity->coverage);
	tp_json_put_known_string(w, "seen", quantity->seen);
	tp_json_close(w, '}');
}

void tp_report_json_verdict(struct tp_json_writer *w, const struct tp_findings *findings)
{
	if (!findings->verdict)
		return;
	tp_json_write_key(w, "verdict");
	tp_json_open(w, '{');
	tp_json_put_string(w, "id", findings->verdict);
	tp_report_json_text(w, "cause", findings->verdict_cause);
	tp_json_put_string(w, "title", findings->verdict_title);
	tp_json_put_string(w, "sentence", findings->verdict_sentence);
	tp_json_close(w, '}');
}

void tp_report_json_stat(struct tp_json_writer *w, const char *key, const struct tp_stat *stat)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '{');
	tp_json_put_uint(w, "n", stat->n);
	tp_json_put_number(w, "mean", stat->mean);
	tp_json_put_number(w, "median", stat->median);
	if (stat->median_high > 0)
		tp_report_json_interval(w, "median_ci95", stat->median_low, stat->median_high);
	tp_json_put_number(w, "p05", stat->p05);
	tp_json_put_number(w, "p95", stat->p95);
	tp_json_put_number(w, "p99", stat->p99);
	tp_json_put_number(w, "min", stat->min);
	tp_json_put_number(w, "max", stat->max);
	tp_json_put_number(w, "mad", stat->mad);
	tp_json_close(w, '}');
}
