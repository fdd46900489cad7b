/* SPDX-License-Identifier: Apache-2.0 */
/* The interactive viewer without a terminal: keys go in; cells, text and Markdown come out. The
 * same keys always give the same cells. */
#ifndef TRAINPROF_REPORT_VIEW_H
#define TRAINPROF_REPORT_VIEW_H

#include "trainprof/report/cell_grid.h"
#include "trainprof/report/page.h"
#include "trainprof/report/report.h"

#include <stdint.h>

struct tp_live;
struct tp_run_diff;
struct tp_view;

/* Keys that are not characters; others are code points: '\r', '\t', 27, 127, 'q'. */
enum {
	TP_KEY_NONE = 0x110000,
	TP_KEY_UP,
	TP_KEY_DOWN,
	TP_KEY_LEFT,
	TP_KEY_RIGHT,
	TP_KEY_PAGE_UP,
	TP_KEY_PAGE_DOWN,
	TP_KEY_HOME,
	TP_KEY_END,
	TP_KEY_SHIFT_TAB,
};
enum { TP_KEY_TAB = '\t', TP_KEY_ENTER = '\r', TP_KEY_ESCAPE = 27, TP_KEY_BACKSPACE = 127 };

/* All borrowed; must outlive the view. */
struct tp_view_input {
	const struct tp_report *report;
	const struct tp_run_diff
		*diff; /* of two runs, of which the report describes the second; or NULL */
	const struct tp_live *live; /* the report is about the last seconds of a program that runs;
				       or NULL */
	/* The combined gain of the advice for which is_chosen[i] is true; NULL = unknown. Returns
	 * false if it cannot be computed. */
	bool (*combine)(void *context, const bool *is_chosen, double *low, double *value,
			double *high);
	/* Source lines of addresses in a code file, from its debug information; NULL = unknown.
	 * `file` is that of the first address with a known line; lines of other files are 0.
	 * Returns false if nothing is known; the reason is then in `file`. */
	bool (*find_lines)(void *context, const char *module, const uint64_t *addresses, size_t n,
			   char *file, size_t size, uint32_t *lines);
	void *context;
};

/* Freed with tp_view_free(). Takes time in proportion to the report's size; keys do not. */
struct tp_view *tp_view_new(const struct tp_view_input *input);
void tp_view_free(struct tp_view *view); /* NULL is allowed */

/* Replaces the last seconds of a running program by newer ones; the screen, its order and its
 * filter stay. The former report and live values are not used any more. */
void tp_view_update(struct tp_view *view, const struct tp_report *report,
		    const struct tp_live *live);
/* True while the user looks at something that an update would take away: a row that was opened, a
 * word that is being typed, a screen that is held. */
bool tp_view_is_held(const struct tp_view *view);

/* Action that the caller must take after a key. */
enum tp_view_answer {
	TP_VIEW_STAY, /* draw, unless more keys are waiting */
	TP_VIEW_QUIT,
	TP_VIEW_COPY,   /* copy tp_view_add_markdown() to the clipboard */
	TP_VIEW_EXPORT, /* write it to a file */
	TP_VIEW_REDRAW, /* all cells: something else wrote to the terminal */
};

enum tp_view_answer tp_view_handle_key(struct tp_view *view, int key);

/* Draw the screen as large as the grid is. */
void tp_view_draw(struct tp_view *view, struct tp_grid *grid);

/* Sets the text of the bottom line until the next key, for example that something was copied. */
void tp_view_show_message(struct tp_view *view, const char *text);

/* "overview", "steps": name of the current screen. */
const char *tp_view_screen_name(const struct tp_view *view);

/* Appends the screen with all its rows (at most some hundreds) as Markdown. */
void tp_view_add_markdown(struct tp_view *view, struct tp_buf *out);
/* Prints it as lines from top to bottom, without bars and pictures: for screen readers. */
void tp_view_print_plain(struct tp_view *view, struct tp_page *page);

#endif
