/* SPDX-License-Identifier: Apache-2.0 */
/* Notes which ranks ended, are missing or were left out, and how ranks were joined. */
#include "job_sentences.h"

#include "trainprof/report/units.h"

#include <inttypes.h>
#include <math.h>

enum { NUMBERS_SHOWN = 12 };

/* "3, 7-12" */
static void add_numbers(struct tp_buf *out, const int64_t *numbers, size_t n)
{
	size_t shown = 0;
	for (size_t i = 0; i < n; shown++) {
		size_t last = i;
		while (last + 1 < n && numbers[last + 1] == numbers[last] + 1)
			last++;
		if (shown == NUMBERS_SHOWN) {
			tp_buf_puts(out, " …");
			return;
		}
		tp_buf_printf(out, "%s%" PRId64, shown ? ", " : "", numbers[i]);
		if (last > i)
			tp_buf_printf(out, "%s%" PRId64, last > i + 1 ? "-" : ", ", numbers[last]);
		i = last + 1;
	}
}

static void add_end(struct tp_buf *out, const struct tp_job_rank *rank)
{
	if (rank->end == TP_END_SIGNALED)
		tp_buf_printf(out, " was ended by signal %d", rank->end_code);
	else if (rank->end == TP_END_EXITED && rank->end_code)
		tp_buf_printf(out, " ended with status %d", rank->end_code);
	else if (!rank->is_cut)
		tp_buf_puts(out, " ended before the others,");
	else
		tp_buf_puts(out, " has a recording that was cut off");
	tp_buf_printf(out, " after %s", tp_unit_elapsed(rank->ended_ns - rank->started_ns).text);
	if (rank->n_steps)
		tp_buf_printf(out, " and %s", tp_unit_counted(rank->n_steps, "step").text);
	if (rank->last_place) {
		tp_buf_puts(out, ", at ");
		tp_job_add_code(out, rank->last_place);
	}
}

static void add_ended(struct tp_buf *out, const struct tp_job *job)
{
	struct tp_buf name = {0};
	if (job->stopped_by)
		tp_buf_printf(out, "All ranks were ended by signal %d.\n", job->stopped_by);
	else if (job->is_open)
		tp_buf_puts(out, "No recording was closed: the job still runs, or was killed.\n");
	if (job->ended == TP_JOB_NO_RANK)
		return;
	const struct tp_job_rank *rank = &job->ranks[job->ended];
	tp_job_add_rank(&name, rank);
	const char *text = tp_buf_text(&name);
	tp_buf_printf(out, "%s%s", *text == 'r' ? "R" : "", *text == 'r' ? text + 1 : text);
	tp_buf_release(&name);
	if (rank->host)
		tp_buf_printf(out, " (host %s)", rank->host);
	add_end(out, rank);
	if (job->n_ended > 1)
		tp_buf_printf(out, "; %zu other%s failed, too", job->n_ended - 1,
			      job->n_ended == 2 ? "" : "s");
	if (job->ended_wait_ns > 100000000)
		tp_buf_printf(out, "; others waited %s for it until their end",
			      tp_unit_elapsed(job->ended_wait_ns).text);
	tp_buf_puts(out, ".\n");
}

static void add_hanging(struct tp_buf *out, const struct tp_job *job)
{
	struct tp_buf name = {0};
	if (!job->hang_ns)
		return;
	if (job->hanging == TP_JOB_NO_RANK) {
		tp_buf_printf(out, "All ranks waited for each other%s for the last %s.\n",
			      job->n_missing ? ", or for one that is not here," : "",
			      tp_unit_elapsed(job->hang_ns).text);
		return;
	}
	const struct tp_job_rank *rank = &job->ranks[job->hanging];
	tp_job_add_rank(&name, rank);
	tp_buf_printf(out, "For the last %s all others waited for %s",
		      tp_unit_elapsed(job->hang_ns).text, tp_buf_text(&name));
	tp_buf_release(&name);
	if (rank->host)
		tp_buf_printf(out, " (host %s)", rank->host);
	if (rank->last_place) {
		tp_buf_puts(out, ", which was at ");
		tp_job_add_code(out, rank->last_place);
	}
	tp_buf_puts(out, ".\n");
}

static void add_left_out(struct tp_buf *out, const struct tp_job *job)
{
	if (!job->launcher && job->n_ranks > 1)
		tp_buf_puts(out, "It is not certain that these recordings belong to one job: no "
				 "launcher says so.\n");
	if (job->n_missing) {
		tp_buf_printf(out, "No recording of rank%s ", job->n_missing == 1 ? "" : "s");
		add_numbers(out, job->missing, job->n_missing);
		tp_buf_puts(out, ": it never started, or recorded elsewhere.\n");
	}
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		if (rank->unreadable && job->n_unreadable <= 4)
			tp_buf_printf(out, "Left out %s: %s.\n", rank->directory, rank->unreadable);
		else if (rank->is_duplicate)
			tp_buf_printf(out, "Left out %s: rank %" PRId64 " was recorded again.\n",
				      rank->directory, rank->number);
		else if (!rank->is_joined && !rank->unreadable && job->n_steps)
			tp_buf_printf(out, "Not compared: %s, with %s of its own.\n",
				      rank->directory,
				      tp_unit_counted(rank->n_judged, "step").text);
		if (rank->contradiction)
			tp_buf_printf(out, "%s: %s is impossible; its rank is uncertain.\n",
				      rank->directory, rank->contradiction);
	}
	if (job->n_unreadable > 4)
		tp_buf_printf(out, "Left out %zu recordings that cannot be read.\n",
			      job->n_unreadable);
	if (job->n_other_jobs)
		tp_buf_printf(
			out, "Left out %s of other jobs in the same folder (--job=ID shows one).\n",
			tp_unit_counted(job->n_other_jobs, "recording").text);
}

static void add_joining(struct tp_buf *out, const struct tp_job *job)
{
	int64_t least = 0;
	int64_t most = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		least = job->ranks[i].skew_ns < least ? job->ranks[i].skew_ns : least;
		most = job->ranks[i].skew_ns > most ? job->ranks[i].skew_ns : most;
	}
	if (job->joined_by == TP_JOB_BY_SHARES)
		tp_buf_printf(out, "Not joined by steps: %s. Times are per second.\n",
			      job->not_joined);
	else if (job->joined_by == TP_JOB_BY_ORDER)
		tp_buf_puts(out, "Steps were joined by their order: neither clocks nor lengths "
				 "say more.\n");
	else if (job->joined_by == TP_JOB_BY_LENGTHS)
		tp_buf_printf(out,
			      "Steps were joined by their lengths; clocks of hosts are up to %s "
			      "apart.\n",
			      tp_unit_time((double)(most - least)).text);
}

void tp_job_add_ends(struct tp_buf *out, const struct tp_job *job)
{
	add_ended(out, job);
	add_hanging(out, job);
}

void tp_job_add_notes(struct tp_buf *out, const struct tp_job *job)
{
	add_left_out(out, job);
	add_joining(out, job);
	if (job->n_misplaced)
		tp_buf_printf(out,
			      "%s left out: one rank's border was found at the wrong "
			      "time.\n",
			      tp_unit_counted(job->n_misplaced, "step").text);
	if (job->overhead_ratio > 0)
		tp_buf_printf(out,
			      "Measuring took at most %s of the CPU time that the ranks of %s "
			      "could use.\n",
			      tp_unit_percent(job->overhead_ratio).text,
			      job->n_hosts > 1 ? "the host where it took most" : "the host");
}
