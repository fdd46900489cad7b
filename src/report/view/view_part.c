/* SPDX-License-Identifier: Apache-2.0 */
/* Shows one part of the step: the lines and functions where its time is spent, and the workers. */
#include "view_spans.h"
#include "view_stacks.h"

#include "report/digest/source_lines.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
	SPANS_MAX = 100,
	KERNELS_MAX = 100,
	LINES_MAX = 6,
	WORKERS_MAX = 8,
	FUNCTIONS_MAX = 40,
	WORKER_FUNCTIONS_MAX = 5,
	NAME_SIZE = 160
};

/* Minimum share of the step for a line to be listed with others. */
static const double smallest_line = 0.01;

enum row_kind { ROW_LINE, ROW_WORKER, ROW_FUNCTION, ROW_WORKER_FUNCTION, ROW_KERNEL, ROW_SPAN };

struct part_row {
	enum row_kind kind;
	size_t index; /* index of a line, thread or kernel of the profile */
	struct tp_view_cost cost;
	struct tp_view_span_cost span;
	uint64_t of_ns; /* the whole that the cost is a share of */
};

struct part_rows {
	struct part_row *items;
	size_t n;
	size_t capacity;
};

static void add_row(struct part_rows *rows, struct part_row row)
{
	TP_ARRAY_PUSH(rows->items, rows->n, rows->capacity) = row;
}

static void add_lines(struct part_rows *rows, const struct tp_view *view, enum tp_part part)
{
	size_t n = 0;
	for (size_t i = 0; i < view->profile->n_lines && n < LINES_MAX; i++) {
		const struct tp_line_result *line = &view->profile->lines[i];
		double share = (double)line->time_ns / (double)view->profile->total_ns;
		if (line->part != part || (n && share < smallest_line))
			continue;
		add_row(rows, (struct part_row){.kind = ROW_LINE, .index = i});
		n++;
	}
}

static void add_functions(struct part_rows *rows, const struct tp_view *view, enum row_kind kind,
			  const struct tp_view_selection *selection, size_t most)
{
	size_t n;
	struct tp_view_cost *costs = tp_view_costs(&view->functions, selection, &n);
	uint64_t of_ns = tp_view_selected_ns(&view->functions, selection);
	for (size_t i = 0; i < n && i < most && costs[i].self_ns; i++)
		add_row(rows, (struct part_row){.kind = kind, .cost = costs[i], .of_ns = of_ns});
	free(costs);
}

static struct tp_view_selection select_loaders(const struct tp_view *view)
{
	struct tp_view_selection selection = tp_view_select_all(&view->functions);
	selection.only_loaders = true;
	selection.state = TP_VIEW_CPU_TIME;
	return selection;
}

/* Adds the activity of GPUs, if it is known. */
static void add_kernels(struct part_rows *rows, const struct tp_view *view, enum tp_part part)
{
	static const enum tp_part part_of[TP_N_OP_CLASSES] = {
		[TP_OP_COMPUTE] = TP_PART_COMPUTE,
		[TP_OP_COMMUNICATION] = TP_PART_COMMUNICATION,
		[TP_OP_COPY] = TP_PART_MEMORY,
	};
	uint64_t all_ns = 0;
	size_t n = 0;
	for (size_t i = 0; i < view->profile->n_kernels; i++)
		if (part_of[view->profile->kernels[i].class] == part)
			all_ns += view->profile->kernels[i].time_ns;
	for (size_t i = 0; i < view->profile->n_kernels && n < KERNELS_MAX; i++) {
		if (part_of[view->profile->kernels[i].class] != part)
			continue;
		add_row(rows, (struct part_row){.kind = ROW_KERNEL, .index = i, .of_ns = all_ns});
		n++;
	}
}

/* Adds the activity of threads in the meantime, from the spans that they recorded. */
static void add_spans(struct part_rows *rows, const struct tp_view *view)
{
	size_t n;
	uint64_t all_ns;
	struct tp_view_span_cost *costs = tp_view_span_costs(view->profile, &n, &all_ns);
	for (size_t i = 0; i < n && i < SPANS_MAX; i++)
		add_row(rows,
			(struct part_row){.kind = ROW_SPAN, .span = costs[i], .of_ns = all_ns});
	free(costs);
}

/* Adds the workers that make the batches for the main thread. */
static void add_workers(struct part_rows *rows, const struct tp_view *view)
{
	const struct tp_view_selection loaders = select_loaders(view);
	size_t n = 0;
	add_functions(rows, view, ROW_WORKER_FUNCTION, &loaders, WORKER_FUNCTIONS_MAX);
	for (size_t i = 0; i < view->profile->n_threads && n < WORKERS_MAX; i++) {
		const struct tp_thread_result *thread = &view->profile->threads[i];
		uint64_t active_ns = thread->on_cpu_ns + thread->runnable_ns;
		/* The thread that feeds the queue of a worker has the loader role, but does almost
		 * no work. */
		if (thread->role != TP_THREAD_LOADER || active_ns < thread->lived_ns / 100)
			continue;
		add_row(rows, (struct part_row){.kind = ROW_WORKER, .index = i});
		n++;
	}
}

