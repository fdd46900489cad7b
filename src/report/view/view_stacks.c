/* SPDX-License-Identifier: Apache-2.0 */
/* Lists functions by their time, and opens trees, callers, flame graph and source. */
#include "view_stacks.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 160, CALLERS_MAX = 5 };

void tp_view_add_selection(struct tp_buf *out, const struct tp_view *view,
			   const struct tp_view_selection *selection)
{
	static const char *const states[] = {"CPU time and waits", "CPU time", "waits"};
	tp_buf_puts(out, states[selection->state]);
	if (selection->task != TP_NO_TASK) {
		const struct tp_task *task = &view->trace->tasks[selection->task];
		tp_buf_printf(out, " of process %d (%s)", (int)task->pid,
			      tp_trace_string(view->trace, task->comm));
	} else if (selection->only_loaders) {
		tp_buf_puts(out, " of all loader workers");
	} else if (selection->part == TP_N_PARTS) {
		tp_buf_puts(out, " of all processes");
	}
	if (selection->part != TP_N_PARTS)
		tp_buf_printf(out, " in %s, of the main thread", tp_part_name(selection->part));
	if (selection->only_python)
		tp_buf_puts(out, ", Python alone");
}

void tp_view_add_function_place(struct tp_buf *out, const struct tp_view *view, uint32_t function,
				uint32_t line)
{
	const struct tp_frame *frame = tp_view_function_frame(&view->functions, function);
	const char *module = tp_trace_string(view->trace, frame->module);
	if (frame->kind == TP_FRAME_PYTHON)
		tp_buf_printf(out, "%s:%u",
			      tp_text_base_name(tp_trace_string(view->trace, frame->file)),
			      line ? line : frame->line);
	else
		tp_buf_puts(out, *module ? tp_text_base_name(module) : "[unknown]");
}

/* ---- top ---- */

static int compare_totals(const void *a, const void *b)
{
	const struct tp_view_cost *x = a;
	const struct tp_view_cost *y = b;
	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

static void make(struct tp_view *view, struct tp_view_place *place)
{
	struct tp_view_cost *costs =
		tp_view_costs(&view->functions, &place->selection, &place->n_items);
	if (place->sort % 2 && place->n_items)
		qsort(costs, place->n_items, sizeof(*costs), compare_totals);
	place->data = costs;
	place->whole_ns = tp_view_selected_ns(&view->functions, &place->selection);
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	struct tp_buf text = {0};
	tp_view_add_selection(&text, view, &place->selection);
	tp_buf_printf(&text, ": %s", tp_unit_elapsed(place->whole_ns).text);
	if (!view->profile->n_hot)
		tp_buf_puts(&text, ". No stacks were recorded");
	tp_page_column(page, 1);
	tp_page_wrap(page, 1, TP_PAINT_NONE, tp_buf_text(&text), 2);
	tp_buf_release(&text);
	tp_page_addf(page, TP_PAINT_DIM, "  self%s total%s  function", place->sort % 2 ? " " : "v",
		     place->sort % 2 ? "v" : " ");
	tp_page_column(page, page->style->width > 60 ? 48 : 30);
	tp_page_add(page, TP_PAINT_DIM, "where");
	tp_page_end(page);
}

static double ratio_of(const struct tp_view_place *place, uint64_t ns)
{
	return place->whole_ns ? (double)ns / (double)place->whole_ns : 0;
}

static void print_row(struct tp_view *view, struct tp_view_place *place, size_t item,
		      struct tp_page *page)
{
	const struct tp_view_cost *cost = &((const struct tp_view_cost *)place->data)[item];
	size_t column = page->style->width > 59 ? 47 : 29;
	struct tp_report_style style = *page->style;
	const struct tp_report_style *whole = page->style;
	struct tp_buf where = {0};
	char name[NAME_SIZE];
	tp_view_percent(page, ratio_of(place, cost->self_ns));
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_view_percent(page, ratio_of(place, cost->total_ns));
	tp_page_add(page, TP_PAINT_NONE, "  ");
	style.width = (unsigned)column - 1;
	page->style = &style;
	tp_page_add(page, TP_PAINT_NONE,
		    tp_view_function_name(&view->functions, cost->function, name, sizeof(name)));
	page->style = whole;
	tp_page_column(page, column);
	tp_view_add_function_place(&where, view, cost->function, cost->line);
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&where));
	tp_page_end(page);
	tp_buf_release(&where);
}

/* ---- the detail: the whole path, and the most frequent callers ---- */

