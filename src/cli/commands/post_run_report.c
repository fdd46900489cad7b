/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on a run that has just ended. */
#include "post_run_report.h"

#include "cli/job/job_ranks.h"
#include "cli/job/job_session.h"
#include "cli/live/viewer.h"
#include "cli/session/analysis_session.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the child ----------------------------------------------------------------------------- */

static void print_summary(const struct tp_cli *cli, const struct tp_run_options *options,
			  const struct tp_analysis_session *reading)
{
	struct tp_report_style style = tp_terminal_style(cli, STDERR_FILENO);
	style.is_full = strcmp(options->summary, "full") == 0;
	char *text;
	size_t size;
	/* One write: output of a daemon of the program must not split the text. */
	if (tp_analysis_session_render(reading, "text", &style, &text, &size, NULL) == TP_OK)
		(void)tp_file_write_all(STDERR_FILENO, text, size);
	free(text);
}

/* Prints the report of the job; called if the program was a launcher. */
static void print_job(const struct tp_cli *cli, const struct tp_run_options *options,
		      const char *directory)
{
	struct tp_report_style style = tp_terminal_style(cli, STDERR_FILENO);
	struct tp_error err = {0};
	struct tp_buf text = {0};
	struct tp_job job;
	if (tp_job_session_read(&job, &directory, 1, NULL, &options->reading, &err) != TP_OK) {
		tp_message_error(NULL, &err);
		return;
	}
	tp_job_session_render(&text, &job, "text", &style, directory);
	(void)tp_file_write_all(STDERR_FILENO, text.data, text.len);
	tp_buf_release(&text);
	tp_job_release(&job);
}

static int report_run(const struct tp_cli *cli, const struct tp_run_options *options,
		      const char *directory)
{
	struct tp_analysis_session reading;
	struct tp_error err = {0};
	if (tp_analysis_session_open(&reading, directory, &options->reading, &err) != TP_OK) {
		tp_message_error(NULL, &err);
		return TP_REPORT_FAILED;
	}
	reading.report.is_after_run = true;
	reading.report.can_view = isatty(STDERR_FILENO) && tp_viewer_has_terminal();
	int status = tp_trace_n_lost(&reading.trace) ? TP_REPORT_LOST : TP_REPORT_WRITTEN;
	if (tp_job_ranks_save_digest(&reading, &options->reading, &err) != TP_OK) {
		tp_message_error(NULL, &err);
		status = TP_REPORT_FAILED;
	}
	if (strcmp(options->summary, "none") != 0 && !cli->is_quiet && reading.n_ranks)
		print_job(cli, options, directory);
	else if (strcmp(options->summary, "none") != 0 && !cli->is_quiet)
		print_summary(cli, options, &reading);
	if (tp_analysis_session_save(&reading, &err) != TP_OK) {
		tp_message_error(NULL, &err);
		status = TP_REPORT_FAILED;
	}
	tp_analysis_session_close(&reading);
	return status;
}

/* ---- the parent ---------------------------------------------------------------------------- */

struct report_watch {
	pid_t pid;
	uint64_t deadline_ns;
	unsigned n_interrupts;
	sigset_t signals;
};

/* Blocks the signals that would end trainprof and so change the status of the program. */
static void block_signals(struct report_watch *watch, sigset_t *before)
{
	static const int held[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
	sigemptyset(&watch->signals);
	for (size_t i = 0; i < TP_ARRAY_LEN(held); i++)
		sigaddset(&watch->signals, held[i]);
	pthread_sigmask(SIG_BLOCK, &watch->signals, before);
}

/* Returns the child's wait status, or -1 if the parent gave up: the reason is in *reason. */
static int wait_worker(struct report_watch *watch, const char **reason)
{
	for (;;) {
		int status = 0;
		pid_t got = waitpid(watch->pid, &status, WNOHANG);
		if (got == watch->pid)
			return status;
		uint64_t now_ns = tp_clock_now_ns();
		*reason = "it took too long";
		if ((got < 0 && errno != EINTR) || now_ns >= watch->deadline_ns)
			break;
		uint64_t left_ns = watch->deadline_ns - now_ns;
		const struct timespec wait = {.tv_sec = (time_t)(left_ns / TP_NS_PER_S),
					      .tv_nsec = (long)(left_ns % TP_NS_PER_S)};
		int number = sigtimedwait(&watch->signals, NULL, &wait);
		if (number <= 0 || number == SIGCHLD)
			continue;
		*reason = "interrupted";
		if (number != SIGINT || ++watch->n_interrupts > 1)
			break;
		tp_message_print(NULL,
				 "reading the recording; press Ctrl-C again to skip the report");
	}
	kill(watch->pid, SIGKILL);
	waitpid(watch->pid, NULL, 0);
	return -1;
}

static void report_skipped(const char *directory, const char *reason)
{
	struct tp_buf next = {0};
	tp_buf_puts(&next, "trainprof report ");
	tp_text_add_word(&next, directory);
	tp_message_print(tp_buf_text(&next), "no report: %s; the recording is in %s", reason,
			 directory);
	tp_buf_release(&next);
}

bool tp_post_run_report_by(tp_report_fn *work, const struct tp_cli *cli,
			   const struct tp_run_options *options, const char *directory,
			   bool was_interrupted)
{
	struct report_watch watch = {.deadline_ns = tp_clock_now_ns() + options->grace_ns};
	sigset_t before;
	if (was_interrupted) {
		report_skipped(directory, "interrupted");
		return false;
	}
	block_signals(&watch, &before);
	fflush(NULL);
	watch.pid = fork();
	if (watch.pid == 0) {
		/* A signal to the process group must not end the report that the parent waits
		 * for. */
		int status = work(cli, options, directory);
		_exit(status);
	}
	const char *reason = "cannot start a process";
	int status = watch.pid > 0 ? wait_worker(&watch, &reason) : -1;
	char crash[60];
	if (status >= 0 && WIFSIGNALED(status)) {
		snprintf(crash, sizeof(crash), "internal error (signal %d)", WTERMSIG(status));
		reason = crash;
		status = -1;
	}
	if (status < 0)
		report_skipped(directory, reason);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status >= 0 && WEXITSTATUS(status) == TP_REPORT_WRITTEN;
}

bool tp_post_run_report(const struct tp_cli *cli, const struct tp_run_options *options,
			const struct tp_run_session_result *measured)
{
	return tp_post_run_report_by(report_run, cli, options, measured->directory,
				     measured->was_interrupted);
}
