/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of the page, and what they write with. */
#ifndef TRAINPROF_SRC_REPORT_HTML_HTML_H
#define TRAINPROF_SRC_REPORT_HTML_HTML_H

#include "report/digest/digest.h"

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

/* Each writes nothing where nothing is known. */
void tp_html_add_parts(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_html_add_steps(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_html_add_lanes(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_html_add_advice(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_html_add_flame(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_html_add_workers(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_html_add_gpus(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_html_add_ranks(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_html_add_sources(struct tp_buf *out, const struct tp_report_digest *digest);

/* The page's own style and script, in pieces; NULL-terminated. Static storage. */
extern const char *const tp_html_style[];
extern const char *const tp_html_script[];

#endif
