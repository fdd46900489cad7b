/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a live view of its last interval: the viewer's screens on a terminal, else blocks of text
 * or lines of JSON. Analyses an interval in the way of a report. */
#ifndef TRAINPROF_SRC_CLI_LIVE_LIVE_DISPLAY_H
#define TRAINPROF_SRC_CLI_LIVE_LIVE_DISPLAY_H

#include "cli/live/live_analysis.h"
#include "cli/live/live_view.h"
#include "cli/live/viewer.h"
#include "cli/terminal/live_screen.h"

#include "trainprof/analyze/analyze.h"
#include "trainprof/model/window.h"
#include "trainprof/report/live.h"
#include "trainprof/report/live_history.h"

struct tp_live_display {
	const struct tp_cli *cli;
	const struct tp_live_view_options *options;
	struct tp_live_screen screen;
	struct tp_patterns *patterns;
	char subject[80];
	struct tp_buf note;
	char end_note[80];
	bool is_recorded;
	bool leaves_nothing; /* run --live has ended: its summary follows */
	uint64_t n_shown;    /* number of intervals shown */
	uint64_t begun_ns;
	uint64_t from_ns; /* begin of the next interval */
	uint64_t cpu_ns;  /* our own CPU time, and when it was read */
	uint64_t cpu_at_ns;
	/* The interval that is shown. */
	struct tp_live_analysis *shown;
	pid_t shown_pid; /* of the rank that it shows in detail; 0 = no job */
	struct tp_live live;
	char clock[16];
	struct tp_live_history history;
	pid_t history_pid; /* of its rank; 0 = no job */
	/* On a terminal. */
	struct tp_buf typed;
	struct tp_view *view; /* NULL = nothing is shown yet */
	struct tp_viewer viewer;
};

/* Loads the patterns. Errors  as tp_rules_dir_find() and tp_rules_dir_load_patterns(). */
TP_MUST_CHECK enum tp_status tp_live_display_init(struct tp_live_display *display,
						  const struct tp_cli *cli,
						  const struct tp_live_view_options *options,
						  struct tp_error *err);
void tp_live_display_release(struct tp_live_display *display);

/* Opens the screen. With takes_ends, signals that end a program are handled as events. `who` keeps
 * running after q: "program", "recording". */
void tp_live_display_open(struct tp_live_display *display, bool takes_ends, const char *who);
/* Closes the screen; the last interval remains as text, unless SIGTERM ended the view. */
void tp_live_display_close(struct tp_live_display *display);

/* Analyses the time since the last call, and shows it. After a long pause only its end. Returns
 * false if nothing reads the output any more. */
bool tp_live_display_show(struct tp_live_display *display, struct tp_window *window,
			  const struct tp_run_info *run, uint64_t until_ns);

/* Handles keys, signals and changes of the screen. Returns false to quit. */
bool tp_live_display_handle_events(struct tp_live_display *display);

/* The user may continue to browse the last interval after the end of the program. */
void tp_live_display_finish(struct tp_live_display *display);

#endif
