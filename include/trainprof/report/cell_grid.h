/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rectangle of character cells, which is all that a screen of the viewer draws into. A terminal,
 * a test and a picture show the same cells, so a screen is tested without a terminal.
 */
#ifndef TRAINPROF_REPORT_CELL_GRID_H
#define TRAINPROF_REPORT_CELL_GRID_H

#include "trainprof/base/buf.h"
#include "trainprof/report/page.h"

#include <stdbool.h>
#include <stddef.h>

/* A base character with its combining marks; marks that do not fit are left out. */
enum { TP_CELL_BYTES = 14 };

struct tp_cell {
	char text[TP_CELL_BYTES]; /* "" in the right half of a wide character */
	unsigned char paint;      /* enum tp_paint */
	bool is_selected;         /* shown in reverse */
};

struct tp_grid {
	size_t columns;
	size_t lines;
	bool is_ascii;
	struct tp_cell *cells; /* heap; line after line */
};

/* All cells are spaces. */
void tp_grid_init(struct tp_grid *grid, size_t columns, size_t lines, bool is_ascii);
void tp_grid_release(struct tp_grid *grid);
void tp_grid_clear(struct tp_grid *grid);

/*
 * Put text from a cell on, up to but without column `end`, and return the column behind it. Text is
 * UTF-8 of any kind: what a terminal would obey becomes "?", what does not fit is cut and marked.
 * Places outside of the grid are ignored.
 */
size_t tp_grid_put(struct tp_grid *grid, size_t line, size_t column, size_t end,
		   enum tp_paint paint, const char *text);

/* Put finished lines of a page, from its line `first` on, into `n` lines of the grid. Colours of
 * the page become paints. Returns how many lines were there. */
size_t tp_grid_put_page(struct tp_grid *grid, size_t line, size_t column, size_t end, size_t n,
			const struct tp_page *page, size_t first);

/* Show the cells of a line from `column` to `end` in reverse. */
void tp_grid_select(struct tp_grid *grid, size_t line, size_t column, size_t end);

/* Append the cells as lines of text without spaces at their ends. */
void tp_grid_add_text(struct tp_buf *out, const struct tp_grid *grid);

/* Append what makes a terminal that shows `shown` show the grid: control sequences of ECMA-48. NULL
 * or another size: all of it. Nothing is appended when nothing differs. */
void tp_grid_add_changes(struct tp_buf *out, const struct tp_grid *grid,
			 const struct tp_grid *shown, bool has_colour);

/* Append an SVG picture: text that can be selected, in the colours of a dark terminal. */
void tp_grid_add_image(struct tp_buf *out, const struct tp_grid *grid, const char *title);

#endif
