/* SPDX-License-Identifier: Apache-2.0 */
/* Lines about a running program, for the blocks of text and for the viewer's first screen. */
#include "live_lines.h"

#include "report/digest/step_counts.h"
#include "report/digest/verdict.h"

#include "trainprof/base/text.h"

#include <ctype.h>

void tp_report_live_limit(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	struct tp_buf title = {0};
	struct tp_buf sentence = {0};
	enum tp_part limit = profile->limiter;
	if (!profile->total_ns || limit == TP_N_PARTS) {
		tp_page_wrap(page, 2, TP_PAINT_WARN, "No thread of the program was seen.", 2);
		return;
	}
	for (const char *c = tp_part_name(limit); *c; c++)
		tp_buf_putc(&title, (char)toupper((unsigned char)*c));
	tp_report_add_limit(&sentence, profile, limit);
	tp_page_add(page, TP_PAINT_BOLD, tp_buf_text(&title));
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&sentence), 2);
	tp_buf_release(&title);
	tp_buf_release(&sentence);
}

void tp_report_live_steps(struct tp_page *page, const struct tp_profile *profile)
{
	const struct tp_stat *time = &profile->step_time;
	struct tp_buf text = {0};
	if (time->n && time->mean > 0)
		tp_buf_printf(&text, "%s steps per second, %s each, p95 %s",
			      tp_unit_number(1e9 / time->mean).text, tp_unit_time(time->mean).text,
			      tp_unit_time(time->p95).text);
	else
		tp_buf_printf(&text, "No steps: %s",
			      profile->steps_reason ? profile->steps_reason : "none were found");
	tp_page_column(page, 2);
	tp_page_wrap(page, 4, time->n ? TP_PAINT_NONE : TP_PAINT_DIM, tp_buf_text(&text), 1);
	tp_buf_release(&text);
}

/* The step times of earlier intervals; the scale goes from zero to twice their mean, or to the
 * longest. */
static void print_step_history(struct tp_page *page, const struct tp_live_history *history)
{
	enum { CELLS_MIN = 8, AROUND = 28 };
	double times[TP_LIVE_INTERVALS_MAX];
	struct tp_buf text = {0};
	struct tp_buf end = {0};
	double longest = 0;
	size_t room = tp_page_room(page);
	size_t n = room > AROUND + CELLS_MIN ? room - AROUND : CELLS_MIN;
	if (n > history->n)
		n = history->n;
	for (size_t i = 0; i < n; i++) {
		const struct tp_live_interval *at = &history->items[history->n - n + i];
		times[i] = at->step_ns;
		if (at->step_max_ns > longest)
			longest = at->step_max_ns;
	}
	if (n < 2 || longest <= 0)
		return;
	tp_report_add_heights(&text, times, n, page->style->is_ascii);
	tp_buf_printf(&end, "  longest step %s", tp_unit_time(longest).text);
	tp_page_column(page, 2);
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&text));
	tp_page_add(page, TP_PAINT_DIM, tp_buf_text(&end));
	tp_page_end(page);
	tp_buf_release(&text);
	tp_buf_release(&end);
}

void tp_report_live_history(struct tp_page *page, const struct tp_live *live)
{
	const struct tp_live_history *history = live->history;
	if (!history)
		return;
	print_step_history(page, history);
	if (!history->alarm[0])
		return;
	tp_page_column(page, 2);
	tp_page_wrap(page, 2, history->is_new ? TP_PAINT_WARN : TP_PAINT_DIM, history->alarm, 2);
}

/* Returns the share of one CPU, from the first reading to the last: the time outside is unknown. */
static bool recorder_ratio(const struct tp_trace *trace, double *out)
{
	size_t n;
	const struct tp_gauge *readings =
		tp_trace_gauges(trace, TP_METRIC_SELF_CPU, TP_NO_TASK, &n);
	if (n < 2 || readings[n - 1].time_ns <= readings[0].time_ns)
		return false;
	*out = (readings[n - 1].value - readings[0].value) /
	       (double)(readings[n - 1].time_ns - readings[0].time_ns);
	return true;
}

void tp_report_live_cost(struct tp_page *page, const struct tp_report_digest *digest,
			 const struct tp_live *live)
{
	struct tp_buf text = {0};
	double ratio;
	if (live->is_recorded && recorder_ratio(digest->trace, &ratio))
		tp_buf_printf(&text, "The recording takes %s of one CPU, ",
			      tp_unit_percent(ratio).text);
	const char *who = text.len ? "top" : live->is_recorded ? "Top takes" : "trainprof takes";
	tp_buf_printf(&text, "%s %s%s", who,
		      live->own_ratio >= 0 ? tp_unit_percent(live->own_ratio).text : "unknown",
		      text.len ? "" : " of one CPU");
	tp_buf_printf(&text, "; %s lost.", tp_unit_counted(digest->n_lost, "record").text);
	tp_page_wrap(page, 2, digest->n_lost ? TP_PAINT_WARN : TP_PAINT_NONE, tp_buf_text(&text),
		     1);
	tp_buf_release(&text);
}
