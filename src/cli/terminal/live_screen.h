/* SPDX-License-Identifier: Apache-2.0 */
/* Output of a live view: a terminal, updated in place, or a stream, one block after another. The
 * terminal is restored, also across Ctrl-Z and when trainprof itself crashes; the last block of a
 * live view stays when it is closed. One screen is open at a time. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_LIVE_SCREEN_H
#define TRAINPROF_SRC_CLI_TERMINAL_LIVE_SCREEN_H

#include "cli/options/command.h"

#include "trainprof/base/buf.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct tp_live_screen {
	const struct tp_cli *cli;
	bool is_terminal; /* stdout is a terminal with control sequences */
	bool is_away;     /* it now belongs to another job: nothing is drawn */
	bool has_keys;    /* stdin is a terminal, too, and is read */
	bool is_failed;   /* a write failed; the reason has been printed */
	size_t n_blocks;
	struct termios before;
	sigset_t mask_before;
	int signal_fd;
	int wait_fd; /* readable when tp_live_screen_poll() has something to do */
	struct tp_buf shown;
	/* Typed bytes since the caller last emptied it; NULL = q and Ctrl-L are events instead. */
	struct tp_buf *typed;
};

/* With takes_ends, poll returns the signals that end a program (INT QUIT TERM HUP, except ignored
 * ones). Without may_draw a terminal gets a stream as well. */
void tp_live_screen_open(struct tp_live_screen *screen, const struct tp_cli *cli, bool takes_ends,
			 bool may_draw);
void tp_live_screen_close(struct tp_live_screen *screen);

/* The style of the next block: as wide as the terminal is now; *max_lines is 0 on a stream. */
struct tp_report_style tp_live_screen_style(const struct tp_live_screen *screen, size_t *max_lines);

/* The size of the terminal; 80 x 24 if it is not known. */
void tp_live_screen_size(size_t *columns, size_t *lines);

/* Writes control sequences and text unchanged; nothing while the terminal belongs to another job.
 * False if that failed. */
bool tp_live_screen_write(struct tp_live_screen *screen, const struct tp_buf *out);

/* False if writing failed: nothing reads the output any more. */
bool tp_live_screen_show(struct tp_live_screen *screen, const char *text);

/* Sets the text that remains on the terminal when the screen is closed. */
void tp_live_screen_keep(struct tp_live_screen *screen, const char *text);

enum {
	TP_LIVE_SCREEN_QUIT = 1,   /* q, or a signal that ends a program */
	TP_LIVE_SCREEN_END = 4,    /* with QUIT: SIGTERM, from a program */
	TP_LIVE_SCREEN_REDRAW = 2, /* the size changed, or the job is in the foreground again */
};

/* Reads keys and signals; stops this process at Ctrl-Z. Never blocks otherwise. */
unsigned tp_live_screen_poll(struct tp_live_screen *screen);

#endif
