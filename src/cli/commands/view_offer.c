/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a key after the summary of a run. */
#include "view_offer.h"

#include "cli/live/viewer.h"

#include "trainprof/base/file.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { WAIT_MS = 15000 };

static bool has_waiting_keys(void)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&keys, 1, 0) != 0;
}

static bool is_safe(const struct tp_cli *cli, const struct tp_run_session_result *measured)
{
	return measured->had_no_keys && !measured->was_interrupted && !cli->is_quiet &&
	       tp_viewer_has_terminal() && isatty(STDERR_FILENO) && getpgrp() == getpid() &&
	       tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Returns the key; 0 if none comes in time, or a signal does. */
static char read_key(void)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	char key = 0;
	if (poll(&keys, 1, WAIT_MS) <= 0 || read(STDIN_FILENO, &key, 1) != 1)
		return 0;
	return key;
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Ctrl-C and a hang-up end the wait, not trainprof: its status is that of the program. */
static char prompt_key(const struct termios *before)
{
	static const char text[] = "Press v to look around, any other key to end. ";
	static const char clear[] = "\r\033[K";
	static const int ends[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	struct sigaction old[sizeof(ends) / sizeof(ends[0])];
	const struct sigaction action = {.sa_handler = on_signal};
	struct termios single = *before;
	single.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	single.c_cc[VMIN] = 1;
	single.c_cc[VTIME] = 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &action, &old[i]);
	tcsetattr(STDIN_FILENO, TCSANOW, &single);
	/* Incomplete lines count only in this mode. */
	char key = 0;
	if (!has_waiting_keys() && tp_file_write_all(STDERR_FILENO, text, strlen(text))) {
		key = read_key();
		(void)tp_file_write_all(STDERR_FILENO, clear, strlen(clear));
	}
	tcsetattr(STDIN_FILENO, TCSANOW, before);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &old[i], NULL);
	return key;
}

/* A process of its own: an error in it cannot change the status of the program. */
static void show(const char *directory)
{
	pid_t pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", "trainprof", "view", "--", directory, (char *)NULL);
		_exit(127);
	}
	/* The viewer ends at signals of the terminal; this process must not end before it. */
	sigset_t held;
	sigset_t before;
	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGQUIT);
	sigaddset(&held, SIGHUP);
	sigprocmask(SIG_BLOCK, &held, &before);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void tp_view_offer(const struct tp_cli *cli, const struct tp_run_session_result *measured)
{
	struct termios before;
	if (!is_safe(cli, measured) || tcgetattr(STDIN_FILENO, &before) != 0)
		return;
	if (prompt_key(&before) == 'v')
		show(measured->directory);
}
