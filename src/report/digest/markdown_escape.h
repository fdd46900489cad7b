/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for Markdown. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_MARKDOWN_ESCAPE_H
#define TRAINPROF_SRC_REPORT_DIGEST_MARKDOWN_ESCAPE_H

#include "trainprof/base/buf.h"

/* Append text that stays text: characters with a meaning in Markdown or HTML are escaped, control
 * characters become spaces. */
void tp_markdown_add_plain(struct tp_buf *out, const char *text);

#endif
