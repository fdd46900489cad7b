/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a step: a bar and a table; steps over time. */
#include "html.h"

#include "report/digest/source_lines.h"
#include "report/digest/step_counts.h"

#include "trainprof/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_bar(struct tp_buf *out, const struct tp_report_digest *digest)
{
	tp_buf_puts(out, "<div class=\"bar\" aria-hidden=\"true\">");
	for (int part = 0; part < TP_N_PARTS; part++) {
		uint64_t time_ns = digest->profile->parts[part].time_ns;
		if (!time_ns)
			continue;
		double share = (double)time_ns / (double)digest->profile->total_ns;
		tp_buf_printf(out, "<span class=\"p%d\" style=\"flex:%.4f\">", part, share);
		/* A name is added if it fits on a small screen. */
		if (share > 0.25)
			tp_buf_printf(out, "%s %u&nbsp;%%",
				      tp_profile_part_name(digest->profile, (enum tp_part)part),
				      digest->percent[part]);
		tp_buf_puts(out, "</span>");
	}
	tp_buf_puts(out, "</div>\n");
}

static void add_part(struct tp_buf *out, const struct tp_report_digest *digest, enum tp_part id)
{
	const struct tp_part_result *part = &digest->profile->parts[id];
	double time_ns = (double)part->time_ns / digest->divisor;
	double hidden_ns = (double)part->hidden_ns / digest->divisor;
	tp_buf_printf(out, "<tr><th scope=\"row\"><span class=\"key p%d\"></span>%s</th>", id,
		      tp_profile_part_name(digest->profile, id));
	tp_html_add_number(out, tp_unit_scaled(digest->scale, time_ns).text);
	tp_buf_printf(out, "<td class=\"n\">%s%u %%</td><td class=\"n\">",
		      digest->percent[id] || !part->time_ns ? "" : "&lt;",
		      digest->percent[id] || !part->time_ns ? digest->percent[id] : 1);
	if (part->share.has_interval) {
		struct tp_unit_text interval =
			tp_unit_interval(part->share.value, part->share.low, part->share.high);
		tp_buf_printf(out, "%s%s", interval.text, interval.text[0] ? " %" : "");
	}
	tp_buf_puts(out, "</td>");
	tp_html_add_number(out, tp_unit_scaled(digest->scale, hidden_ns).text);
	tp_buf_puts(out, "<td>");
	for (int label = 0; label < TP_N_LABELS; label++)
		if (tp_label_part((enum tp_label)label) == id && digest->profile->label_ns[label])
			tp_buf_printf(out, "%s %s<br>", tp_label_name((enum tp_label)label),
				      tp_unit_scaled(digest->scale,
						     (double)digest->profile->label_ns[label] /
							     digest->divisor)
					      .text);
	tp_buf_puts(out, "</td></tr>\n");
}

void tp_html_add_parts(struct tp_buf *out, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	if (!digest->profile->total_ns || (!digest->is_judgeable && !digest->is_hang))
		return;
	tp_html_begin_section(out, "parts",
			      digest->profile->is_of_steps ? "Where a step goes"
							   : "Where the time goes");
	add_bar(out, digest);
	tp_html_begin_table(out,
			    digest->profile->is_of_steps ? "Parts of the mean steady step"
							 : "Parts of the judged time",
			    "part|>time|>share|>95 % interval|>overlapped with others|made of");
	for (int part = 0; part < TP_N_PARTS; part++)
		add_part(out, digest, (enum tp_part)part);
	tp_html_end_table(out);
	tp_report_add_top_lines(&text, digest, 0);
	if (text.len) {
		tp_buf_puts(out, "<p>");
		tp_html_flush_text(out, &text);
		tp_buf_puts(out, "</p>\n");
	}
	tp_buf_puts(out, "</section>\n");
}

/* ---- steps over time ----------------------------------------------------------------------- */

enum { STEP_COLUMNS = 500, CHART_HEIGHT = 1000, MAX_SLOWEST = 10 };

static uint64_t length_of(const struct tp_step *step)
{
	return step->end_ns - step->start_ns;
}

/* Each column shows its slowest step, so that no outlier disappears. */
static size_t pick_columns(const struct tp_step **out, const struct tp_profile *profile)
{
	size_t n = profile->n_steps < STEP_COLUMNS ? profile->n_steps : STEP_COLUMNS;
	for (size_t column = 0; column < n; column++) {
		size_t from = profile->n_steps * column / n;
		size_t to = profile->n_steps * (column + 1) / n;
		out[column] = &profile->steps[from];
		for (size_t i = from + 1; i < to; i++)
			if (length_of(&profile->steps[i]) > length_of(out[column]))
				out[column] = &profile->steps[i];
	}
	return n;
}

