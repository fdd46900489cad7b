/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for HTML, and writes the markup that sections share. */
#include "html_text.h"

#include "trainprof/base/text.h"

#include <stdbool.h>
#include <string.h>

void tp_html_add_text(struct tp_buf *out, const char *text)
{
	struct tp_buf safe = {0};
	tp_text_add_safe(&safe, text);
	for (const char *p = tp_buf_text(&safe); *p; p++) {
		switch (*p) {
		case '&':
			tp_buf_puts(out, "&amp;");
			break;
		case '<':
			tp_buf_puts(out, "&lt;");
			break;
		case '>':
			tp_buf_puts(out, "&gt;");
			break;
		case '"':
			tp_buf_puts(out, "&quot;");
			break;
		case '\'':
			tp_buf_puts(out, "&#39;");
			break;
		default:
			tp_buf_putc(out, *p);
		}
	}
	tp_buf_release(&safe);
}

void tp_html_add_short(struct tp_buf *out, const char *text, size_t max_bytes)
{
	struct tp_buf cut = {0};
	size_t len = strlen(text);
	if (len > max_bytes) {
		len = max_bytes;
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	tp_buf_add(&cut, text, len);
	if (text[len])
		tp_buf_puts(&cut, "…");
	tp_html_flush_text(out, &cut);
}

void tp_html_flush_text(struct tp_buf *out, struct tp_buf *text)
{
	tp_html_add_text(out, tp_buf_text(text));
	tp_buf_release(text);
}

void tp_html_add_cell(struct tp_buf *out, const char *text)
{
	tp_buf_puts(out, "<td>");
	tp_html_add_text(out, text);
	tp_buf_puts(out, "</td>");
}

void tp_html_add_number(struct tp_buf *out, const char *text)
{
	tp_buf_puts(out, "<td class=\"n\">");
	tp_html_add_text(out, text);
	tp_buf_puts(out, "</td>");
}

void tp_html_begin_section(struct tp_buf *out, const char *id, const char *title)
{
	tp_buf_printf(out, "<section id=\"%s\"><h2>%s</h2>\n", id, title);
}

void tp_html_begin_table(struct tp_buf *out, const char *caption, const char *heads)
{
	tp_buf_printf(out,
		      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">"
		      "<table><caption>%s</caption><thead><tr>",
		      caption, caption);
	for (const char *p = heads; *p;) {
		bool is_number = *p == '>';
		size_t len = strcspn(p + is_number, "|");
		tp_buf_printf(out, "<th scope=\"col\"%s>%.*s</th>", is_number ? " class=\"n\"" : "",
			      (int)len, p + is_number);
		p += is_number + len;
		p += *p == '|';
	}
	tp_buf_puts(out, "</tr></thead><tbody>\n");
}

void tp_html_end_table(struct tp_buf *out)
{
	tp_buf_puts(out, "</tbody></table></div>\n");
}
