/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a grid on a terminal, by writing only what changed, or as a picture. */
#include "trainprof/report/cell_grid.h"

#include <string.h>

/* ---- a terminal ---- */

static bool is_same_cell(const struct tp_cell *a, const struct tp_cell *b)
{
	return a->paint == b->paint && a->is_selected == b->is_selected &&
	       strcmp(a->text, b->text) == 0;
}

static bool is_same_style(const struct tp_cell *a, const struct tp_cell *b)
{
	return a->paint == b->paint && a->is_selected == b->is_selected;
}

static void add_style(struct tp_buf *out, const struct tp_cell *cell, bool has_colour)
{
	const char *code = has_colour ? tp_page_paint_code((enum tp_paint)cell->paint) : NULL;
	tp_buf_printf(out, "\033[0%s%s%sm", cell->is_selected ? ";7" : "", code ? ";" : "",
		      code ? code : "");
}

/* Writes a whole line even if only a part differs: cells to the left of a wide character matter,
 * too. */
static void add_line(struct tp_buf *out, const struct tp_grid *grid, size_t line, bool has_colour)
{
	static const struct tp_cell plain = {.text = " "};
	const struct tp_cell *cells = &grid->cells[line * grid->columns];
	const struct tp_cell *look = &plain;
	size_t n = grid->columns;
	while (n && is_same_cell(&cells[n - 1], &plain))
		n--;
	tp_buf_printf(out, "\033[%zu;1H", line + 1);
	for (size_t i = 0; i < n; i++) {
		if (!is_same_style(look, &cells[i]))
			add_style(out, &cells[i], has_colour);
		look = &cells[i];
		tp_buf_puts(out, cells[i].text);
	}
	if (!is_same_style(look, &plain))
		tp_buf_puts(out, "\033[0m");
	if (n < grid->columns)
		tp_buf_puts(out, "\033[K");
}

static bool is_same_line(const struct tp_grid *a, const struct tp_grid *b, size_t line)
{
	for (size_t i = line * a->columns; i < (line + 1) * a->columns; i++)
		if (!is_same_cell(&a->cells[i], &b->cells[i]))
			return false;
	return true;
}

void tp_grid_add_changes(struct tp_buf *out, const struct tp_grid *grid,
			 const struct tp_grid *shown, bool has_colour)
{
	bool is_alike = shown && shown->columns == grid->columns && shown->lines == grid->lines;
	if (!is_alike)
		tp_buf_puts(out, "\033[0m\033[H\033[2J");
	for (size_t line = 0; line < grid->lines; line++)
		if (!is_alike || !is_same_line(grid, shown, line))
			add_line(out, grid, line, has_colour);
}

/* ---- a picture ---- */

enum { CELL_WIDTH = 8, CELL_HEIGHT = 17, MARGIN = 10, BOTH_MARGINS = 20 };

/* The hues of report/digest/page.c in sRGB, bright enough on the dark ground (contrast above 4.5).
 */
static const char *const hues[TP_N_PAINTS] = {
	[TP_PAINT_NONE] = "#d0d0d0",
	[TP_PAINT_BOLD] = "#ffffff",
	[TP_PAINT_DIM] = "#9a9a9a",
	[TP_PAINT_GOOD] = "#5fd75f",
	[TP_PAINT_WARN] = "#ffd75f",
	[TP_PAINT_BAD] = "#ff8787",
	[TP_PAINT_PART + TP_PART_COMPUTE] = "#00af87",
	[TP_PAINT_PART + TP_PART_COMMUNICATION] = "#5fafd7",
	[TP_PAINT_PART + TP_PART_MEMORY] = "#d787af",
	[TP_PAINT_PART + TP_PART_DATALOADER] = "#ff8700",
	[TP_PAINT_PART + TP_PART_HOST] = "#ffaf00",
	[TP_PAINT_PART + TP_PART_IDLE] = "#a8a8a8",
};

/* Spaces become no-break spaces: some SVG viewers collapse several ordinary ones. */
static void add_escaped(struct tp_buf *out, const char *text)
{
	for (; *text; text++) {
		const char *name = *text == ' '   ? "&#160;"
				   : *text == '&' ? "&amp;"
				   : *text == '<' ? "&lt;"
				   : *text == '>' ? "&gt;"
				   : *text == '"' ? "&quot;"
						  : NULL;
		if (name)
			tp_buf_puts(out, name);
		else
			tp_buf_putc(out, *text);
	}
}

static void add_run(struct tp_buf *out, const struct tp_grid *grid, size_t line, size_t begin,
		    size_t end)
{
	const struct tp_cell *cells = &grid->cells[line * grid->columns];
	size_t x = MARGIN + begin * CELL_WIDTH;
	size_t y = MARGIN + line * CELL_HEIGHT;
	size_t width = (end - begin) * CELL_WIDTH;
	bool is_selected = cells[begin].is_selected;
	if (is_selected)
		tp_buf_printf(out,
			      "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%d\" "
			      "fill=\"%s\"/>\n",
			      x, y, width, CELL_HEIGHT, hues[cells[begin].paint]);
	tp_buf_printf(out, "<text x=\"%zu\" y=\"%zu\" textLength=\"%zu\" fill=\"%s\"%s>", x,
		      y + CELL_HEIGHT - 4, width,
		      is_selected ? "#1c1c1c" : hues[cells[begin].paint],
		      cells[begin].paint == TP_PAINT_BOLD ? " font-weight=\"bold\"" : "");
	for (size_t i = begin; i < end; i++)
		add_escaped(out, cells[i].text);
	tp_buf_puts(out, "</text>\n");
}

/* Cells of the same style are one text element; spaces at its ends are omitted. */
static void add_line_texts(struct tp_buf *out, const struct tp_grid *grid, size_t line)
{
	const struct tp_cell *cells = &grid->cells[line * grid->columns];
	for (size_t begin = 0; begin < grid->columns;) {
		size_t end = begin + 1;
		while (end < grid->columns && is_same_style(&cells[begin], &cells[end]))
			end++;
		size_t last = end;
		size_t first = begin;
		while (!cells[first].is_selected && last > first &&
		       strcmp(cells[last - 1].text, " ") == 0)
			last--;
		while (!cells[first].is_selected && first < last &&
		       strcmp(cells[first].text, " ") == 0)
			first++;
		if (first < last)
			add_run(out, grid, line, first, last);
		begin = end;
	}
}

void tp_grid_add_image(struct tp_buf *out, const struct tp_grid *grid, const char *title)
{
	size_t width = BOTH_MARGINS + grid->columns * CELL_WIDTH;
	size_t height = BOTH_MARGINS + grid->lines * CELL_HEIGHT;
	tp_buf_printf(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %zu %zu\" "
		      "width=\"%zu\" height=\"%zu\" role=\"img\">\n<title>",
		      width, height, width, height);
	struct tp_buf clean = {0};
	tp_page_clean_text(&clean, title, grid->is_ascii);
	add_escaped(out, tp_buf_text(&clean));
	tp_buf_release(&clean);
	tp_buf_puts(out, "</title>\n<rect width=\"100%\" height=\"100%\" rx=\"6\" "
			 "fill=\"#1c1c1c\"/>\n<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
			 "monospace\" font-size=\"13\">\n");
	for (size_t line = 0; line < grid->lines; line++)
		add_line_texts(out, grid, line);
	tp_buf_puts(out, "</g>\n</svg>\n");
}