static void make(struct tp_view *view, struct tp_view_place *place)
{
	struct part_rows rows = {0};
	add_lines(&rows, view, place->selection.part);
	add_kernels(&rows, view, place->selection.part);
	if (place->selection.part == TP_PART_DATALOADER)
		add_workers(&rows, view);
	add_functions(&rows, view, ROW_FUNCTION, &place->selection, FUNCTIONS_MAX);
	/* The GPU waits for a thread, and no stack shows in which function. */
	if (!view->profile->n_hot && place->selection.part != TP_PART_COMPUTE)
		add_spans(&rows, view);
	place->data = rows.items;
	place->n_items = rows.n;
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	enum tp_part part = place->selection.part;
	const struct tp_part_result *result = &view->profile->parts[part];
	tp_page_addf(page, TP_PAINT_NONE, " ");
	tp_page_add(page, TP_PAINT_PART + part, tp_part_name(part));
	tp_page_addf(
		page, TP_PAINT_NONE, "  %s, %s of %s",
		tp_unit_scaled(view->digest.scale, (double)result->time_ns / view->digest.divisor)
			.text,
		tp_unit_percent((double)result->time_ns / (double)view->profile->total_ns).text,
		view->profile->is_of_steps ? "each step" : "the measured time");
	tp_page_end(page);
	tp_page_add(page, TP_PAINT_DIM, " share  what");
	tp_page_column(page, page->style->width > 60 ? 42 : 28);
	tp_page_add(page, TP_PAINT_DIM, "where");
	tp_page_end(page);
}

static void print_with_place(struct tp_page *page, const char *what, const char *where)
{
	size_t column = page->style->width > 60 ? 41 : 27;
	struct tp_report_style style = *page->style;
	const struct tp_report_style *whole = page->style;
	style.width = (unsigned)column - 1;
	page->style = &style;
	tp_page_add(page, TP_PAINT_NONE, what);
	page->style = whole;
	tp_page_column(page, column);
	tp_page_add(page, TP_PAINT_NONE, where);
	tp_page_end(page);
}

static void print_worker(struct tp_view *view, const struct tp_thread_result *thread,
			 struct tp_page *page)
{
	const struct tp_task *task = &view->trace->tasks[thread->task];
	struct tp_buf what = {0};
	double lived = thread->lived_ns ? (double)thread->lived_ns : 1;
	tp_view_percent(page, (double)thread->on_cpu_ns / lived);
	tp_buf_printf(&what, "  worker %d, %s waits for a CPU", (int)task->tid,
		      tp_unit_percent((double)thread->runnable_ns / lived).text);
	print_with_place(page, tp_buf_text(&what), tp_trace_string(view->trace, task->comm));
	tp_buf_release(&what);
}

static void print_function(struct tp_view *view, const struct part_row *row, struct tp_page *page)
{
	char name[NAME_SIZE];
	struct tp_buf what = {0};
	struct tp_buf where = {0};
	tp_view_percent(page, row->of_ns ? (double)row->cost.self_ns / (double)row->of_ns : 0);
	tp_buf_printf(&what, "  %s%s", row->kind == ROW_WORKER_FUNCTION ? "worker in " : "in ",
		      tp_view_function_name(&view->functions, row->cost.function, name,
					    sizeof(name)));
	tp_view_add_function_place(&where, view, row->cost.function, row->cost.line);
	print_with_place(page, tp_buf_text(&what), tp_buf_text(&where));
	tp_buf_release(&what);
	tp_buf_release(&where);
}

static void print_line(struct tp_view *view, const struct tp_line_result *line,
		       struct tp_page *page)
{
	struct tp_buf what = {0};
	struct tp_buf where = {0};
	tp_view_percent(page, (double)line->time_ns / (double)view->profile->total_ns);
	tp_buf_printf(&what, "  line of %s", tp_trace_string(view->trace, line->symbol));
	tp_buf_printf(&where, "%s:%u", tp_text_base_name(tp_trace_string(view->trace, line->file)),
		      line->line);
	print_with_place(page, tp_buf_text(&what), tp_buf_text(&where));
	tp_buf_release(&what);
	tp_buf_release(&where);
}

static void print_kernel(struct tp_view *view, const struct part_row *row, struct tp_page *page)
{
	const struct tp_kernel_result *kernel = &view->profile->kernels[row->index];
	struct tp_buf what = {0};
	tp_view_percent(page, row->of_ns ? (double)kernel->time_ns / (double)row->of_ns : 0);
	tp_buf_printf(&what, "  %s, %s times", kernel->family, tp_unit_count(kernel->n).text);
	print_with_place(page, tp_buf_text(&what), tp_trace_string(view->trace, kernel->name));
	tp_buf_release(&what);
}

