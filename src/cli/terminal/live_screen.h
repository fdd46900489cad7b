/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a live view is drawn: a terminal, in place, or a stream, one block after another. The
 * terminal is left as it was found, also across Ctrl-Z and when trainprof itself crashes; what a
 * live view shows last stays when it is closed. One screen is open at a time.
 */
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
	bool is_terminal; /* stdout is one that can be drawn on */
	bool is_away;     /* it belongs to another job now: nothing is drawn */
	bool has_keys;    /* stdin is one as well, and watched */
	bool is_failed;   /* a write failed; its cause has been said */
	size_t n_blocks;
	struct termios before;
	sigset_t mask_before;
	int signal_fd;
	int wait_fd; /* readable when tp_live_screen_poll() has something to do */
	struct tp_buf shown;
	/* What was typed since the caller last emptied it; NULL: q and Ctrl-L are events instead.
	 */
	struct tp_buf *typed;
};

/* With takes_ends the signals that end a program (INT QUIT TERM HUP, but for ignored ones) are told
 * by poll instead. */
void tp_live_screen_open(struct tp_live_screen *screen, const struct tp_cli *cli, bool takes_ends);
void tp_live_screen_close(struct tp_live_screen *screen);

/* How to write the next block: as wide as it is now; *max_lines is 0 on a stream. */
struct tp_report_style tp_live_screen_style(const struct tp_live_screen *screen, size_t *max_lines);

/* The size of the terminal; 80 x 24 where it does not say. */
void tp_live_screen_size(size_t *columns, size_t *lines);

/* Write control sequences and text as they are; nothing while the terminal is another job's. False
 * when that failed. */
bool tp_live_screen_write(struct tp_live_screen *screen, const struct tp_buf *out);

/* False when it could not be written: nobody reads any more. */
bool tp_live_screen_show(struct tp_live_screen *screen, const char *text);

enum {
	TP_LIVE_SCREEN_QUIT = 1,   /* q, or a signal that ends */
	TP_LIVE_SCREEN_REDRAW = 2, /* another size, or in the foreground again */
};

/* Takes keys and signals; stops this process at Ctrl-Z. Never blocks but for that. */
unsigned tp_live_screen_poll(struct tp_live_screen *screen);

#endif
