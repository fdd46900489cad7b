/* SPDX-License-Identifier: Apache-2.0 */
/* State that the screens of the viewer share. A screen is a constant that makes the rows of a
 * place; a place is a screen with its subject, its cursor and the selection of its rows. Places
 * form a stack: Enter pushes one, Esc pops it. */
#ifndef TRAINPROF_SRC_REPORT_VIEW_VIEW_STATE_H
#define TRAINPROF_SRC_REPORT_VIEW_VIEW_STATE_H

#include "trainprof/report/view.h"

#include "report/digest/digest.h"
#include "view_functions.h"

enum {
	TP_VIEW_PLACES_MAX = 24,
	TP_VIEW_WORD_SIZE = 64,
	TP_VIEW_MIN_COLUMNS = 40,
	TP_VIEW_MIN_LINES = 10,
	TP_VIEW_NARROW_BELOW = 64,
	TP_VIEW_WIDE_FROM = 110, /* the detail is next to the rows */
};

struct tp_view_place;

/* In the order of the tabs; then the screens that are opened from another screen. */
enum tp_view_screen_id {
	TP_SCREEN_OVERVIEW,
	TP_SCREEN_STEPS,
	TP_SCREEN_PROCESSES,
	TP_SCREEN_STACKS,
	TP_SCREEN_GPUS,
	TP_SCREEN_COMMUNICATION,
	TP_SCREEN_ADVICE,
	TP_SCREEN_DIFF,
	TP_VIEW_TABS,
	TP_SCREEN_PART = TP_VIEW_TABS,
	TP_SCREEN_LANES,
	TP_SCREEN_FINDING,
	TP_SCREEN_SOURCE,
	TP_SCREEN_HELP,
	TP_SCREEN_FLAME,
	TP_SCREEN_TREE,
	TP_SCREEN_THREADS,
	TP_SCREEN_LAUNCHES,
	TP_N_SCREENS
};

struct tp_view_screen {
	enum tp_view_screen_id id;
	const char *name;
	const char *title; /* in the line of tabs; NULL: opened from another screen */
	/* Sets n_items, and rows if their order is not that of the items. */
	void (*make)(struct tp_view *view, struct tp_view_place *place);
	/* Each may be NULL. Pages have the maximum width. */
	void (*print_head)(struct tp_view *view, struct tp_view_place *place, struct tp_page *page);
	void (*print_row)(struct tp_view *view, struct tp_view_place *place, size_t item,
			  struct tp_page *page);
	void (*print_detail)(struct tp_view *view, struct tp_view_place *place, size_t item,
			     struct tp_page *page);
	/* A screen of text has lines instead of rows. */
	void (*print_text)(struct tp_view *view, struct tp_view_place *place, struct tp_page *page);
	void (*open)(struct tp_view *view, struct tp_view_place *place, size_t item);
	/* A screen without rows draws itself into lines of the grid. */
	void (*draw)(struct tp_view *view, struct tp_view_place *place, struct tp_grid *grid,
		     size_t line, size_t n);
	/* For a screen with too many rows to print and search: moves the cursor to the next row
	 * that matches the word. Its make() applies the filter itself. */
	bool (*find)(struct tp_view *view, struct tp_view_place *place, const char *word,
		     int direction);
	void (*release)(struct tp_view_place *place);
	bool needs_width; /* the detail is always below the rows */
	/* Columns of a row that are reversed under the cursor, for rows whose shades must stay as
	 * they are; half of it on a narrow screen. 0: all. */
	size_t selected_columns;
};

struct tp_view_place {
	const struct tp_view_screen *screen;
	size_t cursor; /* a row; for texts the first line that is shown */
	size_t top;
	int mode; /* for a screen with several views */
	int sort;
	bool only_outliers;
	char filter[TP_VIEW_WORD_SIZE];
	/* The subject of the place. */
	struct tp_view_selection selection;
	uint32_t function; /* TP_VIEW_NO_FUNCTION */
	size_t index;      /* a step, a finding */
	uint32_t file;     /* string of the trace */
	uint32_t line;
	/* Set by the screen's make(). */
	size_t n_items;
	size_t n_rows;
	size_t *rows;        /* heap: items in the order of rows; NULL: all items in their order */
	void *data;          /* heap */
	uint64_t whole_ns;   /* the whole that rows are shares of */
	struct tp_page text; /* for a screen that has lines instead of rows */
	bool has_text;
	unsigned text_width; /* the width that the text was made for */
	bool is_text_ascii;
};

