/* SPDX-License-Identifier: Apache-2.0 */
/* The viewer on a terminal, as lines for screen readers, and as one picture. */
#ifndef TRAINPROF_SRC_CLI_SESSION_VIEWER_H
#define TRAINPROF_SRC_CLI_SESSION_VIEWER_H

#include "cli/options/command.h"
#include "cli/terminal/live_screen.h"
#include "trainprof/report/cell_grid.h"
#include "trainprof/report/view.h"

/* A view on a screen that is open already. All zero but for the three pointers is valid. */
struct tp_viewer {
	const struct tp_cli *cli;
	struct tp_view *view;          /* borrowed, like the screen */
	struct tp_live_screen *screen; /* whose `typed` is a buffer */
	struct tp_grid shown;
	bool has_shown; /* false: something else wrote to the terminal */
};

/* False when it could not be written. */
bool tp_viewer_draw(struct tp_viewer *viewer);
/* Handle all keys that were typed; the begin of a sequence stays, unless is_all: nothing follows
 * it. False: quit. */
bool tp_viewer_handle_typed(struct tp_viewer *viewer, bool is_all);
/* Frees what it keeps of the screen. */
void tp_viewer_release(struct tp_viewer *viewer);

/* How long the rest of a key's sequence may take; what is alone then is Escape. */
enum { TP_VIEWER_ESCAPE_MS = 25 };

/* Until q; returns the exit status. */
int tp_viewer_run(const struct tp_cli *cli, struct tp_view *view);

/* Reads keys from stdin, a line at a time ("4", "jj", an empty line for Enter), and prints the
 * screen after each line, until q or the end of stdin. */
int tp_viewer_run_plain(const struct tp_cli *cli, struct tp_view *view);

/* Whether a viewer can be drawn here: stdin and stdout are a terminal that knows how. */
bool tp_viewer_has_terminal(void);

/* Press what is typed there: characters, and <Enter> <Esc> <Tab> <Down> and so on by name.
 * Errors  TP_USAGE for an unknown name. */
TP_MUST_CHECK enum tp_status tp_viewer_handle_keys(struct tp_view *view, const char *keys,
						   struct tp_error *err);

#endif
