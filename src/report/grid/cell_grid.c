/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text into cells: one column per character, two for wide ones, none for combining marks. */
#include "trainprof/report/cell_grid.h"

#include "character_width.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void tp_grid_clear(struct tp_grid *grid)
{
	for (size_t i = 0; i < grid->columns * grid->lines; i++)
		grid->cells[i] = (struct tp_cell){.text = " "};
}

void tp_grid_init(struct tp_grid *grid, size_t columns, size_t lines, bool is_ascii)
{
	*grid = (struct tp_grid){.columns = columns, .lines = lines, .is_ascii = is_ascii};
	grid->cells = tp_alloc((columns * lines + 1) * sizeof(*grid->cells));
	tp_grid_clear(grid);
}

void tp_grid_release(struct tp_grid *grid)
{
	free(grid->cells);
	*grid = (struct tp_grid){0};
}

static struct tp_cell *cell_at(const struct tp_grid *grid, size_t line, size_t column)
{
	return &grid->cells[line * grid->columns + column];
}

/* A combining mark joins the character before it. */
static void join_mark(struct tp_grid *grid, size_t line, size_t column, const char *mark,
		      size_t len)
{
	if (!column)
		return;
	struct tp_cell *cell = cell_at(grid, line, column - 1);
	if (!cell->text[0] && column > 1)
		cell = cell_at(grid, line, column - 2);
	size_t used = strlen(cell->text);
	if (used + len < sizeof(cell->text)) {
		memcpy(cell->text + used, mark, len);
		cell->text[used + len] = '\0';
	}
}

static void set_cell(struct tp_grid *grid, size_t line, size_t column, enum tp_paint paint,
		     const char *text, size_t len)
{
	struct tp_cell *cell = cell_at(grid, line, column);
	cell->paint = (unsigned char)paint;
	memcpy(cell->text, text, len);
	cell->text[len] = '\0';
}

/* True for the right half of a wide character, whose left half must not stay alone. */
static bool is_right_part(const struct tp_grid *grid, size_t line, size_t column)
{
	return column < grid->columns && !cell_at(grid, line, column)->text[0];
}

static size_t columns_of(const char *text, size_t size)
{
	size_t n = 0;
	for (const char *p = text; p < text + size;) {
		n += tp_character_width(p);
		p += tp_text_utf8_length(p);
	}
	return n;
}

/* Writes as much clean text as fits; if it does not fit, the last column has the mark. */
static size_t put_clean(struct tp_grid *grid, size_t line, size_t column, size_t end,
			enum tp_paint paint, const char *text, size_t size)
{
	bool is_cut = columns_of(text, size) > end - column;
	size_t limit = is_cut ? end - 1 : end;
	size_t at = column;
	for (const char *p = text; p < text + size;) {
		size_t len = tp_text_utf8_length(p);
		size_t width = tp_character_width(p);
		if (at + width > limit)
			break;
		if (width)
			set_cell(grid, line, at, paint, p, len);
		else
			join_mark(grid, line, at, p, len);
		if (width == 2)
			set_cell(grid, line, at + 1, paint, "", 0);
		at += width;
		p += len;
	}
	for (; is_cut && at < limit; at++)
		set_cell(grid, line, at, paint, " ", 1);
	if (is_cut)
		set_cell(grid, line, at++, paint, grid->is_ascii ? "~" : "…",
			 grid->is_ascii ? 1 : strlen("…"));
	return at;
}

static size_t put_part(struct tp_grid *grid, size_t line, size_t column, size_t end,
		       enum tp_paint paint, const char *text, size_t size)
{
	if (end > grid->columns)
		end = grid->columns;
	if (line >= grid->lines || column >= end || !size)
		return column;
	if (column && is_right_part(grid, line, column))
		set_cell(grid, line, column - 1, TP_PAINT_NONE, " ", 1);
	size_t at = put_clean(grid, line, column, end, paint, text, size);
	if (is_right_part(grid, line, at))
		set_cell(grid, line, at, TP_PAINT_NONE, " ", 1);
	return at;
}

size_t tp_grid_put(struct tp_grid *grid, size_t line, size_t column, size_t end,
		   enum tp_paint paint, const char *text)
{
	struct tp_buf clean = {0};
	tp_page_clean_text(&clean, text, grid->is_ascii);
	size_t at = put_part(grid, line, column, end, paint, tp_buf_text(&clean), clean.len);
	tp_buf_release(&clean);
	return at;
}

/* Returns the paint of "\033[1;31m" on a page; any other code ends a paint. */
static enum tp_paint paint_of(const char *code, size_t len)
{
	for (int paint = 0; paint < TP_N_PAINTS; paint++) {
		const char *known = tp_page_paint_code((enum tp_paint)paint);
		if (known && strlen(known) == len && memcmp(known, code, len) == 0)
			return (enum tp_paint)paint;
	}
	return TP_PAINT_NONE;
}

/* A page contains no control sequences except its own. */
static void put_line(struct tp_grid *grid, size_t line, size_t column, size_t end, const char *text,
		     const char *stop)
{
	enum tp_paint paint = TP_PAINT_NONE;
	while (text < stop) {
		const char *escape = memchr(text, '\033', (size_t)(stop - text));
		const char *part_end = escape ? escape : stop;
		column = put_part(grid, line, column, end, paint, text, (size_t)(part_end - text));
		if (!escape)
			return;
		const char *code = escape + 2;
		const char *code_end = memchr(code, 'm', (size_t)(stop - code));
		if (!code_end)
			return;
		paint = paint_of(code, (size_t)(code_end - code));
		text = code_end + 1;
	}
}

size_t tp_grid_put_page(struct tp_grid *grid, size_t line, size_t column, size_t end, size_t n,
			const struct tp_page *page, size_t first)
{
	const char *text = tp_buf_text(&page->out);
	size_t n_put = 0;
	for (size_t i = 0; *text && n_put < n; i++) {
		const char *stop = text + strcspn(text, "\n");
		if (i >= first)
			put_line(grid, line + n_put++, column, end, text, stop);
		text = *stop ? stop + 1 : stop;
	}
	return n_put;
}

void tp_grid_select(struct tp_grid *grid, size_t line, size_t column, size_t end)
{
	for (size_t i = column; line < grid->lines && i < end && i < grid->columns; i++)
		cell_at(grid, line, i)->is_selected = true;
}

void tp_grid_add_text(struct tp_buf *out, const struct tp_grid *grid)
{
	for (size_t line = 0; line < grid->lines; line++) {
		size_t begin = out->len;
		for (size_t i = 0; i < grid->columns; i++)
			tp_buf_puts(out, cell_at(grid, line, i)->text);
		while (out->len > begin && out->data[out->len - 1] == ' ')
			out->data[--out->len] = '\0';
		tp_buf_putc(out, '\n');
	}
}
