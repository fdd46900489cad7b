/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the viewer on a terminal, as lines for screen readers, and as one picture. */
#ifndef TRAINPROF_SRC_CLI_LIVE_VIEWER_H
#define TRAINPROF_SRC_CLI_LIVE_VIEWER_H

#include "cli/options/command.h"
#include "cli/terminal/live_screen.h"
#include "trainprof/report/cell_grid.h"
#include "trainprof/report/view.h"

/* A view on a screen that is already open. All zero except for the three pointers is valid. */
struct tp_viewer {
	const struct tp_cli *cli;
	struct tp_view *view;          /* borrowed, like the screen */
	struct tp_live_screen *screen; /* its `typed` is a buffer */
	struct tp_grid shown;
	bool has_shown; /* false = other output was written to the terminal */
};

/* False if writing failed. */
bool tp_viewer_draw(struct tp_viewer *viewer);
/* Handles all typed keys; the beginning of a sequence stays, unless is_all: nothing follows it.
 * Returns false to quit. */
bool tp_viewer_handle_typed(struct tp_viewer *viewer, bool is_all);
/* Frees the saved screen content. */
void tp_viewer_release(struct tp_viewer *viewer);

/* Maximum time for the rest of a key's sequence; an Escape that is alone by then is the Escape
 * key. */
enum { TP_VIEWER_ESCAPE_MS = 25 };

/* Runs until q; returns the exit status. */
int tp_viewer_run(const struct tp_cli *cli, struct tp_view *view);

/* Reads keys from stdin, a line at a time ("4", "jj", an empty line for Enter), and prints the
 * screen after each line, until q or the end of stdin. */
int tp_viewer_run_plain(const struct tp_cli *cli, struct tp_view *view);

/* True if a viewer can be drawn here: stdin and stdout are a terminal with the needed functions. */
bool tp_viewer_has_terminal(void);

/* Simulates typed keys: characters, and <Enter> <Esc> <Tab> <Down> and so on by name.
 * Errors  TP_USAGE for an unknown name. */
TP_MUST_CHECK enum tp_status tp_viewer_handle_keys(struct tp_view *view, const char *keys,
						   struct tp_error *err);

#endif
