/* SPDX-License-Identifier: Apache-2.0 */
/* A rectangle of character cells: the only drawing surface of the viewer's screens. A terminal, a
 * test and a picture show the same cells, so screens are tested without a terminal. */
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
	bool is_selected;         /* shown in reverse video */
};

struct tp_grid {
	size_t columns;
	size_t lines;
	bool is_ascii;
	struct tp_cell *cells; /* heap; row by row */
};

/* All cells are spaces. */
void tp_grid_init(struct tp_grid *grid, size_t columns, size_t lines, bool is_ascii);
void tp_grid_release(struct tp_grid *grid);
void tp_grid_clear(struct tp_grid *grid);

/* Writes text from a cell on, up to but not including column `end`, and returns the column after
 * it. Text is any UTF-8: control characters become "?"; text that does not fit is truncated and
 * marked. Positions outside of the grid are ignored. */
size_t tp_grid_put(struct tp_grid *grid, size_t line, size_t column, size_t end,
		   enum tp_paint paint, const char *text);

/* Writes finished lines of a page, starting with its line `first`, into `n` lines of the grid.
 * Colours of the page become paints. Returns the number of lines written. */
size_t tp_grid_put_page(struct tp_grid *grid, size_t line, size_t column, size_t end, size_t n,
			const struct tp_page *page, size_t first);

/* Shows the cells of a line from `column` to `end` in reverse video. */
void tp_grid_select(struct tp_grid *grid, size_t line, size_t column, size_t end);

/* Appends the cells as lines of text without trailing spaces. */
void tp_grid_add_text(struct tp_buf *out, const struct tp_grid *grid);

/* Appends the control sequences (ECMA-48) that change a terminal showing `shown` into one showing
 * the grid. If `shown` is NULL or has another size, everything is written. Nothing is appended if
 * nothing differs. */
void tp_grid_add_changes(struct tp_buf *out, const struct tp_grid *grid,
			 const struct tp_grid *shown, bool has_colour);

/* Appends an SVG picture: selectable text in the colours of a dark terminal. */
void tp_grid_add_image(struct tp_buf *out, const struct tp_grid *grid, const char *title);

#endif
