/* SPDX-License-Identifier: Apache-2.0 */
/* Shows two runs side by side. */
#include "trainprof/report/side_by_side.h"

#include "report/digest/markdown_escape.h"
#include "report/json/document.h"

#include "trainprof/base/version.h"
#include "trainprof/model/fact.h"
#include "trainprof/report/units.h"

/* The rows of the table. */
static const struct {
	const char *name;
	tp_fact_id fact;
} rows[] = {
	{"mean step", TP_FACT_STEP_TIME},
	{"compute", TP_FACT_STEP_COMPUTE},
	{"communication", TP_FACT_STEP_COMMUNICATION},
	{"memory", TP_FACT_STEP_MEMORY},
	{"dataloader", TP_FACT_STEP_DATALOADER},
	{"host", TP_FACT_STEP_HOST},
	{"idle", TP_FACT_STEP_IDLE},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), COLUMN_FIRST = 16, COLUMN_SECOND = 46 };

static struct tp_unit_text value_of(const struct tp_report_side *side, size_t row)
{
	const struct tp_quantity *value = &side->facts[rows[row].fact];
	if (!value->is_known)
		return (struct tp_unit_text){"unknown"};
	if (rows[row].fact != TP_FACT_STEP_TIME)
		return tp_unit_percent(value->value);
	return tp_unit_time(value->value);
}

static const char *verdict_of(const struct tp_report_side *side)
{
	return side->findings->verdict ? side->findings->verdict_title : "no verdict";
}

bool tp_report_pair_is_known(const struct tp_report_pair *pair)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (pair->sides[0].facts[rows[i].fact].is_known &&
		    pair->sides[1].facts[rows[i].fact].is_known)
			return true;
	return false;
}

static const char *sentence_of(const struct tp_report_pair *pair)
{
	return tp_report_pair_is_known(pair)
		       ? "The runs can be compared."
		       : "The runs have no figure in common: they cannot be compared.";
}

/* ---- text ---- */

static void print_row(struct tp_page *page, const char *name, const char *first, const char *second)
{
	tp_page_column(page, 2);
	tp_page_add(page, TP_PAINT_NONE, name);
	tp_page_column(page, COLUMN_FIRST);
	tp_page_addf(page, TP_PAINT_NONE, "%s  ", first);
	tp_page_column(page, COLUMN_SECOND);
	tp_page_add(page, TP_PAINT_NONE, second);
	tp_page_end(page);
}

void tp_report_pair_text(struct tp_page *page, const struct tp_report_pair *pair)
{
	const struct tp_report_side *a = &pair->sides[0];
	const struct tp_report_side *b = &pair->sides[1];
	tp_page_addf(page, TP_PAINT_BOLD, "A  ");
	tp_page_wrap(page, 3, TP_PAINT_NONE, a->subject, 0);
	tp_page_addf(page, TP_PAINT_BOLD, "B  ");
	tp_page_wrap(page, 3, TP_PAINT_NONE, b->subject, 0);
	tp_page_end(page);
	print_row(page, "", "A", "B");
	for (size_t i = 0; i < N_ROWS; i++)
		print_row(page, rows[i].name, value_of(a, i).text, value_of(b, i).text);
	print_row(page, "verdict", verdict_of(a), verdict_of(b));
	tp_page_end(page);
	if (!pair->n_warnings)
		tp_page_wrap(page, 0, TP_PAINT_NONE, sentence_of(pair), 0);
	for (size_t i = 0; i < pair->n_warnings; i++) {
		tp_page_add(page, TP_PAINT_WARN, "Careful: ");
		tp_page_wrap(page, 2, TP_PAINT_WARN, pair->warnings[i], 0);
	}
}

/* ---- Markdown ---- */

static void add_row(struct tp_buf *out, const char *name, const char *first, const char *second)
{
	tp_buf_printf(out, "| %s | ", name);
	tp_markdown_add_plain(out, first);
	tp_buf_puts(out, " | ");
	tp_markdown_add_plain(out, second);
	tp_buf_puts(out, " |\n");
}

void tp_report_pair_markdown(struct tp_buf *out, const struct tp_report_pair *pair)
{
	const struct tp_report_side *a = &pair->sides[0];
	const struct tp_report_side *b = &pair->sides[1];
	add_row(out, "", a->subject, b->subject);
	tp_buf_puts(out, "| --- | --- | --- |\n");
	for (size_t i = 0; i < N_ROWS; i++)
		add_row(out, rows[i].name, value_of(a, i).text, value_of(b, i).text);
	add_row(out, "verdict", verdict_of(a), verdict_of(b));
	tp_buf_putc(out, '\n');
	if (!pair->n_warnings)
		tp_buf_printf(out, "%s\n", sentence_of(pair));
	for (size_t i = 0; i < pair->n_warnings; i++) {
		tp_buf_puts(out, "**Careful:** ");
		tp_markdown_add_plain(out, pair->warnings[i]);
		tp_buf_putc(out, '\n');
	}
}

/* ---- JSON ---- */

static void write_side(struct tp_json_writer *w, const struct tp_report_side *side)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "subject", side->subject);
	tp_json_put_known_string(w, "verdict", side->findings->verdict);
	tp_json_write_key(w, "facts");
	tp_json_open(w, '{');
	for (size_t i = 0; i < N_ROWS; i++) {
		tp_json_write_key(w, tp_fact_desc(rows[i].fact)->name);
		tp_report_json_quantity(w, &side->facts[rows[i].fact]);
	}
	tp_json_close(w, '}');
	tp_json_close(w, '}');
}

void tp_report_pair_json(struct tp_json_writer *w, const struct tp_report_pair *pair)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-comparison/1.0");
	tp_json_put_string(w, "version", tp_version());
	tp_json_write_key(w, "runs");
	tp_json_open(w, '[');
	write_side(w, &pair->sides[0]);
	write_side(w, &pair->sides[1]);
	tp_json_close(w, ']');
	tp_json_write_key(w, "warnings");
	tp_json_open(w, '[');
	for (size_t i = 0; i < pair->n_warnings; i++)
		tp_json_write_string(w, pair->warnings[i]);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}
