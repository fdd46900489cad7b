/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a screen as text: for screen readers, and as Markdown. */
#include "view_state.h"

#include "report/digest/verdict.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <string.h>

enum { ROWS_MAX = 500, MARKDOWN_WIDTH = 100 };

bool tp_view_is_narrow(const struct tp_page *page)
{
	return page->style->width < TP_VIEW_NARROW_BELOW;
}

void tp_view_bar(struct tp_view *view, struct tp_page *page, enum tp_paint paint, double ratio,
		 size_t cells)
{
	size_t room = tp_page_room(page);
	if (!view->is_plain && room)
		tp_page_bar(page, paint, ratio, cells < room ? cells : room);
}

void tp_view_percent(struct tp_page *page, double ratio)
{
	if (ratio > 0 && ratio < 0.005)
		tp_page_add(page, TP_PAINT_NONE, " <1 %");
	else
		tp_page_addf(page, TP_PAINT_NONE, "%3.0f %%", ratio * 100);
}

static void print_title(struct tp_view *view, struct tp_page *page)
{
	struct tp_buf text = {0};
	tp_report_add_subject(&text, &view->digest);
	tp_buf_puts(&text, ", ");
	tp_report_add_extent(&text, &view->digest, TP_EXTENT_SAMPLE_RATE);
	tp_buf_puts(&text, ": ");
	tp_buf_puts(&text, tp_report_verdict_title(view->input.report));
	tp_page_wrap(page, 0, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_clear(&text);
	tp_buf_printf(&text, "Screen %zu of %d: %s", view->tab + 1, TP_VIEW_TABS,
		      view->screens[view->tab]->title);
	for (size_t i = 1; i < view->n_places; i++)
		tp_buf_printf(&text, ", %s", view->places[i].screen->name);
	tp_page_wrap(page, 0, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&text);
}

static void print_rows(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	size_t n = place->n_rows < ROWS_MAX ? place->n_rows : ROWS_MAX;
	size_t first = place->cursor >= n ? place->cursor + 1 - n : 0;
	for (size_t i = first; i < first + n; i++)
		place->screen->print_row(view, place, tp_view_item(place, i), page);
	if (place->n_rows > n) {
		tp_page_addf(page, TP_PAINT_NONE, "%zu of %zu rows", n, place->n_rows);
		tp_page_end(page);
	}
}

/* Prints the content of the screen, including rows that do not fit on it. */
static void print_screen(struct tp_view *view, struct tp_page *page)
{
	struct tp_view_place *place = tp_view_top_place(view);
	size_t item = tp_view_cursor_item(place);
	if (place->screen->print_head)
		place->screen->print_head(view, place, page);
	if (place->screen->print_text)
		place->screen->print_text(view, place, page);
	else if (place->screen->print_row)
		print_rows(view, place, page);
	if (place->screen->draw) {
		tp_page_add(page, TP_PAINT_NONE,
			    "A flame graph is a picture; d shows the same calls as lines.");
		tp_page_end(page);
	}
	if (place->screen->print_detail && place->screen->print_row && item != SIZE_MAX) {
		tp_page_end(page);
		tp_page_add(page, TP_PAINT_NONE, view->is_plain ? "Selected: " : "> ");
		place->screen->print_row(view, place, item, page);
		place->screen->print_detail(view, place, item, page);
	}
}

void tp_view_print_plain(struct tp_view *view, struct tp_page *page)
{
	view->style.width = page->style->width;
	view->style.is_ascii = page->style->is_ascii;
	view->is_plain = true;
	print_title(view, page);
	tp_page_end(page);
	print_screen(view, page);
	if (view->message[0]) {
		tp_page_add(page, TP_PAINT_NONE, view->message);
		tp_page_end(page);
	}
	view->is_plain = false;
}

/* Returns the length of a Markdown fence: longer than any run of backticks in the text. */
static size_t quote_length(const char *text)
{
	size_t longest = 2;
	for (; *text; text += strcspn(text + 1, "`") + 1) {
		size_t n = strspn(text, "`");
		if (n > longest)
			longest = n;
		if (n)
			text += n - 1;
	}
	return longest + 1;
}

void tp_view_add_markdown(struct tp_view *view, struct tp_buf *out)
{
	struct tp_page page;
	struct tp_report_style style = view->style;
	struct tp_report_style before = view->style;
	style.has_colour = false;
	if (style.width > MARKDOWN_WIDTH)
		style.width = MARKDOWN_WIDTH;
	view->style = style;
	tp_page_init(&page, &style);
	print_title(view, &page);
	tp_page_end(&page);
	print_screen(view, &page);
	size_t n = quote_length(tp_buf_text(&page.out));
	tp_buf_pad(out, '`', n);
	tp_buf_puts(out, "text\n");
	tp_buf_puts(out, tp_buf_text(&page.out));
	tp_buf_pad(out, '`', n);
	tp_buf_putc(out, '\n');
	tp_page_release(&page);
	view->style = before;
}
