/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the terminal while something takes longer than a second: what it is, the share that
 * is done, and the remaining time. Nothing if stderr is no terminal, or with -q. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_PROGRESS_H
#define TRAINPROF_SRC_CLI_TERMINAL_PROGRESS_H

#include "cli/options/command.h"

#include "trainprof/base/buf.h"

#include <pthread.h>

/* Must not move between start and stop. Zero-initialised it is stopped. */
struct tp_progress_line {
	const char *what;         /* borrowed: "importing" */
	const char *const *files; /* borrowed: the files, read one after the other */
	size_t n_files;
	unsigned columns;
	uint64_t started_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_running;
	bool is_over;
	bool is_drawn;
};

/* If no thread can be created nothing is drawn. */
void tp_progress_start(struct tp_progress_line *progress, const struct tp_cli *cli,
		       const char *what, const char *const *files, size_t n_files);
/* Clears the line. May be called again. */
void tp_progress_stop(struct tp_progress_line *progress);
/* Clears the line that is drawn, if any, so that a message does not continue it; the next update
 * draws it below the message. By the thread that started it. */
void tp_progress_clear(void);

/* Appends "importing a.json.gz  42 %, 1:10 left" in at most that many columns; a share below 0 is
 * not known. */
void tp_progress_add_line(struct tp_buf *out, const char *what, const char *file, double share,
			  uint64_t elapsed_ns, unsigned columns);

#endif
