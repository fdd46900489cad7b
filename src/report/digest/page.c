/* SPDX-License-Identifier: Apache-2.0 */
/* Lays text out in lines of a given width. */
#include "trainprof/report/page.h"

#include "trainprof/base/file.h"
#include "trainprof/base/text.h"
#include "trainprof/report/report.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* The six hues of parts are Okabe and Ito's palette (jfly.uni-koeln.de/color, 2008), nearest in the
 * 256 colours of terminals: colour-blind readers can distinguish them. */
static const char *const codes[TP_N_PAINTS] = {
	[TP_PAINT_NONE] = NULL,
	[TP_PAINT_BOLD] = "1",
	[TP_PAINT_DIM] = "2",
	[TP_PAINT_GOOD] = "32",
	[TP_PAINT_WARN] = "33",
	[TP_PAINT_BAD] = "1;31",
	[TP_PAINT_PART + TP_PART_COMPUTE] = "38;5;36",
	[TP_PAINT_PART + TP_PART_COMMUNICATION] = "38;5;74",
	[TP_PAINT_PART + TP_PART_MEMORY] = "38;5;175",
	[TP_PAINT_PART + TP_PART_DATALOADER] = "38;5;166",
	[TP_PAINT_PART + TP_PART_HOST] = "38;5;214",
	[TP_PAINT_PART + TP_PART_IDLE] = "38;5;245",
};

/* ASCII replacements; any other character outside ASCII becomes '?'. */
static const struct {
	const char *from;
	const char *to;
} ascii[] = {
	{"×", "x"},    {"–", "-"},  {"—", "-"}, {"…", "~"},  {"µ", "u"},  {"≥", ">="}, {"≤", "<="},
	{"±", "+-"},   {"→", "->"}, {"’", "'"}, {"“", "\""}, {"”", "\""}, {"·", "*"},  {"≈", "~"},
	{"√", "sqrt"}, {"─", "-"},  {"│", "|"}, {"█", "#"},  {"▓", "#"},  {"▒", "+"},  {"░", "."},
};

const char *tp_page_paint_code(enum tp_paint paint)
{
	return codes[paint];
}

void tp_page_init(struct tp_page *page, const struct tp_report_style *style)
{
	*page = (struct tp_page){.style = style};
}

void tp_page_release(struct tp_page *page)
{
	tp_buf_release(&page->out);
	tp_buf_release(&page->line);
}

size_t tp_page_room(const struct tp_page *page)
{
	return page->style->width > page->columns ? page->style->width - page->columns : 0;
}

static void add_ascii(struct tp_buf *out, const char *character, size_t len)
{
	for (size_t i = 0; i < sizeof(ascii) / sizeof(ascii[0]); i++)
		if (strlen(ascii[i].from) == len && memcmp(ascii[i].from, character, len) == 0) {
			tp_buf_puts(out, ascii[i].to);
			return;
		}
	tp_buf_putc(out, '?');
}

static size_t character_length(const char *text)
{
	size_t len = 1;
	while (((unsigned char)text[len] & 0xc0) == 0x80)
		len++;
	return len;
}

void tp_page_clean_text(struct tp_buf *out, const char *text, bool is_ascii)
{
	struct tp_buf valid = {0};
	tp_text_add_utf8(&valid, text);
	for (const char *p = tp_buf_text(&valid); *p;) {
		size_t len = character_length(p);
		if (tp_text_unsafe_length(p))
			tp_buf_putc(out, '?');
		else if (len > 1 && is_ascii)
			add_ascii(out, p, len);
		else
			tp_buf_add(out, p, len);
		p += len;
	}
	tp_buf_release(&valid);
}

/* Number of bytes of the first `columns` columns. */
static size_t bytes_of_columns(const char *text, size_t columns)
{
	const char *p = text;
	while (*p && columns--)
		p += character_length(p);
	return (size_t)(p - text);
}

/* Returns the offset of the last space at or before `end`; 0 if there is none. A "%" stays with its
 * number. */
