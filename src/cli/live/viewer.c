/* SPDX-License-Identifier: Apache-2.0 */
/* Passes keys to the viewer and its cells to the terminal. */
#include "viewer.h"

#include "cli/options/settings.h"
#include "cli/terminal/key_decode.h"
#include "cli/terminal/live_screen.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/report/cell_grid.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* xterm and tmux cut longer texts. */
enum { CLIPBOARD_MAX = 74994 };

bool tp_viewer_has_terminal(void)
{
	const char *term = tp_settings_env("TERM");
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* ---- output of the viewer ---- */

static void add_base64(struct tp_buf *out, const char *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < n; i += 3) {
		uint32_t word = 0;
		for (size_t k = 0; k < 3; k++)
			word = word << 8 | (i + k < n ? (unsigned char)bytes[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			tp_buf_add(out, i + k > n ? "=" : &digits[word >> (18 - 6 * k) & 63], 1);
	}
}

/* OSC 52 of xterm: the terminal itself copies the text to the clipboard, also over ssh. */
static void copy_screen(struct tp_viewer *viewer)
{
	struct tp_buf text = {0};
	struct tp_buf out = {0};
	tp_view_add_markdown(viewer->view, &text);
	if (text.len * 4 / 3 > CLIPBOARD_MAX) {
		tp_view_show_message(
			viewer->view,
			"Too long for the terminal's clipboard; press e to write a file.");
	} else {
		tp_buf_puts(&out, "\033]52;c;");
		add_base64(&out, tp_buf_text(&text), text.len);
		tp_buf_puts(&out, "\033\\");
		tp_live_screen_write(viewer->screen, &out);
		tp_view_show_message(
			viewer->view,
			"Copied to the clipboard as Markdown, if the terminal allows it.");
	}
	tp_buf_release(&text);
	tp_buf_release(&out);
}

/* Uses a free name: no file is replaced. */
static void write_screen(struct tp_view *view)
{
	struct tp_error err = {0};
	struct tp_buf text = {0};
	char name[80];
	char said[200];
	int number = 1;
	tp_view_add_markdown(view, &text);
	do
		snprintf(name, sizeof(name), "trainprof-%.40s-%d.md", tp_view_screen_name(view),
			 number++);
	while (access(name, F_OK) == 0 && number < 1000);
	for (char *c = name; *c; c++)
		if (*c == ' ')
			*c = '-';
	if (tp_file_write(name, tp_buf_text(&text), text.len, &err) == TP_OK)
		snprintf(said, sizeof(said), "Written to %s.", name);
	else
		snprintf(said, sizeof(said), "%.190s", err.text);
	tp_view_show_message(view, said);
	tp_buf_release(&text);
}

/* ---- a terminal ---- */

bool tp_viewer_draw(struct tp_viewer *viewer)
{
	struct tp_report_style style = tp_terminal_style(viewer->cli, STDOUT_FILENO);
	struct tp_grid grid;
	struct tp_buf out = {0};
	size_t columns;
	size_t lines;
	if (viewer->screen->is_away)
		viewer->has_shown = false;
	tp_live_screen_size(&columns, &lines);
	tp_grid_init(&grid, columns, lines, style.is_ascii);
	tp_view_draw(viewer->view, &grid);
	tp_grid_add_changes(&out, &grid, viewer->has_shown ? &viewer->shown : NULL,
			    style.has_colour);
	bool is_written = tp_live_screen_write(viewer->screen, &out);
	tp_buf_release(&out);
	tp_grid_release(&viewer->shown);
	viewer->shown = grid;
	viewer->has_shown = true;
	return is_written;
}

/* Returns false to quit. */
static bool handle_key(struct tp_viewer *viewer, int key)
{
	switch (tp_view_handle_key(viewer->view, key)) {
	case TP_VIEW_QUIT:
		return false;
	case TP_VIEW_COPY:
		copy_screen(viewer);
		return true;
	case TP_VIEW_EXPORT:
		write_screen(viewer->view);
		return true;
	case TP_VIEW_REDRAW:
		viewer->has_shown = false;
		return true;
	default:
		return true;
	}
}

bool tp_viewer_handle_typed(struct tp_viewer *viewer, bool is_all)
{
	struct tp_buf *typed = viewer->screen->typed;
	size_t at = 0;
	bool goes_on = true;
	while (goes_on && at < typed->len) {
		size_t used;
		int key = tp_key_decode(typed->data + at, typed->len - at, &used);
		if (!used && !is_all)
			break;
		goes_on = handle_key(viewer, key);
		at += used ? used : 1;
	}
	size_t rest = typed->len - at;
	if (rest)
		memmove(typed->data, typed->data + at, rest);
	typed->len = rest;
	if (typed->data)
		typed->data[rest] = '\0';
	return goes_on;
}

void tp_viewer_release(struct tp_viewer *viewer)
{
	tp_grid_release(&viewer->shown);
	viewer->has_shown = false;
}

static bool wait_and_handle(struct tp_viewer *viewer)
{
	struct pollfd events = {.fd = viewer->screen->wait_fd, .events = POLLIN};
	int n = poll(&events, 1, viewer->screen->typed->len ? TP_VIEWER_ESCAPE_MS : -1);
	unsigned news = n > 0 ? tp_live_screen_poll(viewer->screen) : 0;
	if (news & TP_LIVE_SCREEN_REDRAW)
		viewer->has_shown = false;
	if (news & TP_LIVE_SCREEN_QUIT)
		return false;
	return tp_viewer_handle_typed(viewer, n == 0);
}

int tp_viewer_run(const struct tp_cli *cli, struct tp_view *view)
{
	struct tp_live_screen screen;
	struct tp_buf typed = {0};
	struct tp_viewer viewer = {.cli = cli, .view = view, .screen = &screen};
	tp_live_screen_open(&screen, cli, true, true);
	screen.typed = &typed;
	while (tp_viewer_draw(&viewer) && wait_and_handle(&viewer))
		;
	int status = screen.is_failed ? TP_EXIT_FILE : TP_EXIT_OK;
	tp_live_screen_close(&screen);
	tp_viewer_release(&viewer);
	tp_buf_release(&typed);
	return status;
}

/* ---- keys by name ---- */

static const struct {
	const char *name;
	int key;
} names[] = {
	{"Enter", TP_KEY_ENTER},
	{"Esc", TP_KEY_ESCAPE},
	{"Tab", TP_KEY_TAB},
	{"Up", TP_KEY_UP},
	{"Down", TP_KEY_DOWN},
	{"Left", TP_KEY_LEFT},
	{"Right", TP_KEY_RIGHT},
	{"PgUp", TP_KEY_PAGE_UP},
	{"PgDn", TP_KEY_PAGE_DOWN},
	{"Home", TP_KEY_HOME},
	{"End", TP_KEY_END},
	{"Backspace", TP_KEY_BACKSPACE},
	{"lt", '<'},
};

/* TP_KEY_NONE = no such name. */
static int named_key(const char *name, size_t len)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		if (strlen(names[i].name) == len && strncmp(names[i].name, name, len) == 0)
			return names[i].key;
	return TP_KEY_NONE;
}

enum tp_status tp_viewer_handle_keys(struct tp_view *view, const char *keys, struct tp_error *err)
{
	while (*keys) {
		size_t len = *keys == '<' ? strcspn(keys, ">") : 0;
		if (!len) {
			(void)tp_view_handle_key(view, (unsigned char)*keys++);
			continue;
		}
		int key = named_key(keys + 1, len - 1);
		if (key == TP_KEY_NONE) {
			tp_fail(err, TP_USAGE, "unknown key %.*s>", (int)(len < 40 ? len : 40),
				keys);
			tp_error_next(err, "trainprof view --keys='4<Down><Enter>'");
			return TP_USAGE;
		}
		(void)tp_view_handle_key(view, key);
		keys += len + (keys[len] == '>');
	}
	return TP_OK;
}

/* ---- lines for screen readers ---- */

static int print_plain(const struct tp_cli *cli, struct tp_view *view)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	style.has_colour = false;
	tp_page_init(&page, &style);
	tp_view_print_plain(view, &page);
	tp_page_end(&page);
	tp_page_add(
		&page, TP_PAINT_NONE,
		"Keys, then Enter; an empty line opens the selected row, ? is help, q goes back.");
	tp_page_end(&page);
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

/* Returns false to quit. */
static bool handle_line(struct tp_view *view, const char *line)
{
	if (!*line)
		return tp_view_handle_key(view, TP_KEY_ENTER) != TP_VIEW_QUIT;
	bool has_word = *line == '/' || *line == '\\';
	for (; *line; line++) {
		enum tp_view_answer answer = tp_view_handle_key(view, (unsigned char)*line);
		if (answer == TP_VIEW_QUIT)
			return false;
		if (answer == TP_VIEW_COPY || answer == TP_VIEW_EXPORT)
			write_screen(view);
	}
	return !has_word || tp_view_handle_key(view, TP_KEY_ENTER) != TP_VIEW_QUIT;
}

int tp_viewer_run_plain(const struct tp_cli *cli, struct tp_view *view)
{
	char *line = NULL;
	size_t capacity = 0;
	int status = print_plain(cli, view);
	while (status == TP_EXIT_OK && getline(&line, &capacity, stdin) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!handle_line(view, line))
			break;
		status = print_plain(cli, view);
	}
	free(line);
	return status;
}
