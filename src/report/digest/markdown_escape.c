/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for Markdown. */
#include "markdown_escape.h"

#include "trainprof/base/text.h"

#include <string.h>

void tp_markdown_add_plain(struct tp_buf *out, const char *text)
{
	struct tp_buf valid = {0};
	tp_text_add_utf8(&valid, text);
	for (const char *p = tp_buf_text(&valid); *p; p++) {
		if (*p == '<')
			tp_buf_puts(out, "&lt;");
		else if (*p == '&')
			tp_buf_puts(out, "&amp;");
		else if (tp_text_unsafe_length(p)) {
			tp_buf_putc(out, ' ');
			p += tp_text_unsafe_length(p) - 1;
		} else if (strchr("\\`*_[]|#", *p))
			tp_buf_printf(out, "\\%c", *p);
		else
			tp_buf_putc(out, *p);
	}
	tp_buf_release(&valid);
}
