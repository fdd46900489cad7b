/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the steps of one rank with those of another. */
#include "job_align.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_same_host(const struct tp_job_rank *a, const struct tp_job_rank *b)
{
	return a->host && b->host && strcmp(a->host, b->host) == 0;
}

static double length_of(const struct tp_job_step *step)
{
	return (double)(step->end_ns - step->start_ns);
}

static uint64_t overlap_ns(const struct tp_job_step *a, const struct tp_job_step *b)
{
	uint64_t start = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
	uint64_t end = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;
	return end > start ? end - start : 0;
}

/* ---- by the clock ---------------------------------------------------------------------------- */

/* True for a match that is off by some steps between two that agree: the step in which a late rank
 * is delayed overlaps the one in which the others wait for it. */
static bool is_other_lag(const size_t *match, size_t n, size_t last, size_t k)
{
	size_t next = k + 1;
	while (next < n && match[next] == TP_JOB_NO_STEP)
		next++;
	return last < n && next < n && match[next] - match[last] == next - last &&
	       match[k] - match[last] != k - last;
}

/* Matches the steps between two matches in order if both ranks have as many there: a rank that is
 * late by more than a step has borders that differ by as much. */
static void match_between(size_t *match, size_t n)
{
	size_t last = n;
	for (size_t k = 0; k < n; k++) {
		if (match[k] == TP_JOB_NO_STEP || is_other_lag(match, n, last, k))
			continue;
		for (size_t i = last + 1; i < k && match[k] - match[last] == k - last; i++)
			match[i] = match[last] + (i - last);
		last = k;
	}
}

/* Matches steps that overlap by more than half of the longer one: where the border of two steps was
 * not recorded, one rank has a step that covers two of another, and that step matches neither.
 * Returns the number of these matches. */
static size_t match_by_clock(const struct tp_job_rank *first, const struct tp_job_rank *rank,
			     size_t *match)
{
	size_t n = 0;
	size_t j = 0;
	for (size_t k = 0; k < first->n_steps; k++) {
		const struct tp_job_step *step = &first->steps[k];
		match[k] = TP_JOB_NO_STEP;
		while (j < rank->n_steps && rank->steps[j].end_ns <= step->start_ns)
			j++;
		for (size_t i = j; i < rank->n_steps && rank->steps[i].start_ns < step->end_ns;
		     i++) {
			double longer = fmax(length_of(step), length_of(&rank->steps[i]));
			if (2 * (double)overlap_ns(step, &rank->steps[i]) <= longer)
				continue;
			match[k] = i;
			n++;
			break;
		}
	}
	match_between(match, first->n_steps);
	return n;
}

/* Returns the number of steps by which the other rank is ahead, for borders that are too coarse for
 * match_by_clock(): the median, over steps, of the other's step that contains the middle. A lag
 * from lengths is not used on one host, because the common clock may contradict it. */
static int64_t lag_by_clock(const struct tp_job_rank *first, const struct tp_job_rank *rank)
{
	double *lags = tp_alloc((first->n_steps + 1) * sizeof(*lags));
	size_t n = 0;
	size_t i = 0;
	for (size_t k = 0; k < first->n_steps; k++) {
		const struct tp_job_step *step = &first->steps[k];
		uint64_t middle_ns = step->start_ns + (step->end_ns - step->start_ns) / 2;
		while (i < rank->n_steps && rank->steps[i].end_ns <= middle_ns)
			i++;
		if (i < rank->n_steps && rank->steps[i].start_ns <= middle_ns)
			lags[n++] = (double)i - (double)k;
	}
	double lag = n ? tp_stats_median(lags, n) : 0;
	free(lags);
	return (int64_t)lround(lag);
}

/* ---- by lengths ------------------------------------------------------------------------------ */

/* Returns the median difference of lengths if step k of the first rank is step k + lag of the
 * other, and the number of compared steps: at most as many as the largest lag are enough. */
static double difference_at(const struct tp_job_rank *first, const struct tp_job_rank *rank,
			    int64_t lag, double *scratch, size_t *n_compared)
{
	size_t n = 0;
	for (size_t k = 0; k < first->n_steps && n < TP_JOB_LAG_MAX; k++) {
		int64_t i = (int64_t)k + lag;
		if (i >= 0 && i < (int64_t)rank->n_steps)
			scratch[n++] =
				fabs(length_of(&first->steps[k]) - length_of(&rank->steps[i]));
	}
	*n_compared = n;
	return n ? tp_stats_median(scratch, n) : 0;
}