static void print_callers(struct tp_view *view, struct tp_view_place *place, uint32_t function,
			  struct tp_page *page)
{
	struct tp_view_calls calls;
	char name[NAME_SIZE];
	tp_view_calls_make(&calls, view, &place->selection, true, function);
	uint32_t at = calls.nodes[0].child;
	if (at != TP_VIEW_NO_NODE)
		at = calls.nodes[at].child;
	tp_page_column(page, 1);
	tp_page_add(page, TP_PAINT_BOLD, at == TP_VIEW_NO_NODE ? "no known caller" : "called by");
	tp_page_end(page);
	for (int i = 0; i < CALLERS_MAX && at != TP_VIEW_NO_NODE; i++) {
		const struct tp_view_node *node = &calls.nodes[at];
		tp_page_add(page, TP_PAINT_NONE, "  ");
		tp_view_percent(page, ratio_of(place, node->total_ns));
		tp_page_addf(page, TP_PAINT_NONE, "  %s",
			     tp_view_function_name(&view->functions, node->function, name,
						   sizeof(name)));
		tp_page_end(page);
		at = node->next;
	}
	tp_view_calls_release(&calls);
}

static void print_detail(struct tp_view *view, struct tp_view_place *place, size_t item,
			 struct tp_page *page)
{
	const struct tp_view_cost *cost = &((const struct tp_view_cost *)place->data)[item];
	const struct tp_frame *frame = tp_view_function_frame(&view->functions, cost->function);
	bool is_python = frame->kind == TP_FRAME_PYTHON;
	tp_page_column(page, 1);
	tp_page_addf(page, TP_PAINT_NONE, "self %s, ", tp_unit_time((double)cost->self_ns).text);
	tp_page_addf(page, TP_PAINT_NONE, "total %s  ", tp_unit_time((double)cost->total_ns).text);
	tp_page_wrap(page, 1, TP_PAINT_NONE,
		     tp_trace_string(view->trace, is_python ? frame->file : frame->module), 2);
	print_callers(view, place, cost->function, page);
}

/* ---- to other screens ---- */

void tp_view_open_function(struct tp_view *view, const struct tp_view_selection *selection,
			   uint32_t function, uint32_t line)
{
	const struct tp_frame frame = *tp_view_function_frame(&view->functions, function);
	const struct tp_view_selection of = *selection;
	bool is_python = frame.kind == TP_FRAME_PYTHON && frame.file;
	bool is_native = frame.kind == TP_FRAME_NATIVE && view->input.find_lines;
	struct tp_view_place *next =
		tp_view_push(view, is_python || is_native ? TP_SCREEN_SOURCE : TP_SCREEN_TREE);
	next->selection = of;
	next->function = function;
	next->mode = is_python || is_native ? 0 : TP_VIEW_TREE_CALLERS;
	next->file = frame.file;
	next->line = line ? line : frame.line;
	tp_view_make_rows(view, next);
	if (!is_native || next->n_rows)
		return;
	/* Without debug information the callers are shown. */
	tp_view_release_rows(next);
	next->screen = view->screens[TP_SCREEN_TREE];
	next->mode = TP_VIEW_TREE_CALLERS;
	next->cursor = next->top = 0;
	tp_view_make_rows(view, next);
	tp_view_show_message(view, "No source line is known of it: these are its callers.");
}

static void open_row(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	const struct tp_view_cost cost = ((const struct tp_view_cost *)place->data)[item];
	tp_view_open_function(view, &place->selection, cost.function, cost.line);
}

/* Returns the function of the row under the cursor, on any of the three screens. */
static uint32_t function_at_cursor(const struct tp_view_place *place)
{
	size_t item = tp_view_cursor_item(place);
	if (item == SIZE_MAX)
		return TP_VIEW_NO_FUNCTION;
	if (place->screen->id == TP_SCREEN_STACKS)
		return ((const struct tp_view_cost *)place->data)[item].function;
	return ((const struct tp_view_calls *)place->data)->nodes[item].function;
}

void tp_view_stacks_switch(struct tp_view *view, struct tp_view_place *place, int key)
{
	uint32_t function = function_at_cursor(place);
	if (key == 'r' && function == TP_VIEW_NO_FUNCTION) {
		tp_view_show_message(view, "There is no function under the cursor.");
		return;
	}
	/* The new screen replaces the old one, so that Esc leaves the stacks. */
	tp_view_release_rows(place);
	place->cursor = place->top = 0;
	place->filter[0] = '\0';
	place->function = key == 'r' ? function : TP_VIEW_NO_FUNCTION;
	place->index = 0;
	if (key == 'w')
		place->selection.state =
			(enum tp_view_state)((place->selection.state + 1) % TP_VIEW_N_STATES);
	else if (key == 'p')
		place->selection.only_python = !place->selection.only_python;
	else
		place->screen = view->screens[key == 't'   ? TP_SCREEN_STACKS
					      : key == 'f' ? TP_SCREEN_FLAME
							   : TP_SCREEN_TREE];
	if (key == 'd' || key == 'i' || key == 'r')
		place->mode = key == 'd'   ? TP_VIEW_TREE_DOWN
			      : key == 'i' ? TP_VIEW_TREE_INVERTED
					   : TP_VIEW_TREE_CALLERS;
	tp_view_make_rows(view, place);
}

const struct tp_view_screen tp_view_stacks = {
	.id = TP_SCREEN_STACKS,
	.name = "stacks",
	.title = "Stacks",
	.make = make,
	.print_head = print_head,
	.print_row = print_row,
	.print_detail = print_detail,
	.open = open_row,
};
