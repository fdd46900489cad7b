/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of places: the shown one, and those to which Esc returns. */
#include "view_state.h"

#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tp_view_show_message(struct tp_view *view, const char *text)
{
	snprintf(view->message, sizeof(view->message), "%s", text);
}

struct tp_view_place *tp_view_top_place(struct tp_view *view)
{
	return &view->places[view->n_places - 1];
}

void tp_view_release_rows(struct tp_view_place *place)
{
	if (place->screen && place->screen->release)
		place->screen->release(place);
	if (place->has_text)
		tp_page_release(&place->text);
	free(place->rows);
	free(place->data);
	place->rows = NULL;
	place->data = NULL;
	place->has_text = false;
	place->n_rows = place->n_items = 0;
}

struct tp_view_place *tp_view_push(struct tp_view *view, enum tp_view_screen_id screen)
{
	if (view->n_places == TP_VIEW_PLACES_MAX)
		tp_view_release_rows(&view->places[--view->n_places]);
	struct tp_view_place *place = &view->places[view->n_places++];
	*place = (struct tp_view_place){.screen = view->screens[screen],
					.function = TP_VIEW_NO_FUNCTION,
					.selection = tp_view_select_all(&view->functions)};
	return place;
}

bool tp_view_pop(struct tp_view *view)
{
	if (view->n_places < 2)
		return false;
	tp_view_release_rows(tp_view_top_place(view));
	view->n_places--;
	return true;
}

void tp_view_show_tab(struct tp_view *view, size_t tab)
{
	while (view->n_places)
		tp_view_release_rows(&view->places[--view->n_places]);
	view->tab = tab;
	struct tp_view_place *place = tp_view_push(view, (enum tp_view_screen_id)tab);
	/* Otherwise threads that always wait for work would come first. */
	if (tab == TP_SCREEN_STACKS)
		place->selection.state = TP_VIEW_CPU_TIME;
	tp_view_make_rows(view, place);
}

/* ---- rows ---- */

size_t tp_view_item(const struct tp_view_place *place, size_t row)
{
	if (row >= place->n_rows)
		return SIZE_MAX;
	return place->rows ? place->rows[row] : row;
}

size_t tp_view_cursor_item(const struct tp_view_place *place)
{
	return tp_view_item(place, place->cursor);
}

static bool row_contains(struct tp_view *view, struct tp_view_place *place, size_t item,
			 const char *word)
{
	struct tp_page page;
	struct tp_report_style style = view->style;
	style.has_colour = false;
	tp_page_init(&page, &style);
	place->screen->print_row(view, place, item, &page);
	bool contains = strcasestr(tp_buf_text(&page.out), word) != NULL;
	tp_page_release(&page);
	return contains;
}

static void keep_matching(struct tp_view *view, struct tp_view_place *place)
{
	size_t *kept = tp_alloc((place->n_rows + 1) * sizeof(*kept));
	size_t n = 0;
	for (size_t i = 0; i < place->n_rows; i++)
		if (row_contains(view, place, tp_view_item(place, i), place->filter))
			kept[n++] = tp_view_item(place, i);
	free(place->rows);
	place->rows = kept;
	place->n_rows = n;
}

void tp_view_make_rows(struct tp_view *view, struct tp_view_place *place)
{
	tp_view_release_rows(place);
	if (place->screen->make)
		place->screen->make(view, place);
	if (place->screen->print_text)
		(void)tp_view_text(view, place);
	else if (!place->rows)
		place->n_rows = place->n_items;
	if (place->filter[0] && place->screen->print_row && !place->screen->find)
		keep_matching(view, place);
	if (place->cursor >= place->n_rows && !place->screen->print_text)
		place->cursor = place->n_rows ? place->n_rows - 1 : 0;
}

/* ---- lines of text ---- */

const struct tp_page *tp_view_text(struct tp_view *view, struct tp_view_place *place)
{
	if (place->has_text && place->text_width == view->style.width &&
	    place->is_text_ascii == view->style.is_ascii)
		return &place->text;
	if (place->has_text)
		tp_page_release(&place->text);
	tp_page_init(&place->text, &view->style);
	place->screen->print_text(view, place, &place->text);
	place->has_text = true;
	place->text_width = view->style.width;
	place->is_text_ascii = view->style.is_ascii;
	place->n_rows = place->text.n_lines;
	return &place->text;
}

/* ---- search ---- */

static const char *line_of_text(const struct tp_page *page, size_t line, size_t *len)
{
	const char *text = tp_buf_text(&page->out);
	for (; line && *text; line--) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	*len = strcspn(text, "\n");
	return text;
}

static bool line_contains(struct tp_view *view, struct tp_view_place *place, size_t row,
			  const char *word)
{
	size_t len;
	const char *text = line_of_text(tp_view_text(view, place), row, &len);
	char *copy = tp_strndup(text, len);
	bool contains = strcasestr(copy, word) != NULL;
	free(copy);
	return contains;
}

bool tp_view_find(struct tp_view *view, struct tp_view_place *place, const char *word,
		  int direction)
{
	size_t n = place->n_rows;
	if (place->screen->find)
		return *word && place->screen->find(view, place, word, direction);
	for (size_t i = 1; i <= n && *word; i++) {
		size_t row = (place->cursor + (direction > 0 ? i : n - i)) % n;
		bool contains = place->screen->print_text
					? line_contains(view, place, row, word)
					: row_contains(view, place, tp_view_item(place, row), word);
		if (contains) {
			place->cursor = row;
			return true;
		}
	}
	return false;
}
