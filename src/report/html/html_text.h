/* SPDX-License-Identifier: Apache-2.0 */
/* Text as HTML, and the markup that sections share. */
#ifndef TRAINPROF_SRC_REPORT_HTML_HTML_TEXT_H
#define TRAINPROF_SRC_REPORT_HTML_HTML_TEXT_H

#include "trainprof/base/buf.h"

/* Text as HTML, in content and in attributes. Nothing in it ends a tag, steers or turns a line. */
void tp_html_add_text(struct tp_buf *out, const char *text);
/* At most that many bytes of a name, which may be of any length; cut between characters. */
void tp_html_add_short(struct tp_buf *out, const char *text, size_t max_bytes);
/* The same of a buffer that was made for it, which is released. */
void tp_html_flush_text(struct tp_buf *out, struct tp_buf *text);
/* "<td>text</td>" and "<td class=n>text</td>", of a number. */
void tp_html_add_cell(struct tp_buf *out, const char *text);
void tp_html_add_number(struct tp_buf *out, const char *text);
/* "<section id=…><h2>…</h2>"; it ends in "</section>". */
void tp_html_begin_section(struct tp_buf *out, const char *id, const char *title);
/* A table that scrolls for itself where it is too wide: heads "part|time", numbers right of "|>".
 */
void tp_html_begin_table(struct tp_buf *out, const char *caption, const char *heads);
void tp_html_end_table(struct tp_buf *out);

#endif
