/* SPDX-License-Identifier: Apache-2.0 */
/* Finds ranks that are missing, ended before the job, or hang. */
#include "job_ends.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- presence -------------------------------------------------------------------------------- */

static int rank_order(const void *a, const void *b)
{
	const struct tp_job_rank *x = a;
	const struct tp_job_rank *y = b;
	if (x->number != y->number) /* -1 (unknown) becomes the largest */
		return (uint64_t)x->number < (uint64_t)y->number ? -1 : 1;
	if (!x->unreadable != !y->unreadable)
		return x->unreadable ? 1 : -1;
	if (x->started_wall_ns != y->started_wall_ns)
		return x->started_wall_ns > y->started_wall_ns ? -1 : 1;
	return strcmp(x->directory, y->directory);
}

static void find_missing(struct tp_job *job)
{
	size_t n = 0;
	size_t at = 0;
	int64_t *missing =
		tp_arena_array(&job->arena, (size_t)job->n_expected + 1, sizeof(*missing));
	for (int64_t number = 0; number < (int64_t)job->n_expected; number++) {
		while (at < job->n_ranks && job->ranks[at].number >= 0 &&
		       job->ranks[at].number < number)
			at++;
		if (at >= job->n_ranks || job->ranks[at].number != number)
			missing[n++] = number;
	}
	job->missing = missing;
	job->n_missing = n;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_hosts(const struct tp_job *job)
{
	const char **hosts = tp_alloc((job->n_ranks + 1) * sizeof(*hosts));
	size_t n = 0;
	size_t n_hosts = 0;
	for (size_t i = 0; i < job->n_ranks; i++)
		if (job->ranks[i].host)
			hosts[n++] = job->ranks[i].host;
	qsort((void *)hosts, n, sizeof(*hosts), by_text);
	for (size_t i = 0; i < n; i++)
		n_hosts += !i || strcmp(hosts[i - 1], hosts[i]) != 0;
	free((void *)hosts);
	return n_hosts;
}

/* The job gets the name of its first rank that has one. */
static void name_job(struct tp_job *job)
{
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		job->label = job->label ? job->label : rank->label;
		if (!job->launcher && rank->launcher) {
			job->launcher = rank->launcher;
			job->id = rank->job_id;
		}
	}
}

/* Rank counts come from files: larger ones are not plausible. */
enum { EXPECTED_MAX = 1 << 20 };

void tp_job_count_ranks(struct tp_job *job)
{
	if (job->n_ranks)
		qsort(job->ranks, job->n_ranks, sizeof(*job->ranks), rank_order);
	for (size_t i = 0; i < job->n_ranks; i++) {
		struct tp_job_rank *rank = &job->ranks[i];
		rank->is_duplicate = i && rank->number >= 0 && rank->number == rank[-1].number;
		if (rank->n_ranks > job->n_expected && rank->n_ranks <= EXPECTED_MAX)
			job->n_expected = rank->n_ranks;
		job->n_unreadable += rank->unreadable != NULL;
	}
	job->n_hosts = count_hosts(job);
	name_job(job);
	find_missing(job);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static bool counts(const struct tp_job_rank *rank)
{
	return !rank->unreadable && !rank->is_duplicate;
}

static bool has_failed(const struct tp_job_rank *rank)
{
	return rank->end == TP_END_SIGNALED ||
	       (rank->end == TP_END_EXITED && rank->end_code != 0) || rank->is_cut;
}

/* True for an end that a launcher may cause in the other ranks after one rank has failed. */
static bool may_be_launcher(const struct tp_job_rank *rank)
{
	return rank->is_cut || (rank->end == TP_END_SIGNALED &&
				(rank->end_code == SIGTERM || rank->end_code == SIGKILL ||
				 rank->end_code == SIGINT || rank->end_code == SIGHUP));
}

/* Clocks of different hosts agree about as well as their wall-clock times. */
static uint64_t end_wall_ns(const struct tp_job_rank *rank)
{
	return rank->started_wall_ns + (rank->ended_ns - rank->started_ns);
}

/* The first cause is an end by itself rather than one that the launcher may have caused, and
 * otherwise the earlier one. */
static bool is_earlier_failure(const struct tp_job_rank *a, const struct tp_job_rank *b)
{
	bool is_secondary = may_be_launcher(a);
	if (a->end == TP_END_SIGNALED && a->end_code == SIGKILL && end_wall_ns(a) < end_wall_ns(b))
		return true;
	if (is_secondary != may_be_launcher(b))
		return !is_secondary;
	return end_wall_ns(a) < end_wall_ns(b);
}

/* Returns true if the whole job was stopped, by this signal (0 = unknown), or still runs: no rank
 * ended in another way. */
static bool is_stopped(const struct tp_job *job, int *signal)
{
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		if (!counts(rank))
			continue;
		bool is_killed = rank->end == TP_END_SIGNALED && rank->end_code == SIGKILL;
		if (!may_be_launcher(rank) || is_killed)
			return false;
		if (rank->end == TP_END_SIGNALED)
			*signal = rank->end_code;
		n++;
	}
	return n > 0;
}