static size_t break_before(const char *text, size_t end, bool keeps_percent)
{
	while (end && (text[end] != ' ' || (keeps_percent && text[end + 1] == '%')))
		end--;
	return end;
}

/* Number of bytes that remain of a text that is cut after `columns`: whole words, unless that would
 * lose more than half of the line. */
static size_t cut_bytes(const char *text, size_t columns)
{
	size_t limit = bytes_of_columns(text, columns);
	size_t end = break_before(text, limit, true);
	return end > limit / 2 ? end : limit;
}

static void line_append(struct tp_page *page, enum tp_paint paint, const char *text, size_t len)
{
	const char *code = page->style->has_colour ? codes[paint] : NULL;
	if (code && len)
		tp_buf_printf(&page->line, "\033[%sm", code);
	tp_buf_add(&page->line, text, len);
	if (code && len)
		tp_buf_puts(&page->line, "\033[0m");
}

/* Append clean text; if the line is full, it is cut and marked. */
static void line_add(struct tp_page *page, enum tp_paint paint, const char *text)
{
	size_t room = tp_page_room(page);
	size_t width = tp_text_width(text);
	if (width <= room) {
		line_append(page, paint, text, strlen(text));
		page->columns += width;
		return;
	}
	if (!room)
		return;
	size_t len = cut_bytes(text, room - 1);
	line_append(page, paint, text, len);
	tp_buf_puts(&page->line, page->style->is_ascii ? "~" : "…");
	page->columns += 1 + width - tp_text_width(text + len);
}

void tp_page_add(struct tp_page *page, enum tp_paint paint, const char *text)
{
	struct tp_buf clean = {0};
	tp_page_clean_text(&clean, text, page->style->is_ascii);
	line_add(page, paint, tp_buf_text(&clean));
	tp_buf_release(&clean);
}

void tp_page_addf(struct tp_page *page, enum tp_paint paint, const char *format, ...)
{
	struct tp_buf text = {0};
	va_list args;
	va_start(args, format);
	tp_buf_vprintf(&text, format, args);
	va_end(args);
	tp_page_add(page, paint, tp_buf_text(&text));
	tp_buf_release(&text);
}

void tp_page_column(struct tp_page *page, size_t column)
{
	if (column > page->style->width)
		column = page->style->width;
	if (column <= page->columns)
		return;
	tp_buf_pad(&page->line, ' ', column - page->columns);
	page->columns = column;
}

void tp_page_right(struct tp_page *page, enum tp_paint paint, const char *text)
{
	struct tp_buf clean = {0};
	tp_page_clean_text(&clean, text, page->style->is_ascii);
	size_t width = tp_text_width(tp_buf_text(&clean));
	/* A space must remain between the left and the right text. */
	if (page->columns && width + 1 > tp_page_room(page))
		tp_page_end(page);
	if (width < page->style->width)
		tp_page_column(page, page->style->width - width);
	line_add(page, paint, tp_buf_text(&clean));
	tp_buf_release(&clean);
	tp_page_end(page);
}

static void bar_blocks(struct tp_buf *out, double ratio, size_t cells)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	size_t n = (size_t)(ratio * (double)cells * 8 + 0.5);
	if (!n && ratio > 0)
		n = 1;
	for (size_t i = 0; i < n / 8; i++)
		tp_buf_puts(out, "█");
	tp_buf_puts(out, eighths[n % 8]);
}

static void bar_ascii(struct tp_buf *out, double ratio, size_t cells)
{
	size_t n = (size_t)(ratio * (double)cells + 0.5);
	tp_buf_pad(out, '#', n);
	if (!n && ratio > 0)
		tp_buf_putc(out, '.');
}

void tp_page_bar(struct tp_page *page, enum tp_paint paint, double ratio, size_t cells)
{
	struct tp_buf bar = {0};
	double clamped = ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
	if (page->style->is_ascii)
		bar_ascii(&bar, clamped, cells);
	else
		bar_blocks(&bar, clamped, cells);
	line_add(page, paint, tp_buf_text(&bar));
	tp_buf_release(&bar);
}

