/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys: the action of a key, its screens, and its text in the help. */
#include "view_state.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "view_stacks.h"

#include <stdint.h>
#include <stdio.h>

enum { CTRL_L = 12, CTRL_H = 8 };

struct key_row {
	int codes[4]; /* 0: none */
	const char *shown;
	const char *hint; /* a word for the bottom line; NULL: only in the help */
	const char *text;
	unsigned only; /* bit mask of screens; 0: all screens */
	void (*handle)(struct tp_view *view, struct tp_view_place *place, int key);
};

/* ---- moving ---- */

static size_t max_top(const struct tp_view *view, const struct tp_view_place *place)
{
	return place->n_rows > view->row_lines ? place->n_rows - view->row_lines : 0;
}

static void move_to(const struct tp_view *view, struct tp_view_place *place, int64_t row)
{
	int64_t last = place->screen->print_text ? (int64_t)max_top(view, place)
						 : (int64_t)place->n_rows - 1;
	if (row > last)
		row = last;
	place->cursor = row < 0 ? 0 : (size_t)row;
}

static void handle_move(struct tp_view *view, struct tp_view_place *place, int key)
{
	int64_t page = view->row_lines > 1 ? (int64_t)view->row_lines - 1 : 1;
	int64_t at = (int64_t)place->cursor;
	switch (key) {
	case TP_KEY_UP:
	case 'k':
		move_to(view, place, at - 1);
		break;
	case TP_KEY_PAGE_UP:
		move_to(view, place, at - page);
		break;
	case TP_KEY_PAGE_DOWN:
	case ' ':
		move_to(view, place, at + page);
		break;
	case TP_KEY_HOME:
		move_to(view, place, 0);
		break;
	case TP_KEY_END:
		move_to(view, place, (int64_t)place->n_rows);
		break;
	default:
		move_to(view, place, at + 1);
	}
}

static void handle_tab(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)place;
	size_t tab = view->tab;
	if (key == TP_KEY_TAB)
		tab = (tab + 1) % TP_VIEW_TABS;
	else if (key == TP_KEY_SHIFT_TAB)
		tab = (tab + TP_VIEW_TABS - 1) % TP_VIEW_TABS;
	else
		tab = (size_t)(key - '1');
	tp_view_show_tab(view, tab);
}

static void handle_open(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)key;
	size_t item = tp_view_cursor_item(place);
	if (place->screen->open && (item != SIZE_MAX || !place->screen->print_row))
		place->screen->open(view, place, item);
	else
		tp_view_show_message(view, "There is nothing to open here.");
}

static void handle_back(struct tp_view *view, struct tp_view_place *place, int key)
{
	if (place->filter[0]) {
		place->filter[0] = '\0';
		tp_view_make_rows(view, place);
	} else if (!tp_view_pop(view)) {
		if (key == 'q')
			view->answer = TP_VIEW_QUIT;
		else if (view->tab)
			tp_view_show_tab(view, 0);
	}
}

static void handle_quit(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)place;
	(void)key;
	view->answer = TP_VIEW_QUIT;
}

static void handle_help(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)key;
	if (place->screen->id != TP_SCREEN_HELP)
		tp_view_make_rows(view, tp_view_push(view, TP_SCREEN_HELP));
}

/* ---- search and filter ---- */

static void handle_prompt(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)place;
	view->prompt = key == '/' ? TP_VIEW_SEARCH : TP_VIEW_FILTER;
	view->word[0] = '\0';
}

static void handle_again(struct tp_view *view, struct tp_view_place *place, int key)
{
	if (!tp_view_find(view, place, view->word, key == 'n' ? 1 : -1))
		tp_view_show_message(view,
				     view->word[0] ? "Not found." : "Type / and a word first.");
}

/* ---- output outside of the viewer ---- */

static void handle_output(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)place;
	view->answer = key == 'c' ? TP_VIEW_COPY : key == 'e' ? TP_VIEW_EXPORT : TP_VIEW_REDRAW;
}

/* ---- single screens ---- */

static void handle_sort(struct tp_view *view, struct tp_view_place *place, int key)
{
	place->sort += key == 's' ? 1 : -1;
	place->cursor = place->top = 0;
	tp_view_make_rows(view, place);
}

static void handle_long_steps(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)key;
	place->only_outliers = !place->only_outliers;
	place->cursor = place->top = 0;
	tp_view_make_rows(view, place);
}

static void handle_longest(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)key;
	size_t worst = 0;
	for (size_t i = 1; i < place->n_rows; i++) {
		const struct tp_step *step = &view->profile->steps[tp_view_item(place, i)];
		const struct tp_step *most = &view->profile->steps[tp_view_item(place, worst)];
		if (step->end_ns - step->start_ns > most->end_ns - most->start_ns)
			worst = i;
	}
	place->cursor = worst;
}