enum tp_view_prompt { TP_VIEW_NO_PROMPT, TP_VIEW_SEARCH, TP_VIEW_FILTER };

struct tp_view {
	struct tp_view_input input;
	const struct tp_view_screen *const *screens; /* by id */
	struct tp_report_digest digest;
	const struct tp_profile *profile;
	const struct tp_trace *trace;
	const struct tp_findings *findings; /* NULL: no rules could be applied */
	struct tp_view_functions functions;
	struct tp_view_place places[TP_VIEW_PLACES_MAX];
	size_t n_places;
	size_t tab;
	struct tp_report_style style; /* style of pages; its width is that of the screen */
	size_t lines;
	size_t row_lines; /* number of lines for rows when they were last drawn */
	enum tp_view_prompt prompt;
	enum tp_view_answer answer; /* answer to the current key */
	char word[TP_VIEW_WORD_SIZE];
	char message[160];
	bool *is_chosen; /* by index of the finding; for advice only */
	bool is_plain;   /* no bars */
	bool is_held;    /* of a running program: nothing newer is shown */
	double *strip;   /* heap: the longest step of each of n_strip groups */
	size_t n_strip;
	size_t *by_length; /* heap: steps, the longest first; NULL: not requested yet */
};

/* Screens refer to each other by their ids; view.c lists them. */
extern const struct tp_view_screen tp_view_overview, tp_view_steps, tp_view_processes,
	tp_view_stacks, tp_view_gpus, tp_view_communication, tp_view_advice, tp_view_diff,
	tp_view_part, tp_view_lanes, tp_view_finding, tp_view_source, tp_view_help, tp_view_flame,
	tp_view_tree, tp_view_threads, tp_view_launches;

/* ---- places ---- */

struct tp_view_place *tp_view_top_place(struct tp_view *view);
/* Pushes a place of a screen, with the same subject as the current place; tp_view_make_rows() makes
 * its rows. Never NULL: if the stack is full, the top is replaced. */
struct tp_view_place *tp_view_push(struct tp_view *view, enum tp_view_screen_id screen);
bool tp_view_pop(struct tp_view *view); /* false at the bottom */
void tp_view_show_tab(struct tp_view *view, size_t tab);
void tp_view_make_rows(struct tp_view *view, struct tp_view_place *place);
void tp_view_release_rows(struct tp_view_place *place);
/* The item of a row; SIZE_MAX if there is none. */
size_t tp_view_item(const struct tp_view_place *place, size_t row);
size_t tp_view_cursor_item(const struct tp_view_place *place);
/* Searches rows from the cursor on for the word; false if none contains it. */
bool tp_view_find(struct tp_view *view, struct tp_view_place *place, const char *word,
		  int direction);

/* ---- printing ---- */

/* Adds a bar as long as the line has room; nothing on plain pages. */
void tp_view_bar(struct tp_view *view, struct tp_page *page, enum tp_paint paint, double ratio,
		 size_t cells);
/* "77 %" right-aligned in five columns. */
void tp_view_percent(struct tp_page *page, double ratio);
bool tp_view_is_narrow(const struct tp_page *page);
/* The text of a place that has lines instead of rows, as wide as the screen. */
const struct tp_page *tp_view_text(struct tp_view *view, struct tp_view_place *place);

/* ---- keys ---- */

/* Returns false if the key has no meaning here. view->answer is the action that the caller must
 * take. */
bool tp_view_run_key(struct tp_view *view, int key);
/* Append hints for the bottom line: "Enter open  s sort  ? help". */
void tp_view_add_hints(struct tp_view *view, struct tp_buf *out, size_t columns);

#endif
