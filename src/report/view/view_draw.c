/* SPDX-License-Identifier: Apache-2.0 */
/* Lays out a screen: title, tabs, head, rows, detail below or next to the rows, keys. */
#include "view_state.h"

#include "report/digest/verdict.h"
#include "trainprof/base/text.h"
#include "trainprof/report/live.h"
#include "trainprof/report/units.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
	SHORT_BELOW = 18,     /* lines: no detail */
	MIN_SUBJECT = 12,     /* columns for the command */
	HEAD_SHARE = 2,       /* the head has at most 1/HEAD_SHARE of the lines */
	DETAIL_PERCENT = 42,  /* of the lines if below the rows, of the columns if next to them */
	SHORT_HEAD_BELOW = 15 /* lines: no head if there are rows */
};

/* ---- title and tabs ---- */

/* A few seconds of a running program are too short for a verdict: the part that takes most is
 * named. */
static void add_verdict(struct tp_buf *out, const struct tp_view *view)
{
	bool has_limiter = view->profile->total_ns && view->profile->limiter != TP_N_PARTS;
	const char *title = !view->input.live ? tp_report_verdict_title(view->input.report)
			    : has_limiter     ? tp_part_name(view->profile->limiter)
					      : "";
	for (const char *c = title; *c; c++)
		tp_buf_putc(out, (char)toupper((unsigned char)*c));
}

/* "14:03:11  last 2.0 s of 0:41" */
static void add_live_time(struct tp_buf *out, const struct tp_view *view)
{
	const struct tp_live *live = view->input.live;
	if (tp_view_is_held(view))
		tp_buf_printf(out, "held at %s", live->clock);
	else
		tp_buf_printf(out, "%s  last %s of %s", live->clock,
			      tp_unit_elapsed(live->window_ns).text,
			      tp_unit_clock(live->watched_ns).text);
}

/* The command is cut, the figures are not. */
static void draw_subject(struct tp_view *view, struct tp_grid *grid, size_t end)
{
	struct tp_buf subject = {0};
	struct tp_buf extent = {0};
	bool is_narrow = grid->columns < TP_VIEW_NARROW_BELOW;
	if (view->input.live)
		tp_buf_printf(&subject, "%s%s  ", is_narrow ? "" : "trainprof top  ",
			      view->input.live->subject);
	else
		tp_buf_puts(&subject, is_narrow ? "" : "trainprof  ");
	tp_report_add_subject(&subject, &view->digest);
	if (view->input.live)
		add_live_time(&extent, view);
	else if (!is_narrow)
		tp_report_add_extent(&extent, &view->digest, TP_EXTENT_STEPS);
	size_t width = tp_text_width(tp_buf_text(&extent)) + 2;
	size_t room = end > width + MIN_SUBJECT && !is_narrow ? end - width : end;
	size_t column = tp_grid_put(grid, 0, 0, room, TP_PAINT_NONE, tp_buf_text(&subject));
	if (room < end)
		tp_grid_put(grid, 0, column + 2, end, TP_PAINT_NONE, tp_buf_text(&extent));
	tp_buf_release(&subject);
	tp_buf_release(&extent);
}

static void draw_title(struct tp_view *view, struct tp_grid *grid)
{
	struct tp_buf verdict = {0};
	add_verdict(&verdict, view);
	size_t width = tp_text_width(tp_buf_text(&verdict));
	size_t begin = grid->columns > width ? grid->columns - width : 0;
	if (begin > MIN_SUBJECT)
		draw_subject(view, grid, begin - 2);
	tp_grid_put(grid, 0, begin, grid->columns, TP_PAINT_BOLD, tp_buf_text(&verdict));
	tp_buf_release(&verdict);
}

/* "1 Overview > dataloader > source". */
static void draw_path(struct tp_view *view, struct tp_grid *grid, size_t column)
{
	char number[16];
	const struct tp_view_screen *screen = view->screens[view->tab];
	snprintf(number, sizeof(number), "%zu/%d ", view->tab + 1, TP_VIEW_TABS);
	column = tp_grid_put(grid, 1, column, grid->columns, TP_PAINT_NONE, number);
	column = tp_grid_put(grid, 1, column, grid->columns, TP_PAINT_BOLD, screen->title);
	for (size_t i = 1; i < view->n_places; i++) {
		column = tp_grid_put(grid, 1, column, grid->columns, TP_PAINT_NONE, " > ");
		column = tp_grid_put(grid, 1, column, grid->columns, TP_PAINT_BOLD,
				     view->places[i].screen->name);
	}
}