static void handle_step(struct tp_view *view, struct tp_view_place *place, int key)
{
	bool is_next = key == 'n' || key == TP_KEY_RIGHT || key == 'l';
	if (is_next && place->index + 1 < view->profile->n_steps)
		place->index++;
	else if (!is_next && place->index)
		place->index--;
	tp_view_make_rows(view, place);
}

static void handle_all(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)key;
	place->mode = !place->mode;
	tp_view_make_rows(view, place);
}

static void handle_choose(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)key;
	size_t item = tp_view_cursor_item(place);
	if (view->findings && item < view->findings->n_fired)
		view->is_chosen[item] = !view->is_chosen[item];
	else
		tp_view_show_message(view, "Only advice can be switched on and off.");
}

static void handle_stacks(struct tp_view *view, struct tp_view_place *place, int key)
{
	tp_view_stacks_switch(view, place, key);
}

static void handle_hold(struct tp_view *view, struct tp_view_place *place, int key)
{
	(void)place;
	(void)key;
	view->is_held = !view->is_held;
	tp_view_show_message(view, view->is_held ? "Held; z goes on. The program is not stopped."
						 : "Goes on with the next interval.");
}

#define ON(screen) (1U << TP_SCREEN_##screen)
#define STACKS     (ON(STACKS) | ON(TREE) | ON(FLAME))

static const struct key_row table[] = {
	{{TP_KEY_ENTER, '\n'}, "Enter", "open", "open the row, down to its source", 0, handle_open},
	{{TP_KEY_ESCAPE, TP_KEY_BACKSPACE, CTRL_H}, "Esc", "back", "go back", 0, handle_back},
	{{'s', 'S'},
	 "s S",
	 "sort",
	 "order rows by the next, the previous column",
	 ON(STEPS) | ON(PROCESSES) | ON(THREADS) | ON(STACKS),
	 handle_sort},
	{{'o'},
	 "o",
	 "outliers",
	 "only steps above 1.5 times the median, or all again",
	 ON(STEPS),
	 handle_long_steps},
	{{'w'}, "w", "worst", "go to the longest step", ON(STEPS), handle_longest},
	{{TP_KEY_RIGHT, TP_KEY_LEFT, 'n', 'p'},
	 "n p",
	 "step",
	 "next, previous step; right and left as well",
	 ON(LANES),
	 handle_step},
	{{'t'}, "t", "top", "functions by their own time", STACKS, handle_stacks},
	{{'d'}, "d", "tree", "tree of calls from the first function down", STACKS, handle_stacks},
	{{'i'},
	 "i",
	 "inverted",
	 "tree from the innermost functions to their callers",
	 STACKS,
	 handle_stacks},
	{{'r'}, "r", "callers", "callers of the function under the cursor", STACKS, handle_stacks},
	{{'f'}, "f", "flame", "flame graph: as wide as the time", STACKS, handle_stacks},
	{{'w'}, "w", "waits", "all time, only CPU time, only waits", STACKS, handle_stacks},
	{{'p'}, "p", NULL, "only Python functions, or native ones too", STACKS, handle_stacks},
	{{'a'}, "a", "all rules", "all rules, or only the advice", ON(ADVICE), handle_all},
	{{'x'},
	 "x",
	 "what-if",
	 "count an advice in or out of what they gain together",
	 ON(ADVICE),
	 handle_choose},
	{{'z'}, "z", "hold", "hold the screen, or go on; the program runs", 0, handle_hold},
	{{'/'}, "/", "search", "search", 0, handle_prompt},
	{{'\\'}, "\\", NULL, "show only rows that contain a word; Esc shows all", 0, handle_prompt},
	{{'n', 'N'}, "n N", NULL, "next, previous match of the search", 0, handle_again},
	{{TP_KEY_DOWN, TP_KEY_UP, 'j', 'k'},
	 "j k, arrows",
	 NULL,
	 "next, previous row",
	 0,
	 handle_move},
	{{TP_KEY_PAGE_DOWN, TP_KEY_PAGE_UP, ' '},
	 "PgDn PgUp",
	 NULL,
	 "a screen down, up",
	 0,
	 handle_move},
	{{TP_KEY_HOME, TP_KEY_END}, "Home End", NULL, "first, last row", 0, handle_move},
	{{TP_KEY_TAB, TP_KEY_SHIFT_TAB},
	 "Tab",
	 "next view",
	 "next screen; Shift-Tab: the one before",
	 0,
	 handle_tab},
	{{'1', '2', '3', '4'}, "1 to 8", NULL, "the screen of that number", 0, handle_tab},
	{{'5', '6', '7', '8'}, NULL, NULL, NULL, 0, handle_tab},
	{{'c'}, "c", "copy", "copy this screen as Markdown", 0, handle_output},
	{{'e'}, "e", "export", "write this screen to a file, as Markdown", 0, handle_output},
	{{CTRL_L}, "Ctrl-L", NULL, "draw all again", 0, handle_output},
	{{'?'}, "?", "help", "this help", 0, handle_help},
	{{'q'}, "q", "quit", "back, and from the first screen to the shell", 0, handle_back},
	{{'Q'}, "Q", NULL, "to the shell", 0, handle_quit},
};

