/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one rank of a job: its folder, its silence, and the summary of the job by the last rank. */
#include "rank_run.h"

#include "cli/job/job_ranks.h"
#include "cli/job/job_session.h"
#include "cli/session/job_folder.h"
#include "cli/session/recordings.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/terminal.h"
#include "post_run_report.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With more ranks, reading each other's manifests takes too long: the report is made on request. */
enum { SUMMARY_RANKS_MAX = 256 };

static void report_command(struct tp_buf *out, const struct tp_rank_run *rank)
{
	tp_buf_puts(out, "trainprof report ");
	tp_text_add_word(out, rank->job.folder);
}

bool tp_rank_run_begin(struct tp_rank_run *rank, const struct tp_cli *cli,
		       const struct tp_run_options *options)
{
	*rank = (struct tp_rank_run){.asked = cli, .cli = *cli, .options = *options};
	bool is_rank = tp_job_folder_place(&rank->job.place, &rank->arena);
	const struct tp_job_place *place = &rank->job.place;
	if (place->contradiction && !cli->is_quiet) {
		if (is_rank && place->n_ranks)
			tp_message_print(NULL,
					 "%s is impossible: rank %" PRId64 " of %u by %s counts",
					 place->contradiction, place->rank, place->n_ranks,
					 place->launcher);
		else
			tp_message_print(NULL, "%s is impossible: the rank is not known",
					 place->contradiction);
	}
	if (!is_rank)
		return false;
	char *name = tp_job_folder_name(place);
	rank->folder = options->output ? tp_strdup(options->output) : tp_recordings_named(name);
	free(name);
	rank->job.folder = rank->folder;
	rank->options.job = &rank->job;
	rank->cli.is_quiet = cli->is_quiet || place->rank != 0;
	return true;
}

int tp_rank_run_exec(struct tp_rank_run *rank, char **argv)
{
	struct tp_error err = {0};
	if (!rank->asked->is_quiet)
		tp_message_print(NULL, "rank %" PRId64 " is not measured", rank->job.place.rank);
	int status = tp_target_run_alone(rank->cli.inheritance, argv, &err);
	tp_message_error(NULL, &err);
	return status;
}

static void report_failure(const struct tp_rank_run *rank, const struct tp_target_end *end)
{
	struct tp_buf next = {0};
	bool was_signal = end->kind == TP_END_SIGNALED;
	/* Launchers end the other ranks with these signals. */
	if (was_signal && (end->code == SIGTERM || end->code == SIGINT || end->code == SIGHUP))
		return;
	if (rank->asked->is_quiet || (!was_signal && end->code == 0))
		return;
	report_command(&next, rank);
	tp_message_print(tp_buf_text(&next), "rank %" PRId64 " ended with %s %d",
			 rank->job.place.rank, was_signal ? "signal" : "status", end->code);
	tp_buf_release(&next);
}

/* Each rank makes its own digest, so that no rank has to read all recordings. */
static int save_digest(const struct tp_cli *cli, const struct tp_run_options *options,
		       const char *directory)
{
	struct tp_analysis_session reading;
	struct tp_error err = {0};
	(void)cli;
	enum tp_status status =
		tp_analysis_session_open(&reading, directory, &options->reading, &err);
	if (status == TP_OK) {
		status = tp_job_ranks_save_digest(&reading, &options->reading, &err);
		tp_analysis_session_close(&reading);
	}
	if (status != TP_OK)
		tp_message_error(NULL, &err);
	return status == TP_OK ? TP_REPORT_WRITTEN : TP_REPORT_FAILED;
}

/* The summary of the job goes to the terminal of the user who started it. */
static int report_job(const struct tp_cli *cli, const struct tp_run_options *options,
		      const char *directory)
{
	struct tp_report_style style = tp_terminal_style(cli, STDERR_FILENO);
	struct tp_error err = {0};
	struct tp_buf text = {0};
	struct tp_job job;
	if (tp_job_session_read(&job, &directory, 1, options->job->place.id, &options->reading,
				&err) != TP_OK) {
		tp_message_error(NULL, &err);
		return TP_REPORT_FAILED;
	}
	tp_job_session_render(&text, &job, "text", &style, directory);
	/* One write: output of other ranks must not split the text. */
	(void)tp_file_write_all(STDERR_FILENO, text.data, text.len);
	tp_buf_release(&text);
	tp_job_release(&job);
	return TP_REPORT_WRITTEN;
}

/* Ranks whose folder is on a disk of another host are never seen here. */
static void report_rest(const struct tp_rank_run *rank, size_t n_seen)
{
	struct tp_buf next = {0};
	report_command(&next, rank);
	tp_buf_puts(&next, n_seen < rank->job.place.n_ranks ? "   (with the folders of all hosts)"
							    : "   (when all ranks have ended)");
	tp_message_print(tp_buf_text(&next), "%zu of %u ranks are recorded in %s", n_seen,
			 rank->job.place.n_ranks, rank->job.folder);
	tp_buf_release(&next);
}

bool tp_rank_run_end(struct tp_rank_run *rank, const struct tp_run_session_result *measured)
{
	const struct tp_job_place *place = &rank->job.place;
	report_failure(rank, &measured->end);
	bool has_digest = tp_post_run_report_by(save_digest, &rank->cli, &rank->options,
						measured->directory, measured->was_interrupted);
	if (has_digest && rank->options.is_digest_only)
		tp_recordings_keep_digest(measured->directory);
	if (rank->asked->is_quiet || strcmp(rank->options.summary, "none") == 0 || !place->n_ranks)
		return true;
	if (place->n_ranks > SUMMARY_RANKS_MAX) {
		if (place->rank == 0)
			report_rest(rank, place->n_ranks);
		return true;
	}
	struct tp_job_census census =
		tp_job_folder_count(rank->job.folder, place, rank->options.is_digest_only);
	if (census.n_closed == place->n_ranks) {
		return !tp_job_folder_lock_summary(rank->job.folder, place, measured->directory) ||
		       tp_post_run_report_by(report_job, rank->asked, &rank->options,
					     rank->job.folder, measured->was_interrupted);
	}
	if (place->rank == 0 && census.n_seen < place->n_ranks)
		report_rest(rank, census.n_seen);
	return true;
}

void tp_rank_run_release(struct tp_rank_run *rank)
{
	free(rank->folder);
	tp_arena_release(&rank->arena);
	*rank = (struct tp_rank_run){0};
}
