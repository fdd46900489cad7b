/* SPDX-License-Identifier: Apache-2.0 */
/* Determines what a stream can show. */
#include "terminal.h"

#include "cli/options/settings.h"
#include "trainprof/base/text.h"

#include <langinfo.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80, MIN_WIDTH = 40, MAX_WIDTH = 400 };

static bool env_forces(const char *name)
{
	return tp_settings_env(name) && strcmp(tp_settings_env(name), "0") != 0;
}

/* --color > NO_COLOR > CLICOLOR_FORCE, FORCE_COLOR > TERM=dumb > is it a terminal. */
static bool has_colour(const struct tp_cli *cli, int fd)
{
	if (strcmp(cli->colour, "auto") != 0)
		return strcmp(cli->colour, "always") == 0;
	if (tp_settings_env("NO_COLOR"))
		return false;
	if (env_forces("CLICOLOR_FORCE") || env_forces("FORCE_COLOR"))
		return true;
	const char *term = tp_settings_env("TERM");
	if (!term || strcmp(term, "dumb") == 0)
		return false;
	return isatty(fd);
}

/* --width > COLUMNS > the terminal > 80. */
static uint64_t find_width(const struct tp_cli *cli, int fd)
{
	uint64_t columns = 0;
	struct winsize size = {0};
	const char *text = tp_settings_env("COLUMNS");
	if (cli->width)
		return cli->width;
	if (text && tp_text_parse_count(text, &columns) && columns)
		return columns;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return DEFAULT_WIDTH;
}

struct tp_report_style tp_terminal_style(const struct tp_cli *cli, int fd)
{
	uint64_t width = find_width(cli, fd);
	if (width < MIN_WIDTH)
		width = MIN_WIDTH;
	if (width > MAX_WIDTH)
		width = MAX_WIDTH;
	return (struct tp_report_style){
		.width = (unsigned)width,
		.has_colour = has_colour(cli, fd),
		.is_ascii = cli->is_ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
	};
}