void tp_page_end(struct tp_page *page)
{
	/* Trailing spaces would be copied along with the text. */
	while (page->line.len && page->line.data[page->line.len - 1] == ' ')
		page->line.data[--page->line.len] = '\0';
	tp_buf_puts(&page->out, tp_buf_text(&page->line));
	tp_buf_putc(&page->out, '\n');
	tp_buf_clear(&page->line);
	page->columns = 0;
	page->n_lines++;
}

void tp_page_add_section(struct tp_page *page, const char *title)
{
	tp_page_end(page);
	tp_page_add(page, TP_PAINT_BOLD, title);
	tp_page_end(page);
}

/* Number of bytes of the words that fit into `room` columns; at least one column of a word that is
 * too long for any line. */
static size_t fitting_bytes(const char *text, size_t room, bool is_whole_line)
{
	size_t limit = bytes_of_columns(text, room);
	if (!text[limit])
		return limit;
	size_t end = break_before(text, limit, true);
	if (!end)
		end = break_before(text, limit, false);
	if (!end && is_whole_line)
		return limit ? limit : bytes_of_columns(text, 1);
	return end;
}

/* Wraps clean words, beginning at the current column of the open line. */
static void wrap_clean(struct tp_page *page, size_t indent, enum tp_paint paint, const char *text,
		       size_t max_lines)
{
	const char *rest = text;
	for (size_t n = 1; tp_text_width(rest) > tp_page_room(page) && n != max_lines; n++) {
		size_t len = fitting_bytes(rest, tp_page_room(page), page->columns <= indent);
		line_append(page, paint, rest, len);
		tp_page_end(page);
		rest += len;
		rest += strspn(rest, " ");
		tp_page_column(page, indent);
	}
	line_add(page, paint, rest);
	tp_page_end(page);
}

void tp_page_wrap(struct tp_page *page, size_t indent, enum tp_paint paint, const char *text,
		  size_t max_lines)
{
	struct tp_buf clean = {0};
	tp_page_clean_text(&clean, text, page->style->is_ascii);
	wrap_clean(page, indent, paint, tp_buf_text(&clean), max_lines);
	tp_buf_release(&clean);
}

void tp_page_wrap_with_right(struct tp_page *page, size_t indent, const char *text,
			     enum tp_paint right_paint, const char *right, size_t max_lines)
{
	struct tp_buf clean = {0};
	struct tp_buf clean_right = {0};
	tp_page_clean_text(&clean, text, page->style->is_ascii);
	tp_page_clean_text(&clean_right, right, page->style->is_ascii);
	const char *rest = tp_buf_text(&clean);
	size_t reserved = clean_right.len ? tp_text_width(tp_buf_text(&clean_right)) + 2 : 0;
	size_t room = tp_page_room(page) > reserved ? tp_page_room(page) - reserved : 0;
	size_t len = fitting_bytes(rest, room, true);
	bool is_cut = rest[len] && max_lines == 1;
	if (is_cut)
		len = cut_bytes(rest, room ? room - 1 : 0);
	line_append(page, TP_PAINT_NONE, rest, len);
	rest += len;
	page->columns += tp_text_width(tp_buf_text(&clean)) - tp_text_width(rest);
	if (is_cut)
		line_add(page, TP_PAINT_NONE, page->style->is_ascii ? "~" : "…");
	rest += strspn(rest, " ");
	if (reserved)
		tp_page_right(page, right_paint, right);
	else
		tp_page_end(page);
	tp_page_column(page, *rest ? indent : 0);
	if (*rest && max_lines != 1)
		wrap_clean(page, indent, TP_PAINT_NONE, rest, max_lines ? max_lines - 1 : 0);
	tp_buf_release(&clean);
	tp_buf_release(&clean_right);
}

enum tp_status tp_page_write(const struct tp_page *page, FILE *out, struct tp_error *err)
{
	fwrite(tp_buf_text(&page->out), 1, page->out.len, out);
	return tp_file_check(out, "the report", err);
}