static bool is_global(const struct key_row *row)
{
	return !row->only;
}

static bool is_of_screen(const struct key_row *row, const struct tp_view_screen *screen)
{
	return (row->only & 1U << screen->id) != 0;
}

static bool has_code(const struct key_row *row, int key)
{
	for (size_t i = 0; key && i < TP_ARRAY_LEN(row->codes); i++)
		if (row->codes[i] == key)
			return true;
	return false;
}

/* Only a program that is watched goes on. */
static bool is_available(const struct tp_view *view, const struct key_row *row)
{
	return row->handle != handle_hold || view->input.live;
}

/* A screen's own keys have priority over those of all screens. */
static const struct key_row *find_row(const struct tp_view *view,
				      const struct tp_view_screen *screen, int key)
{
	for (int of_all = 0; of_all < 2; of_all++)
		for (size_t i = 0; i < TP_ARRAY_LEN(table); i++)
			if (has_code(&table[i], key) && is_available(view, &table[i]) &&
			    (of_all ? is_global(&table[i]) : is_of_screen(&table[i], screen)))
				return &table[i];
	return NULL;
}

bool tp_view_run_key(struct tp_view *view, int key)
{
	struct tp_view_place *place = tp_view_top_place(view);
	const struct key_row *row = find_row(view, place->screen, key);
	if (row)
		row->handle(view, place, key);
	return row != NULL;
}

/* ---- help ---- */

static size_t add_hint(struct tp_buf *out, const struct key_row *row, size_t room)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%s%s %s", out->len ? "  " : "", row->shown,
			   row->hint);
	if (len < 0 || (size_t)len > room)
		return room;
	tp_buf_puts(out, text);
	return room - (size_t)len;
}

void tp_view_add_hints(struct tp_view *view, struct tp_buf *out, size_t columns)
{
	static const char last[] = "  ? help  q quit";
	const struct tp_view_screen *screen = tp_view_top_place(view)->screen;
	size_t room = columns > sizeof(last) ? columns - sizeof(last) : 0;
	for (int of_all = 0; of_all < 2; of_all++)
		for (size_t i = 0; i < TP_ARRAY_LEN(table); i++) {
			const struct key_row *row = &table[i];
			bool is_last = row->codes[0] == '?' || row->codes[0] == 'q';
			bool opens = row->handle == handle_open;
			if (!row->hint || is_last || (opens && !screen->open) ||
			    !is_available(view, row))
				continue;
			if (opens ? !of_all : of_all ? is_global(row) : is_of_screen(row, screen))
				room = add_hint(out, row, room);
		}
	tp_buf_puts(out, last);
}

static void print_key(struct tp_page *page, const struct key_row *row)
{
	if (!row->shown)
		return;
	tp_page_addf(page, TP_PAINT_BOLD, " %s", row->shown);
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_column(page, 19);
	tp_page_wrap(page, 19, TP_PAINT_NONE, row->text, 0);
}

/* Prints the help of the screen below it. */
static void print_help(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	(void)place;
	const struct tp_view_screen *screen =
		view->n_places > 1 ? view->places[view->n_places - 2].screen : NULL;
	bool is_first = true;
	for (size_t i = 0; screen && i < TP_ARRAY_LEN(table); i++) {
		if (!is_of_screen(&table[i], screen))
			continue;
		if (is_first) {
			tp_page_addf(page, TP_PAINT_NONE,
				     "Keys of this screen (%s):", screen->name);
			tp_page_end(page);
		}
		is_first = false;
		print_key(page, &table[i]);
	}
	tp_page_add(page, TP_PAINT_NONE, "Keys of all screens:");
	tp_page_end(page);
	for (size_t i = 0; i < TP_ARRAY_LEN(table); i++)
		if (is_global(&table[i]) && is_available(view, &table[i]))
			print_key(page, &table[i]);
}

const struct tp_view_screen tp_view_help = {.id = TP_SCREEN_HELP,
					    .name = "help",
					    .print_text = print_help};
