/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of the HTML page, its style and its script. */
#ifndef TRAINPROF_SRC_REPORT_HTML_HTML_H
#define TRAINPROF_SRC_REPORT_HTML_HTML_H

#include "html_text.h"

#include "report/digest/digest.h"

/* Each function writes nothing if nothing is known. */
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