/* Finds the lag at which lengths agree clearly better than at others; returns false if there is
 * none. */
static bool find_lag(const struct tp_job_rank *first, const struct tp_job_rank *rank, int64_t *out)
{
	size_t shorter = first->n_steps < rank->n_steps ? first->n_steps : rank->n_steps;
	int64_t reach = (int64_t)shorter - (int64_t)TP_JOB_LAG_STEPS_MIN;
	reach = reach < (int64_t)TP_JOB_LAG_MAX ? reach : (int64_t)TP_JOB_LAG_MAX;
	if (reach < 1)
		return false;
	size_t n_lags = (size_t)(2 * reach + 1);
	double *scratch = tp_alloc(first->n_steps * sizeof(*scratch));
	double *all = tp_alloc(n_lags * sizeof(*all));
	double best = INFINITY;
	size_t n = 0;
	for (int64_t lag = -reach; lag <= reach; lag++) {
		size_t n_compared;
		double difference = difference_at(first, rank, lag, scratch, &n_compared);
		if (n_compared < TP_JOB_LAG_STEPS_MIN)
			continue;
		all[n++] = difference;
		if (difference < best) {
			best = difference;
			*out = lag;
		}
	}
	bool is_clear = n > 2 && best < TP_JOB_LAG_CLEAR_MAX * tp_stats_median(all, n);
	if (!is_clear)
		*out = 0;
	free(scratch);
	free(all);
	return is_clear;
}

static size_t match_by_lag(const struct tp_job_rank *first, const struct tp_job_rank *rank,
			   int64_t lag, size_t *match)
{
	size_t n = 0;
	for (size_t k = 0; k < first->n_steps; k++) {
		int64_t i = (int64_t)k + lag;
		bool is_there = i >= 0 && i < (int64_t)rank->n_steps;
		match[k] = is_there ? (size_t)i : TP_JOB_NO_STEP;
		n += is_there;
	}
	return n;
}

/* Returns the median difference of the ends: ranks leave a collective at about the same time. */
static int64_t clock_difference(const struct tp_job_rank *first, const struct tp_job_rank *rank,
				const size_t *match)
{
	double *values = tp_alloc((first->n_steps + 1) * sizeof(*values));
	size_t n = 0;
	for (size_t k = 0; k < first->n_steps; k++)
		if (match[k] != TP_JOB_NO_STEP)
			values[n++] = (double)(int64_t)(rank->steps[match[k]].end_ns -
							first->steps[k].end_ns);
	double skew = n ? tp_stats_median(values, n) : 0;
	free(values);
	return (int64_t)skew;
}

enum tp_job_join tp_job_align(const struct tp_job_rank *first, const struct tp_job_rank *rank,
			      size_t *match, int64_t *skew_ns)
{
	int64_t lag = 0;
	*skew_ns = 0;
	size_t shorter = first->n_steps < rank->n_steps ? first->n_steps : rank->n_steps;
	if (is_same_host(first, rank) && 2 * match_by_clock(first, rank, match) > shorter)
		return TP_JOB_BY_CLOCK;
	bool is_clear = false;
	if (is_same_host(first, rank))
		lag = lag_by_clock(first, rank);
	else
		is_clear = find_lag(first, rank, &lag);
	if (!match_by_lag(first, rank, lag, match))
		return TP_JOB_NOT_JOINED;
	*skew_ns = clock_difference(first, rank, match);
	return is_clear ? TP_JOB_BY_LENGTHS : TP_JOB_BY_ORDER;
}

bool tp_job_align_through(const struct tp_job_rank *reference, const size_t *reference_match,
			  size_t n, const struct tp_job_rank *rank, size_t *match)
{
	size_t *through = tp_alloc((reference->n_steps + 1) * sizeof(*through));
	size_t shorter = reference->n_steps < rank->n_steps ? reference->n_steps : rank->n_steps;
	bool is_good = 2 * match_by_clock(reference, rank, through) > shorter;
	for (size_t k = 0; k < n && is_good; k++)
		match[k] = reference_match[k] == TP_JOB_NO_STEP ? TP_JOB_NO_STEP
								: through[reference_match[k]];
	free(through);
	return is_good;
}
