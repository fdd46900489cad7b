/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text that never exceed a given width. Screens are built here: columns, wrapping, colour,
 * and the replacement of characters that the terminal cannot show or would interpret. */
#ifndef TRAINPROF_REPORT_PAGE_H
#define TRAINPROF_REPORT_PAGE_H

#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"
#include "trainprof/model/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tp_report_style;

/* Colour marks a state or part; the text always says the same. TP_PAINT_PART + part is that
 * part's. */
enum tp_paint {
	TP_PAINT_NONE,
	TP_PAINT_BOLD,
	TP_PAINT_DIM,
	TP_PAINT_GOOD,
	TP_PAINT_WARN,
	TP_PAINT_BAD,
	TP_PAINT_PART,
	TP_N_PAINTS = TP_PAINT_PART + TP_N_PARTS
};

/* Parameters of the terminal's control sequence for a paint, "1;31"; NULL for none. */
const char *tp_page_paint_code(enum tp_paint paint);

/* Appends text that is safe for a terminal: valid UTF-8 without control characters, or only
 * ASCII. */
void tp_page_clean_text(struct tp_buf *out, const char *text, bool is_ascii);

/* One line is open at a time. Texts are UTF-8; control characters become '?'. */
struct tp_page {
	const struct tp_report_style *style; /* borrowed */
	struct tp_buf out;                   /* finished lines */
	struct tp_buf line;
	size_t columns; /* used in the open line */
	size_t n_lines; /* finished */
};

void tp_page_init(struct tp_page *page, const struct tp_report_style *style);
void tp_page_release(struct tp_page *page);

/* Appends to the open line; text that does not fit is truncated and marked. */
void tp_page_add(struct tp_page *page, enum tp_paint paint, const char *text);
void tp_page_addf(struct tp_page *page, enum tp_paint paint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds spaces up to a column (0-based); nothing if the line is already there. */
void tp_page_column(struct tp_page *page, size_t column);
/* Ends the line with `text` at the right edge, or on a line of its own if it does not fit. */
void tp_page_right(struct tp_page *page, enum tp_paint paint, const char *text);
/* A bar of `cells` columns for a ratio 0..1. */
void tp_page_bar(struct tp_page *page, enum tp_paint paint, double ratio, size_t cells);
void tp_page_end(struct tp_page *page);
/* Ends the line, or leaves one blank if none is open, and prints a title on a line of its own. */
void tp_page_add_section(struct tp_page *page, const char *title);

/* Wraps words from the open line's column on, further lines indented; ends the last line. With
 * max_lines (0 = no limit) the last allowed line ends in a mark if words are left. */
void tp_page_wrap(struct tp_page *page, size_t indent, enum tp_paint paint, const char *text,
		  size_t max_lines);

/* The same with another text at the right edge of the first line (may be ""). */
void tp_page_wrap_with_right(struct tp_page *page, size_t indent, const char *text,
			     enum tp_paint right_paint, const char *right, size_t max_lines);

/* Columns left in the open line. */
size_t tp_page_room(const struct tp_page *page);

/* Write the finished lines. Errors  TP_IO. */
TP_MUST_CHECK enum tp_status tp_page_write(const struct tp_page *page, FILE *out,
					   struct tp_error *err);

#endif