static void print_span(struct tp_view *view, const struct part_row *row, struct tp_page *page)
{
	struct tp_buf what = {0};
	tp_view_percent(page, row->of_ns ? (double)row->span.own_ns / (double)row->of_ns : 0);
	tp_buf_printf(&what, "  thread, %s in", tp_unit_time((double)row->span.own_ns).text);
	tp_buf_printf(&what, " %s", tp_unit_counted(row->span.n, "span").text);
	print_with_place(page, tp_buf_text(&what), tp_trace_string(view->trace, row->span.name));
	tp_buf_release(&what);
}

static void print_kernel_detail(struct tp_view *view, const struct tp_kernel_result *kernel,
				struct tp_page *page)
{
	tp_page_column(page, 1);
	tp_page_addf(page, TP_PAINT_NONE, "%s in all, ",
		     tp_unit_time((double)kernel->time_ns).text);
	tp_page_addf(
		page, TP_PAINT_NONE, "%s each: ",
		tp_unit_time(kernel->n ? (double)kernel->time_ns / (double)kernel->n : 0).text);
	tp_page_wrap(page, 1, TP_PAINT_NONE, tp_trace_string(view->trace, kernel->name), 0);
}

static void print_row(struct tp_view *view, struct tp_view_place *place, size_t item,
		      struct tp_page *page)
{
	const struct part_row *row = &((const struct part_row *)place->data)[item];
	if (row->kind == ROW_LINE)
		print_line(view, &view->profile->lines[row->index], page);
	else if (row->kind == ROW_WORKER)
		print_worker(view, &view->profile->threads[row->index], page);
	else if (row->kind == ROW_KERNEL)
		print_kernel(view, row, page);
	else if (row->kind == ROW_SPAN)
		print_span(view, row, page);
	else
		print_function(view, row, page);
}

static void print_detail(struct tp_view *view, struct tp_view_place *place, size_t item,
			 struct tp_page *page)
{
	static const char *const texts[] = {
		"A line of the main thread, with the time below it. Its share is of the step. "
		"Enter shows the source.",
		"A worker that makes batches. The share is how much of its time it was on a CPU. "
		"Enter shows its functions.",
		"A function that the main thread was in, itself. The share is of this part. Enter "
		"shows the source or, without one, the callers.",
		"A function that workers were in, themselves. The share is of their CPU time. "
		"Enter "
		"shows the source or, without one, the callers.",
		"Work of GPUs. The share is of all work of this kind, on all GPUs together. Enter "
		"shows who launched it.",
		"What threads recorded, without what it calls. The share is of all that threads "
		"recorded in the judged steps, whatever the part of the step.",
	};
	const struct part_row *row = &((const struct part_row *)place->data)[item];
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, TP_PAINT_DIM, texts[row->kind], 0);
	if (row->kind == ROW_KERNEL)
		print_kernel_detail(view, &view->profile->kernels[row->index], page);
	if (row->kind == ROW_SPAN) {
		tp_page_column(page, 1);
		tp_page_wrap(page, 1, TP_PAINT_NONE, tp_trace_string(view->trace, row->span.name),
			     0);
	}
}

/* Stacks are recorded by process. */
static uint32_t leader_of(const struct tp_view *view, uint32_t task)
{
	const struct tp_task *tasks = view->trace->tasks;
	for (size_t i = 0; i < view->profile->n_processes; i++)
		if (tasks[view->profile->processes[i].task].pid == tasks[task].pid)
			return view->profile->processes[i].task;
	return task;
}

static void open_row(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	const struct part_row row = ((const struct part_row *)place->data)[item];
	enum tp_part part = place->selection.part;
	if (row.kind == ROW_LINE) {
		const struct tp_line_result *line = &view->profile->lines[row.index];
		struct tp_view_place *next = tp_view_push(view, TP_SCREEN_SOURCE);
		next->selection.part = part;
		next->file = line->file;
		next->line = line->line;
		tp_view_make_rows(view, next);
		return;
	}
	if (row.kind == ROW_KERNEL) {
		tp_view_push(view, TP_SCREEN_LAUNCHES)->index = row.index;
		tp_view_make_rows(view, tp_view_top_place(view));
		return;
	}
	if (row.kind == ROW_SPAN) {
		tp_view_show_message(view, "The trace has no further details.");
		return;
	}
	if (row.kind == ROW_WORKER) {
		struct tp_view_place *next = tp_view_push(view, TP_SCREEN_STACKS);
		next->selection = select_loaders(view);
		next->selection.task = leader_of(view, view->profile->threads[row.index].task);
		tp_view_make_rows(view, next);
		return;
	}
	struct tp_view_selection selection = place->selection;
	if (row.kind == ROW_WORKER_FUNCTION)
		selection = select_loaders(view);
	tp_view_open_function(view, &selection, row.cost.function, row.cost.line);
}

const struct tp_view_screen tp_view_part = {
	.id = TP_SCREEN_PART,
	.name = "part",
	.make = make,
	.print_head = print_head,
	.print_row = print_row,
	.print_detail = print_detail,
	.open = open_row,
};
