/* SPDX-License-Identifier: Apache-2.0 */
/* Lines about a running program, for the blocks of text and for the viewer's first screen. */
#include "live_lines.h"

#include "report/digest/source_lines.h"
#include "report/digest/step_counts.h"
#include "report/digest/verdict.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

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

/* ---- ranks ----------------------------------------------------------------------------------- */

double tp_live_rank_waits(const struct tp_live_rank *rank)
{
	const struct tp_profile *profile = rank->profile;
	return profile->total_ns ? (double)profile->parts[TP_PART_COMMUNICATION].time_ns /
					   (double)profile->total_ns
				 : 1;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct tp_live_rank *x = *(const struct tp_live_rank *const *)a;
	const struct tp_live_rank *y = *(const struct tp_live_rank *const *)b;
	double more = tp_live_rank_waits(x) - tp_live_rank_waits(y);
	if (more != 0)
		return more < 0 ? -1 : 1;
	return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
				      : (x->pid > y->pid) - (x->pid < y->pid);
}

/* Returns true if the process with the pid started the task, or is its own. */
static bool is_started_by(const struct tp_trace *trace, uint32_t task, pid_t pid)
{
	for (size_t depth = 0; task < trace->n_tasks && depth <= trace->n_tasks; depth++) {
		if (trace->tasks[task].pid == pid)
			return true;
		task = trace->tasks[task].parent;
	}
	return false;
}

/* The trace holds the processes of all ranks. */
static double cpus_of(const struct tp_live_rank *rank)
{
	const struct tp_profile *profile = rank->profile;
	uint64_t on_cpu_ns = 0;
	uint64_t window_ns = profile->window_end_ns - profile->window_start_ns;
	for (size_t i = 0; i < profile->n_threads; i++)
		if (is_started_by(profile->trace, profile->threads[i].task, rank->pid))
			on_cpu_ns += profile->threads[i].on_cpu_ns;
	return window_ns ? (double)on_cpu_ns / (double)window_ns : 0;
}

static void print_rank(struct tp_page *page, const struct tp_live_rank *rank, bool is_shown)
{
	const struct tp_profile *profile = rank->profile;
	const struct tp_line_result *line;
	struct tp_buf number = {0};
	struct tp_buf most = {0};
	if (rank->number >= 0)
		tp_buf_printf(&number, "%lld", (long long)rank->number);
	else
		tp_buf_puts(&number, "?");
	if (!profile->total_ns)
		tp_buf_puts(&most, "its main thread was not seen");
	else if (tp_report_top_lines(&line, 1, profile))
		tp_report_add_line_share(&most, profile, line);
	else if (profile->limiter != TP_N_PARTS)
		tp_buf_puts(&most, tp_part_name(profile->limiter));
	char waits[16] = "?";
	if (profile->total_ns)
		snprintf(waits, sizeof(waits), "%.1f", 100 * tp_live_rank_waits(rank));
	tp_page_addf(page, TP_PAINT_NONE, "%c%7s %8d  %5.1f  %7s  ", is_shown ? '>' : ' ',
		     tp_buf_text(&number), (int)rank->pid, 100 * cpus_of(rank), waits);
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&most));
	tp_page_end(page);
	tp_buf_release(&number);
	tp_buf_release(&most);
}

void tp_report_live_ranks(struct tp_page *page, const struct tp_live *live, size_t most)
{
	size_t n = live->n_ranks;
	if (!n || !most)
		return;
	const struct tp_live_rank **order = tp_alloc(n * sizeof(const void *));
	for (size_t i = 0; i < n; i++)
		order[i] = &live->ranks[i];
	qsort(order, n, sizeof(const void *), compare_ranks);
	tp_page_add(page, TP_PAINT_BOLD, "    rank      pid  CPU %  comm. %  most of its time");
	tp_page_end(page);
	size_t shown = n <= most ? n : most - 1;
	for (size_t i = 0; i < shown; i++)
		print_rank(page, order[i], order[i] == &live->ranks[live->shown_rank]);
	if (shown < n) {
		tp_page_addf(page, TP_PAINT_DIM, "%8zu more", n - shown);
		tp_page_end(page);
	}
	tp_page_end(page);
	free(order);
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
