/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the progress of reading. The reading code is not involved: the kernel knows the position of
 * each open file (/proc/self/fdinfo). */
#include "progress.h"

#include "terminal.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/text.h"
#include "trainprof/report/units.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Shorter work gets no line; a shorter interval between updates would flicker. */
static const uint64_t first_ns = 1000000000U;
static const uint64_t interval_ns = 250000000U;

/* Below that share the remaining time would be a guess. */
static const double min_share = 0.02;

static const char clear_line[] = "\r\033[K";

/* NULL while no line is running. */
static struct tp_progress_line *running;

void tp_progress_add_line(struct tp_buf *out, const char *what, const char *file, double share,
			  uint64_t elapsed_ns, unsigned columns)
{
	struct tp_buf end = {0};
	struct tp_buf name = {0};
	if (share >= 0)
		tp_buf_printf(&end, "  %.0f %%", share * 100);
	if (share >= min_share)
		tp_buf_printf(
			&end, ", %s left",
			tp_unit_clock((uint64_t)((double)elapsed_ns * (1 - share) / share)).text);
	else
		tp_buf_printf(&end, "%s%s", share >= 0 ? ", " : "  ",
			      tp_unit_clock(elapsed_ns).text);
	tp_text_add_safe(&name, tp_text_base_name(file));
	for (char *p = name.data; p && *p; p++)
		if (*p == '\n')
			*p = '?';
	size_t taken = strlen(what) + 1 + end.len;
	size_t room = columns > taken ? columns - taken : 0;
	tp_buf_printf(out, "%s ", what);
	const char *p = tp_buf_text(&name);
	for (size_t i = 0; i < room && *p; i++) {
		size_t len = tp_text_utf8_length(p);
		tp_buf_add(out, p, len ? len : 1);
		p += len ? len : 1;
	}
	tp_buf_puts(out, tp_buf_text(&end));
	tp_buf_release(&name);
	tp_buf_release(&end);
}

/* Finds the position of the descriptor of this file; false if there is none. */
static bool find_position(uint64_t *out, const struct stat *wanted)
{
	char path[64];
	char text[256];
	struct stat info;
	bool is_found = false;
	for (int fd = 3; fd < 64 && !is_found; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		if (fstat(fd, &info) != 0 || info.st_dev != wanted->st_dev ||
		    info.st_ino != wanted->st_ino || tp_file_peek(path, text, sizeof(text)) <= 0)
			continue;
		is_found = sscanf(text, "pos: %" SCNu64, out) == 1;
	}
	return is_found;
}

/* Files before the open one have been read, those after it have not. */
static double find_share(const struct tp_progress_line *progress, const char **current)
{
	uint64_t all = 0;
	uint64_t done = 0;
	bool is_known = false;
	for (size_t i = 0; i < progress->n_files; i++) {
		struct stat info;
		uint64_t position = 0;
		if (stat(progress->files[i], &info) != 0)
			return -1;
		if (find_position(&position, &info)) {
			is_known = true;
			done = all + position;
			*current = progress->files[i];
		}
		all += (uint64_t)info.st_size;
	}
	if (!is_known || !all || done > all)
		return -1;
	return (double)done / (double)all;
}

static void draw(struct tp_progress_line *progress)
{
	const char *current = progress->n_files ? progress->files[0] : "";
	struct tp_buf line = {0};
	double share = find_share(progress, &current);
	tp_buf_puts(&line, "\r");
	tp_progress_add_line(&line, progress->what, current, share,
			     tp_clock_now_ns() - progress->started_ns, progress->columns - 1);
	tp_buf_puts(&line, "\033[K");
	(void)tp_file_write_all(STDERR_FILENO, tp_buf_text(&line), line.len);
	tp_buf_release(&line);
	progress->is_drawn = true;
}

static struct timespec after(uint64_t delay_ns)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	uint64_t ns = (uint64_t)at.tv_nsec + delay_ns;
	at.tv_sec += (time_t)(ns / 1000000000U);
	at.tv_nsec = (long)(ns % 1000000000U);
	return at;
}

static void *watch(void *context)
{
	struct tp_progress_line *progress = context;
	uint64_t delay_ns = first_ns;
	pthread_mutex_lock(&progress->lock);
	while (!progress->is_over) {
		struct timespec until = after(delay_ns);
		int result = pthread_cond_timedwait(&progress->changed, &progress->lock, &until);
		if (result == ETIMEDOUT && !progress->is_over)
			draw(progress);
		delay_ns = interval_ns;
	}
	pthread_mutex_unlock(&progress->lock);
	return NULL;
}

/* Blocks all signals in the new thread: they are for the working thread, or for the one that waits
 * for them. */
static bool start_thread(struct tp_progress_line *progress)
{
	sigset_t all;
	sigset_t before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	bool is_running = pthread_create(&progress->thread, NULL, watch, progress) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_running;
}

void tp_progress_start(struct tp_progress_line *progress, const struct tp_cli *cli,
		       const char *what, const char *const *files, size_t n_files)
{
	pthread_condattr_t clock;
	*progress = (struct tp_progress_line){.what = what, .files = files, .n_files = n_files};
	if (cli->is_quiet || !isatty(STDERR_FILENO))
		return;
	progress->columns = tp_terminal_style(cli, STDERR_FILENO).width;
	progress->started_ns = tp_clock_now_ns();
	pthread_mutex_init(&progress->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->changed, &clock);
	pthread_condattr_destroy(&clock);
	progress->is_running = start_thread(progress);
	running = progress->is_running ? progress : NULL;
}

static void clear(struct tp_progress_line *progress)
{
	if (progress->is_drawn)
		(void)tp_file_write_all(STDERR_FILENO, clear_line, sizeof(clear_line) - 1);
	progress->is_drawn = false;
}

void tp_progress_clear(void)
{
	if (!running)
		return;
	pthread_mutex_lock(&running->lock);
	clear(running);
	pthread_mutex_unlock(&running->lock);
}

void tp_progress_stop(struct tp_progress_line *progress)
{
	if (!progress->is_running)
		return;
	progress->is_running = false;
	running = NULL;
	pthread_mutex_lock(&progress->lock);
	progress->is_over = true;
	pthread_cond_signal(&progress->changed);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);
	clear(progress);
	pthread_cond_destroy(&progress->changed);
	pthread_mutex_destroy(&progress->lock);
}