/* One path for each part: the parts of a column are stacked in the order of parts. */
static void add_columns(struct tp_buf *out, const struct tp_step *const *columns, size_t n,
			uint64_t top_ns)
{
	for (int part = 0; part < TP_N_PARTS; part++) {
		tp_buf_printf(out, "<path class=\"p%d\" d=\"", part);
		for (size_t i = 0; i < n; i++) {
			uint64_t below_ns = 0;
			for (int k = 0; k < part; k++)
				below_ns += columns[i]->part_ns[k];
			uint64_t upper = below_ns + columns[i]->part_ns[part];
			unsigned low = (unsigned)((double)below_ns / (double)top_ns * CHART_HEIGHT);
			unsigned high = (unsigned)((double)upper / (double)top_ns * CHART_HEIGHT);
			low = low > CHART_HEIGHT ? CHART_HEIGHT : low;
			high = high > CHART_HEIGHT ? CHART_HEIGHT : high;
			if (high > low)
				tp_buf_printf(out, "M%zu %uv-%uh1v%uz", i, CHART_HEIGHT - low,
					      high - low, high - low);
		}
		tp_buf_puts(out, "\"/>");
	}
}

static void add_part_names(struct tp_buf *out)
{
	tp_buf_puts(out, "<ul class=\"legend\">");
	for (int part = 0; part < TP_N_PARTS; part++)
		tp_buf_printf(out, "<li><span class=\"key p%d\"></span>%s</li>", part,
			      tp_part_name((enum tp_part)part));
	tp_buf_puts(out, "</ul>\n");
}

static int step_order(const void *a, const void *b)
{
	const struct tp_step *const *x = a;
	const struct tp_step *const *y = b;
	if (length_of(*x) != length_of(*y))
		return length_of(*x) > length_of(*y) ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

static void add_slow_steps(struct tp_buf *out, const struct tp_report_digest *digest,
			   const struct tp_step **columns, size_t n)
{
	qsort(columns, n, sizeof(const struct tp_step *), step_order);
	tp_buf_puts(out, "<details><summary>The slowest steps</summary>\n");
	tp_html_begin_table(out, "Slowest steps",
			    ">step|kind|>time|>compute|>communication|>memory|>dataloader|>host|"
			    ">idle");
	for (size_t i = 0; i < n && i < MAX_SLOWEST; i++) {
		tp_buf_printf(out, "<tr><td class=\"n\">%td</td><td>%s</td>",
			      columns[i] - digest->profile->steps + 1,
			      tp_step_kind_text(columns[i]->kind));
		tp_html_add_number(out, tp_unit_time((double)length_of(columns[i])).text);
		for (int part = 0; part < TP_N_PARTS; part++)
			tp_html_add_number(out,
					   tp_unit_time((double)columns[i]->part_ns[part]).text);
		tp_buf_puts(out, "</tr>\n");
	}
	tp_html_end_table(out);
	tp_buf_puts(out, "</details>\n");
}

/* The top of the scale: the slowest column, or a lower limit if an outlier would make the others
 * too small. */
static uint64_t find_top(const struct tp_profile *profile, const struct tp_step *const *columns,
			 size_t n, size_t *n_beyond)
{
	uint64_t top_ns = 1;
	uint64_t usual_ns = (uint64_t)(2 * profile->step_time.p95);
	*n_beyond = 0;
	for (size_t i = 0; i < n; i++)
		top_ns = length_of(columns[i]) > top_ns ? length_of(columns[i]) : top_ns;
	if (!usual_ns || usual_ns >= top_ns)
		return top_ns;
	for (size_t i = 0; i < n; i++)
		*n_beyond += length_of(columns[i]) > usual_ns;
	return usual_ns;
}

void tp_html_add_steps(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	struct tp_buf text = {0};
	if (!profile->n_steps)
		return;
	const struct tp_step **columns = tp_alloc(STEP_COLUMNS * sizeof(const struct tp_step *));
	size_t n = pick_columns(columns, profile);
	size_t n_beyond;
	uint64_t top_ns = find_top(profile, columns, n, &n_beyond);
	tp_html_begin_section(out, "steps", "Steps over time");
	tp_buf_puts(out, "<p>");
	tp_report_add_step_counts(&text, profile);
	tp_html_flush_text(out, &text);
	if (n < profile->n_steps)
		tp_buf_printf(out, ". Each of the %zu columns shows the slowest of its steps", n);
	tp_buf_printf(out, ". The top is %s", tp_unit_time((double)top_ns).text);
	if (n_beyond)
		tp_buf_printf(out, "; %zu go beyond it, see below", n_beyond);
	tp_buf_puts(out, ".</p>\n");
	tp_buf_printf(
		out,
		"<svg class=\"steps\" role=\"img\" aria-label=\"Time of steps over the run, by "
		"parts\" viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\">",
		n, CHART_HEIGHT);
	add_columns(out, columns, n, top_ns);
	tp_buf_puts(out, "</svg>\n");
	add_part_names(out);
	add_slow_steps(out, digest, columns, n);
	tp_buf_puts(out, "</section>\n");
	free(columns);
}