/* Returns how long another rank only waited, from that end on. */
static uint64_t waited_since(const struct tp_job_rank *other, const struct tp_job_rank *ended)
{
	uint64_t end = end_wall_ns(other);
	uint64_t since = end_wall_ns(ended);
	uint64_t after = end > since ? end - since : 0;
	return after < other->peer_tail_ns ? after : other->peer_tail_ns;
}

/* True if its end is unknown and other ranks have waited since. */
static bool left_early(const struct tp_job *job, const struct tp_job_rank *rank)
{
	for (size_t i = 0; i < job->n_ranks && rank->end == TP_END_UNKNOWN && !rank->is_cut; i++) {
		const struct tp_job_rank *other = &job->ranks[i];
		if (other != rank && counts(other) &&
		    (double)waited_since(other, rank) >=
			    fmax(TP_JOB_LEFT_NS_MIN, 5 * other->step_ns))
			return true;
	}
	return false;
}

static void find_ended(struct tp_job *job)
{
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		if (!counts(rank) || (!has_failed(rank) && !left_early(job, rank)))
			continue;
		job->n_ended++;
		if (job->ended == TP_JOB_NO_RANK ||
		    is_earlier_failure(rank, &job->ranks[job->ended]))
			job->ended = (int)i;
	}
	for (size_t i = 0; job->ended != TP_JOB_NO_RANK && i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		if (!counts(rank) || (int)i == job->ended)
			continue;
		uint64_t waited = waited_since(rank, &job->ranks[job->ended]);
		if (waited > job->ended_wait_ns)
			job->ended_wait_ns = waited;
	}
}

/* ---- hangs ----------------------------------------------------------------------------------- */

static void find_hanging(struct tp_job *job)
{
	size_t n_waiting = 0;
	size_t n_others = 0;
	int other = TP_JOB_NO_RANK;
	uint64_t shortest_ns = UINT64_MAX;
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		if (!counts(rank))
			continue;
		bool waits = (double)rank->peer_tail_ns >= TP_JOB_HANG_NS_MIN &&
			     (double)rank->peer_tail_ns >= 10 * rank->step_ns;
		n_waiting += waits;
		n_others += !waits;
		if (waits && rank->peer_tail_ns < shortest_ns)
			shortest_ns = rank->peer_tail_ns;
		if (!waits)
			other = (int)i;
	}
	/* A rank that has ended does not hang. */
	if (!n_waiting || n_others > 1 || (n_others && other == job->ended))
		return;
	/* It may have ended successfully long before. */
	if (n_others && job->ranks[other].end == TP_END_EXITED && job->ranks[other].end_code == 0)
		return;
	job->hang_ns = shortest_ns;
	job->hanging = other;
}

void tp_job_find_ends(struct tp_job *job)
{
	int number = 0;
	job->is_open = is_stopped(job, &number);
	if (!job->is_open)
		find_ended(job);
	else
		job->stopped_by = number;
	find_hanging(job);
}
