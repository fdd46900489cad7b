/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tables of lines and of loader workers. */
#include "line_tables.h"

#include "report/digest/source_lines.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

enum { N_LINES_SHOWN = 4, N_WORKERS_SHOWN = 16, N_FUNCTIONS_SHOWN = 10 };

/* Minimum share of the total for a line to be listed; minimum share of a worker's life for an
 * activity. */
static const double SMALLEST_LINE = 0.005;
static const double SMALLEST_TIME = 0.005;

static void print_source_line(struct tp_page *page, const struct tp_report_digest *digest,
			      const struct tp_line_result *line)
{
	struct tp_buf text = {0};
	double ns = (double)line->time_ns;
	tp_page_addf(page, TP_PAINT_NONE, "    %s  %6s  ",
		     tp_unit_right(tp_unit_scaled(digest->scale, ns / digest->divisor), 9).text,
		     tp_unit_percent(ns / (double)digest->profile->total_ns).text);
	tp_report_add_place(&text, digest->trace, line);
	tp_buf_printf(&text, ", mostly %s", tp_label_name(line->label));
	tp_page_wrap(page, 23, TP_PAINT_NONE, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

static void print_lines_of(struct tp_page *page, const struct tp_report_digest *digest,
			   enum tp_part part)
{
	const struct tp_profile *profile = digest->profile;
	size_t shown[2] = {0};
	for (size_t i = 0; i < profile->n_lines; i++) {
		const struct tp_line_result *line = &profile->lines[i];
		double share = (double)line->time_ns / (double)profile->total_ns;
		if (line->part != part || share < SMALLEST_LINE ||
		    shown[line->is_own] >= N_LINES_SHOWN)
			continue;
		if (!shown[line->is_own]++) {
			tp_page_addf(page, TP_PAINT_NONE, "  %s, %s", tp_part_name(part),
				     line->is_own ? "innermost line of your own"
						  : "line of the loop");
			tp_page_end(page);
		}
		print_source_line(page, digest, line);
	}
}

void tp_report_line_tables(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (!digest->profile->n_lines || !digest->profile->total_ns)
		return;
	tp_page_add_section(page, "Lines");
	for (size_t i = 0; i < digest->n_shown; i++)
		print_lines_of(page, digest, digest->order[i]);
}

static void print_functions_of(struct tp_page *page, const struct tp_report_digest *digest,
			       enum tp_work_of of, const char *title)
{
	const struct tp_profile *profile = digest->profile;
	size_t shown = 0;
	for (size_t i = 0; i < profile->n_works && shown < N_FUNCTIONS_SHOWN; i++) {
		const struct tp_work_result *work = &profile->works[i];
		double share = profile->work_ns[of]
				       ? (double)work->time_ns / (double)profile->work_ns[of]
				       : 0;
		if (work->of != of || share < SMALLEST_TIME)
			continue;
		if (!shown++) {
			tp_page_addf(page, TP_PAINT_NONE, "  %s", title);
			tp_page_end(page);
		}
		tp_page_addf(page, TP_PAINT_NONE, "    %6s  %s", tp_unit_percent(share).text,
			     work->name);
		if (work->file)
			tp_page_addf(page, TP_PAINT_NONE, ", %s:%u",
				     tp_text_base_name(tp_trace_string(digest->trace, work->file)),
				     work->line);
		tp_page_end(page);
	}
}

void tp_report_function_table(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_works)
		return;
	tp_page_add_section(page, "Functions");
	const char *loading = profile->n_workers ? "loader workers, of their work" : "loading";
	print_functions_of(page, digest, TP_WORK_OF_TASKS, "worker processes, of their work");
	print_functions_of(page, digest, TP_WORK_OF_LOADING, loading);
	print_functions_of(page, digest, TP_WORK_OF_MAIN, "main thread, of its time on a CPU");
}

static const char *worker_words(enum tp_worker_time what)
{
	static const char *const words[TP_N_WORKER_TIMES] = {
		[TP_WORKER_DECODE] = "decodes",
		[TP_WORKER_TRANSFORM] = "transforms",
		[TP_WORKER_READ] = "reads",
		[TP_WORKER_HANDOVER] = "hands over",
		[TP_WORKER_QUEUE_FULL] = "waits for room",
		[TP_WORKER_INDEX_WAIT] = "waits for work",
		[TP_WORKER_SLEEP] = "sleeps",
		[TP_WORKER_CPU_QUEUE] = "waits for a CPU",
		[TP_WORKER_OTHER] = "other waits",
	};
	return words[what];
}

static void print_worker(struct tp_page *page, const struct tp_trace *trace,
			 const struct tp_worker_result *worker)
{
	struct tp_buf text = {0};
	const struct tp_task *task = &trace->tasks[worker->task];
	for (int what = 0; what < TP_N_WORKER_TIMES; what++) {
		double share = (double)worker->time_ns[what] / (double)worker->lived_ns;
		if (share >= SMALLEST_TIME)
			tp_buf_printf(&text, "%s%s %s", text.len ? ", " : "",
				      worker_words((enum tp_worker_time)what),
				      tp_unit_percent(share).text);
	}
	tp_page_addf(page, TP_PAINT_NONE, "  %7d  ", (int)task->tid);
	tp_page_wrap(page, 11, TP_PAINT_NONE, tp_buf_text(&text), 3);
	tp_buf_release(&text);
}

static void print_batches(struct tp_page *page, const struct tp_profile *profile)
{
	const struct tp_quantity *batch = &profile->facts[TP_FACT_LOADER_BATCH];
	const struct tp_quantity *supply = &profile->facts[TP_FACT_LOADER_SUPPLY];
	const struct tp_quantity *demand = &profile->facts[TP_FACT_LOADER_DEMAND];
	if (!batch->is_known || !supply->is_known || !demand->is_known)
		return;
	struct tp_buf text = {0};
	tp_buf_printf(&text, "a worker takes %s per batch; ", tp_unit_time(batch->value).text);
	tp_buf_printf(&text, "%s per second can be made, ", tp_unit_number(supply->value).text);
	tp_buf_printf(&text, "%s per second could be used", tp_unit_number(demand->value).text);
	tp_page_column(page, 2);
	tp_page_wrap(page, 4, TP_PAINT_NONE, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

void tp_report_worker_table(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_workers)
		return;
	tp_page_add_section(page, "Loader workers");
	print_batches(page, profile);
	for (size_t i = 0; i < profile->n_workers && i < N_WORKERS_SHOWN; i++)
		print_worker(page, digest->trace, &profile->workers[i]);
	if (profile->n_workers > N_WORKERS_SHOWN) {
		tp_page_addf(page, TP_PAINT_DIM, "  and %zu more",
			     profile->n_workers - N_WORKERS_SHOWN);
		tp_page_end(page);
	}
}
