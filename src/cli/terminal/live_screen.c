/* SPDX-License-Identifier: Apache-2.0 */
/* Draws in place on a terminal, or block after block on a stream. */
#include "live_screen.h"

#include "cli/options/settings.h"
#include "output.h"
#include "terminal.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Control sequences of ECMA-48 and xterm: switch to another screen without a cursor and without
 * wrapping, and back; home; erase to the end of the line, of the screen. */
#define ENTER      "\033[?1049h\033[?25l\033[?7l\033[H\033[2J"
#define LEAVE      "\033[?7h\033[?25h\033[?1049l"
#define HOME       "\033[H"
#define ERASE_LINE "\033[K"
#define ERASE_REST "\033[J"

enum { DEFAULT_COLUMNS = 80, DEFAULT_LINES = 24, CTRL_L = 12 };

static const int ends[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/* ---- restoring the terminal after a crash ---- */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* State for the signal handler; only async-signal-safe data. */
static struct {
	struct termios keys;
	volatile sig_atomic_t has_keys;
	volatile sig_atomic_t is_drawn;
} crash_state;

/* Exhausted memory ends the process with exit(). */
static void restore_at_exit(void)
{
	static const char leave[] = LEAVE;
	if (crash_state.is_drawn && write(STDOUT_FILENO, leave, sizeof(leave) - 1) < 0)
		crash_state.is_drawn = 0;
	if (crash_state.has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &crash_state.keys);
}

static void restore_after_crash(int signal_number)
{
	restore_at_exit();
	/* SA_RESETHAND has already removed the handler. */
	raise(signal_number);
}

static void watch_crashes(bool is_watched)
{
	static bool is_registered;
	if (!is_registered)
		is_registered = atexit(restore_at_exit) == 0;
	struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
	action.sa_handler = is_watched ? restore_after_crash : SIG_DFL;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, NULL);
}

/* ---- the terminal ---- */

