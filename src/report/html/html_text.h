/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for HTML, and writes the markup that sections share. */
#ifndef TRAINPROF_SRC_REPORT_HTML_HTML_TEXT_H
#define TRAINPROF_SRC_REPORT_HTML_HTML_TEXT_H

#include "trainprof/base/buf.h"

/* Escapes text for content and attributes. Nothing in it ends a tag, acts as a control character or
 * changes the direction of a line. */
void tp_html_add_text(struct tp_buf *out, const char *text);
/* Writes at most that many bytes of a name, which may have any length; cut between characters. */
void tp_html_add_short(struct tp_buf *out, const char *text, size_t max_bytes);
/* The same for a buffer that was made for this call; releases it. */
void tp_html_flush_text(struct tp_buf *out, struct tp_buf *text);
/* "<td>text</td>"; for a number "<td class=n>text</td>". */
void tp_html_add_cell(struct tp_buf *out, const char *text);
void tp_html_add_number(struct tp_buf *out, const char *text);
/* Writes "<section id=…><h2>…</h2>"; the caller writes "</section>". */
void tp_html_begin_section(struct tp_buf *out, const char *id, const char *title);
/* Begins a table that scrolls by itself if it is too wide: heads "part|>time"; ">" aligns a column
 * of numbers right. */
void tp_html_begin_table(struct tp_buf *out, const char *caption, const char *heads);
void tp_html_end_table(struct tp_buf *out);

#endif
