/*
 * Where a live view is drawn: a terminal, in place, or a stream, one block after another. The
 * terminal is left as it was found, also across Ctrl-Z; what it shows last stays when it is closed.
 */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_LIVE_SCREEN_H
#define TRAINPROF_SRC_CLI_TERMINAL_LIVE_SCREEN_H

#include "cli/options/command.h"

#include "trainprof/base/buf.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct tp_livescreen {
	const struct tp_cli *cli;
	bool is_terminal; /* stdout is one that can be drawn on */
	bool is_away;     /* it belongs to another job now: nothing is drawn */
	bool has_keys;    /* stdin is one as well, and watched */
	bool is_failed;   /* a write failed; its cause has been said */
	size_t n_blocks;
	struct termios before;
	sigset_t mask_before;
	int signal_fd;
	int wait_fd; /* readable when tp_livescreen_poll() has something to do */
	struct tp_buf shown;
};

/* With takes_ends the signals that end a program (INT QUIT TERM HUP, but for ignored ones) are told
 * by poll instead. */
void tp_livescreen_open(struct tp_livescreen *screen, const struct tp_cli *cli, bool takes_ends);
void tp_livescreen_close(struct tp_livescreen *screen);

/* How to write the next block: as wide as it is now; *max_lines is 0 on a stream. */
struct tp_report_style tp_livescreen_style(const struct tp_livescreen *screen, size_t *max_lines);

/* False when it could not be written: nobody reads any more. */
bool tp_livescreen_show(struct tp_livescreen *screen, const char *text);

enum {
	TP_LIVESCREEN_QUIT = 1,   /* q, or a signal that ends */
	TP_LIVESCREEN_REDRAW = 2, /* another size, or in the foreground again */
};

/* Takes keys and signals; stops this process at Ctrl-Z. Never blocks but for that. */
unsigned tp_livescreen_poll(struct tp_livescreen *screen);

#endif