/* A terminal whose name is unknown or "dumb" has no control sequences. */
static bool can_draw(void)
{
	const char *term = tp_settings_env("TERM");
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void write_text(struct tp_live_screen *screen, const char *text)
{
	if (!screen->is_failed && tp_output_text(text) != TP_EXIT_OK)
		screen->is_failed = true;
}

/* True unless the terminal belongs to another job. Without job control it belongs to every
 * process. */
static bool is_foreground(int fd)
{
	pid_t group = tcgetpgrp(fd);
	return group < 0 || group == getpgrp();
}

static void watch(const struct tp_live_screen *screen, int fd, bool is_watched)
{
	struct epoll_event event = {.events = EPOLLIN};
	if (fd >= 0)
		epoll_ctl(screen->wait_fd, is_watched ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event);
}

/* Keys arrive one by one and are not echoed; Ctrl-C and Ctrl-Z keep their meaning. Calling
 * tcsetattr() in a background job would stop it. */
static void enter_raw_mode(struct tp_live_screen *screen)
{
	screen->has_keys = isatty(STDIN_FILENO) && is_foreground(STDIN_FILENO) &&
			   tcgetattr(STDIN_FILENO, &screen->before) == 0;
	if (!screen->has_keys)
		return;
	crash_state.keys = screen->before;
	crash_state.has_keys = 1;
	struct termios keys = screen->before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 0;
	keys.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	watch(screen, STDIN_FILENO, true);
}

static void leave_raw_mode(struct tp_live_screen *screen)
{
	if (!screen->has_keys)
		return;
	watch(screen, STDIN_FILENO, false);
	tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
	crash_state.has_keys = 0;
	screen->has_keys = false;
}

static void enter(struct tp_live_screen *screen)
{
	screen->is_away = screen->is_terminal && !is_foreground(STDOUT_FILENO);
	if (!screen->is_terminal || screen->is_away)
		return;
	watch_crashes(true);
	enter_raw_mode(screen);
	crash_state.is_drawn = 1;
	write_text(screen, ENTER);
}

static void leave(struct tp_live_screen *screen)
{
	if (!screen->is_terminal || screen->is_away)
		return;
	write_text(screen, LEAVE);
	crash_state.is_drawn = 0;
	leave_raw_mode(screen);
	watch_crashes(false);
	screen->is_away = true;
}

static void handle_signals(struct tp_live_screen *screen, bool takes_ends)
{
	sigset_t taken;
	sigemptyset(&taken);
	if (screen->is_terminal) {
		sigaddset(&taken, SIGWINCH);
		sigaddset(&taken, SIGTSTP);
		sigaddset(&taken, SIGCONT);
	}
	for (size_t i = 0; takes_ends && i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct sigaction action;
		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&taken, ends[i]);
	}
	pthread_sigmask(SIG_BLOCK, &taken, &screen->mask_before);
	screen->signal_fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

void tp_live_screen_open(struct tp_live_screen *screen, const struct tp_cli *cli, bool takes_ends,
			 bool may_draw)
{
	*screen = (struct tp_live_screen){.cli = cli, .is_terminal = may_draw && can_draw()};
	handle_signals(screen, takes_ends);
	screen->wait_fd = epoll_create1(EPOLL_CLOEXEC);
	watch(screen, screen->signal_fd, true);
	enter(screen);
}

void tp_live_screen_close(struct tp_live_screen *screen)
{
	bool was_drawn = screen->is_terminal && !screen->is_away;
	leave(screen);
	if (was_drawn)
		write_text(screen, tp_buf_text(&screen->shown));
	if (screen->wait_fd >= 0)
		close(screen->wait_fd);
	if (screen->signal_fd >= 0)
		close(screen->signal_fd);
	pthread_sigmask(SIG_SETMASK, &screen->mask_before, NULL);
	tp_buf_release(&screen->shown);
}

struct tp_report_style tp_live_screen_style(const struct tp_live_screen *screen, size_t *max_lines)
{
	struct winsize size = {0};
	*max_lines = 0;
	if (screen->is_terminal) {
		bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
		/* The last line stays free: a newline there would scroll. */
		*max_lines = (is_known ? size.ws_row : DEFAULT_LINES) - 1;
	}
	return tp_terminal_style(screen->cli, STDOUT_FILENO);
}

void tp_live_screen_size(size_t *columns, size_t *lines)
{
	struct winsize size = {0};
	bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;
	*columns = is_known ? size.ws_col : DEFAULT_COLUMNS;
	*lines = is_known ? size.ws_row : DEFAULT_LINES;
}

bool tp_live_screen_write(struct tp_live_screen *screen, const struct tp_buf *out)
{
	if (screen->is_away)
		enter(screen);
	if (!screen->is_away && out->len)
		write_text(screen, tp_buf_text(out));
	return !screen->is_failed;
}

void tp_live_screen_keep(struct tp_live_screen *screen, const char *text)
{
	tp_buf_clear(&screen->shown);
	tp_buf_puts(&screen->shown, text);
}

/* Overwrites line by line in one write, to avoid flicker. */
static void add_in_place(struct tp_buf *out, const char *text)
{
	tp_buf_puts(out, HOME);
	for (; *text; text++) {
		if (*text == '\n')
			tp_buf_puts(out, ERASE_LINE);
		tp_buf_putc(out, *text);
	}
	tp_buf_puts(out, ERASE_REST);
}

bool tp_live_screen_show(struct tp_live_screen *screen, const char *text)
{
	struct tp_buf out = {0};
	/* A shell does not notify a running job when it brings the job to the foreground. */
	if (screen->is_away)
		enter(screen);
	if (screen->is_terminal && !screen->is_away)
		add_in_place(&out, text);
	else if (!screen->is_terminal)
		tp_buf_printf(&out, "%s%s", screen->n_blocks ? "\n" : "", text);
	tp_live_screen_keep(screen, text);
	screen->n_blocks++;
	write_text(screen, tp_buf_text(&out));
	tp_buf_release(&out);
	return !screen->is_failed;
}

/* Readable and empty: the terminal is gone. */
static bool is_at_eof(void)
{
	struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&end, 1, 0) > 0;
}

static unsigned read_keys(struct tp_live_screen *screen)
{
	char keys[64];
	unsigned events = 0;
	ssize_t n = screen->has_keys ? read(STDIN_FILENO, keys, sizeof(keys)) : 0;
	if (screen->has_keys && n <= 0 && is_at_eof()) {
		leave_raw_mode(screen);
		events |= screen->typed ? TP_LIVE_SCREEN_QUIT : 0;
	}
	if (screen->typed && n > 0)
		tp_buf_add(screen->typed, keys, (size_t)n);
	for (ssize_t i = 0; i < n && !screen->typed; i++) {
		if (keys[i] == 'q' || keys[i] == 'Q')
			events |= TP_LIVE_SCREEN_QUIT;
		else if (keys[i] == CTRL_L)
			events |= TP_LIVE_SCREEN_REDRAW;
	}
	return events;
}

static unsigned handle_signal(struct tp_live_screen *screen, int signal)
{
	switch (signal) {
	case SIGWINCH:
		return TP_LIVE_SCREEN_REDRAW;
	case SIGTSTP:
		leave(screen);
		kill(getpid(), SIGSTOP);
		return 0;
	case SIGCONT: /* from fg or bg */
		if (screen->is_away)
			enter(screen);
		return TP_LIVE_SCREEN_REDRAW;
	case SIGTERM:
		return TP_LIVE_SCREEN_QUIT | TP_LIVE_SCREEN_END;
	default:
		return TP_LIVE_SCREEN_QUIT;
	}
}

unsigned tp_live_screen_poll(struct tp_live_screen *screen)
{
	struct signalfd_siginfo info;
	unsigned events = read_keys(screen);
	while (screen->signal_fd >= 0 &&
	       read(screen->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		events |= handle_signal(screen, (int)info.ssi_signo);
	return events;
}