static void draw_tabs(struct tp_view *view, struct tp_grid *grid)
{
	size_t column = 0;
	if (grid->columns < 78 || view->n_places > 1) {
		draw_path(view, grid, 0);
		return;
	}
	for (size_t i = 0; i < TP_VIEW_TABS; i++) {
		char text[32];
		bool is_shown = i == view->tab;
		snprintf(text, sizeof(text), "%s%zu %s%s", is_shown ? "[" : " ", i + 1,
			 view->screens[i]->title, is_shown ? "]" : " ");
		column = tp_grid_put(grid, 1, column, grid->columns,
				     is_shown ? TP_PAINT_BOLD : TP_PAINT_NONE, text);
	}
}

/* Draws the filter, which hides rows, in a prominent place. */
static void draw_filter(struct tp_view *view, struct tp_grid *grid)
{
	struct tp_buf text = {0};
	const char *filter = tp_view_top_place(view)->filter;
	if (!*filter)
		return;
	tp_buf_printf(&text, " only rows with '%s' ", filter);
	size_t width = tp_text_width(tp_buf_text(&text));
	tp_grid_put(grid, 2, grid->columns > width + 2 ? grid->columns - width - 2 : 0,
		    grid->columns, TP_PAINT_WARN, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void draw_rule(struct tp_grid *grid, size_t line)
{
	for (size_t i = 0; i < grid->columns; i++)
		tp_grid_put(grid, line, i, i + 1, TP_PAINT_DIM, "─");
}

/* ---- the bottom line ---- */

static void draw_bottom(struct tp_view *view, struct tp_grid *grid, size_t line)
{
	struct tp_buf text = {0};
	if (view->prompt != TP_VIEW_NO_PROMPT)
		tp_buf_printf(&text, " %s: %s_",
			      view->prompt == TP_VIEW_SEARCH ? "search" : "only rows with",
			      view->word);
	else if (view->message[0])
		tp_buf_printf(&text, " %s", view->message);
	else
		tp_view_add_hints(view, &text, grid->columns);
	tp_grid_put(grid, line, 0, grid->columns, TP_PAINT_NONE, tp_buf_text(&text));
	tp_buf_release(&text);
}

/* ---- rows ---- */

static void keep_cursor_visible(struct tp_view_place *place, size_t n)
{
	if (place->screen->print_text) {
		size_t last = place->n_rows > n ? place->n_rows - n : 0;
		if (place->cursor > last)
			place->cursor = last;
		place->top = place->cursor;
		return;
	}
	if (place->cursor < place->top)
		place->top = place->cursor;
	if (n && place->cursor >= place->top + n)
		place->top = place->cursor - n + 1;
	if (place->top + n > place->n_rows)
		place->top = place->n_rows > n ? place->n_rows - n : 0;
}

static void draw_one_row(struct tp_view *view, struct tp_view_place *place, struct tp_grid *grid,
			 size_t line, size_t end, size_t row)
{
	struct tp_page page;
	struct tp_report_style style = view->style;
	style.width = end > 1 ? (unsigned)end - 1 : 1;
	tp_page_init(&page, &style);
	place->screen->print_row(view, place, tp_view_item(place, row), &page);
	tp_grid_put_page(grid, line, 1, end, 1, &page, 0);
	tp_page_release(&page);
	if (row != place->cursor)
		return;
	tp_grid_put(grid, line, 0, end, TP_PAINT_NONE, ">");
	size_t selected = place->screen->selected_columns;
	if (grid->columns < TP_VIEW_NARROW_BELOW)
		selected /= 2;
	tp_grid_select(grid, line, 0, selected ? selected : end);
}

static void draw_rows(struct tp_view *view, struct tp_view_place *place, struct tp_grid *grid,
		      size_t line, size_t n, size_t end)
{
	view->row_lines = n;
	if (place->screen->print_text) {
		const struct tp_page *page = tp_view_text(view, place);
		keep_cursor_visible(place, n);
		tp_grid_put_page(grid, line, 0, end, n, page, place->top);
		return;
	}
	keep_cursor_visible(place, n);
	for (size_t i = 0; i < n && place->top + i < place->n_rows; i++)
		draw_one_row(view, place, grid, line + i, end, place->top + i);
	if (!place->n_rows && place->screen->print_row)
		tp_grid_put(grid, line, 1, end, TP_PAINT_DIM,
			    place->filter[0] ? "No row contains that word; Esc shows all."
					     : "Nothing was recorded for this screen.");
}

/* ---- head and detail ---- */

static size_t draw_head(struct tp_view *view, struct tp_view_place *place, struct tp_grid *grid,
			size_t line, size_t end, size_t most)
{
	struct tp_page page;
	struct tp_report_style style = view->style;
	if (!place->screen->print_head)
		return 0;
	style.width = (unsigned)end;
	tp_page_init(&page, &style);
	place->screen->print_head(view, place, &page);
	size_t n = tp_grid_put_page(grid, line, 0, end, most, &page, 0);
	tp_page_release(&page);
	return n;
}

static void draw_detail(struct tp_view *view, struct tp_view_place *place, struct tp_grid *grid,
			size_t line, size_t column, size_t n)
{
	struct tp_page page;
	struct tp_report_style style = view->style;
	size_t item = tp_view_cursor_item(place);
	if (item == SIZE_MAX)
		return;
	style.width = (unsigned)(grid->columns - column);
	tp_page_init(&page, &style);
	place->screen->print_detail(view, place, item, &page);
	tp_grid_put_page(grid, line, column, grid->columns, n, &page, 0);
	tp_page_release(&page);
}

/* Number of lines of the detail if the rows and the detail have n lines. */
static size_t detail_lines(const struct tp_view_place *place, const struct tp_grid *grid, size_t n)
{
	if (!place->screen->print_detail || grid->lines < SHORT_BELOW)
		return 0;
	size_t most = n * DETAIL_PERCENT / 100;
	/* The detail may use the lines that the rows do not need. */
	size_t spare = place->n_rows + 1 < n ? n - place->n_rows - 1 : 0;
	return spare > most ? spare : most;
}

static void draw_body(struct tp_view *view, struct tp_grid *grid, size_t line, size_t n)
{
	struct tp_view_place *place = tp_view_top_place(view);
	bool is_wide = grid->columns >= TP_VIEW_WIDE_FROM && place->screen->print_detail &&
		       !place->screen->needs_width;
	size_t end = is_wide ? grid->columns - grid->columns * DETAIL_PERCENT / 100 : grid->columns;
	size_t bottom = line + n;
	if (place->screen->draw) {
		place->screen->draw(view, place, grid, line, n);
		return;
	}
	if (is_wide) {
		for (size_t i = line; i < bottom; i++)
			tp_grid_put(grid, i, end, end + 1, TP_PAINT_DIM, "│");
		draw_detail(view, place, grid, line, end + 2, n);
	}
	if (grid->lines >= SHORT_HEAD_BELOW || !place->n_rows)
		line += draw_head(view, place, grid, line, end, n / HEAD_SHARE);
	size_t below = is_wide ? 0 : detail_lines(place, grid, bottom - line);
	size_t n_rows = bottom - line - below;
	if (below) {
		draw_rule(grid, bottom - below);
		draw_detail(view, place, grid, bottom - below + 1, 0, below - 1);
	}
	draw_rows(view, place, grid, line, n_rows, end);
}

static void draw_too_small(const struct tp_view *view, struct tp_grid *grid)
{
	char text[80];
	(void)view;
	snprintf(text, sizeof(text), "trainprof needs %dx%d; this is %zux%zu.", TP_VIEW_MIN_COLUMNS,
		 TP_VIEW_MIN_LINES, grid->columns, grid->lines);
	tp_grid_put(grid, 0, 0, grid->columns, TP_PAINT_NONE, text);
	tp_grid_put(grid, 1, 0, grid->columns, TP_PAINT_NONE, "q quit");
	tp_grid_put(grid, 2, 0, grid->columns, TP_PAINT_NONE, "trainprof report");
}

void tp_view_draw(struct tp_view *view, struct tp_grid *grid)
{
	tp_grid_clear(grid);
	if (grid->columns < TP_VIEW_MIN_COLUMNS || grid->lines < TP_VIEW_MIN_LINES) {
		draw_too_small(view, grid);
		return;
	}
	view->style.width = (unsigned)grid->columns;
	view->style.is_ascii = grid->is_ascii;
	view->lines = grid->lines;
	draw_title(view, grid);
	draw_tabs(view, grid);
	draw_rule(grid, 2);
	draw_filter(view, grid);
	draw_body(view, grid, 3, grid->lines - 5);
	draw_rule(grid, grid->lines - 2);
	draw_bottom(view, grid, grid->lines - 1);
}
