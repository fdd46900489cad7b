/* SPDX-License-Identifier: Apache-2.0 */
/* The viewer on a terminal, as lines for screen readers, and as one picture. */
#ifndef TRAINPROF_SRC_CLI_SESSION_VIEWER_H
#define TRAINPROF_SRC_CLI_SESSION_VIEWER_H

#include "cli/options/command.h"
#include "trainprof/report/view.h"

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
