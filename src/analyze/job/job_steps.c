/* SPDX-License-Identifier: Apache-2.0 */
/* Aligns the steps of a job's ranks and keeps those that all have. */
#include "job_steps.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "job_align.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool can_join(const struct tp_job_rank *rank)
{
	return !rank->unreadable && !rank->is_duplicate && rank->n_judged >= TP_JOB_STEPS_MIN;
}

/* Returns the rank with the most judged steps; -1 if there is none. */
static int find_first(const struct tp_job *job)
{
	int best = -1;
	for (size_t i = 0; i < job->n_ranks; i++)
		if (can_join(&job->ranks[i]) &&
		    (best < 0 || job->ranks[i].n_judged > job->ranks[best].n_judged))
			best = (int)i;
	return best;
}

static bool has_same_steps(const struct tp_job_rank *first, const struct tp_job_rank *rank)
{
	double larger = fmax(first->step_ns, rank->step_ns);
	return fabs(first->step_ns - rank->step_ns) <= TP_JOB_LENGTHS_MAX * larger;
}

static double shift_ns(const double *changes_ns)
{
	return fabs(changes_ns[0] - changes_ns[1]) / 2;
}

/* Notes by how much the rank's steps differ from their usual length. */
static void add_shifts(struct tp_job_steps *steps, const struct tp_job_rank *rank, size_t n_steps,
		       const size_t *match)
{
	double *lengths = tp_alloc(2 * (n_steps + 1) * sizeof(*lengths));
	double *changes = lengths + n_steps + 1;
	size_t n = 0;
	for (size_t k = 0; k < n_steps; k++) {
		changes[k] = NAN;
		if (match[k] == TP_JOB_NO_STEP)
			continue;
		const struct tp_job_step *step = &rank->steps[match[k]];
		changes[k] = (double)(step->end_ns - step->start_ns);
		lengths[n++] = changes[k];
	}
	double usual = n ? tp_stats_median(lengths, n) : 0;
	for (size_t k = n_steps; k-- > 0;) {
		struct tp_job_shift *shift = &steps->shifts[k];
		changes[k] -= usual;
		shift->sum_ns += fabs(changes[k]);
		/* NAN if one of the steps is missing. */
		bool is_opposite = k + 1 < n_steps &&
				   fabs(changes[k] + changes[k + 1]) < shift_ns(&changes[k]) / 2;
		if (is_opposite && shift_ns(&changes[k]) > shift_ns(shift->shift_ns))
			memcpy(shift->shift_ns, &changes[k], sizeof(shift->shift_ns));
	}
	free(lengths);
}

/* Adds a column with a row for each step of the first rank, so that only one rank's steps are
 * needed at a time. */
static void add_column(struct tp_job_steps *steps, size_t index, size_t n_steps,
		       const size_t *match)
{
	struct tp_job_rank *rank = &steps->job->ranks[index];
	for (size_t k = 0; k < n_steps; k++) {
		double *cell = &steps->own_ns[k * steps->stride + steps->n_ranks];
		*cell = NAN;
		if (match[k] == TP_JOB_NO_STEP)
			continue;
		struct tp_job_step *step = &rank->steps[match[k]];
		step->joined = (uint32_t)k + 1; /* number in the first rank; see number_steps() */
		double ns = (double)(step->end_ns - step->start_ns);
		*cell = ns - (double)step->peer_ns;
		steps->length_ns[k] += ns;
		bool is_first = steps->n_ranks == 0;
		steps->longest_ns[k] = is_first ? ns : fmax(ns, steps->longest_ns[k]);
		steps->shortest_ns[k] = is_first ? ns : fmin(ns, steps->shortest_ns[k]);
	}
	add_shifts(steps, rank, n_steps, match);
	steps->ranks[steps->n_ranks++] = index;
}

/* Converts step numbers of the first rank to those of the job. */
static void number_steps(const struct tp_job_steps *steps, const uint32_t *numbers)
{
	for (size_t c = 0; c < steps->n_ranks; c++) {
		struct tp_job_rank *rank = &steps->job->ranks[steps->ranks[c]];
		for (size_t i = 0; i < rank->n_steps; i++)
			if (rank->steps[i].joined)
				rank->steps[i].joined = numbers[rank->steps[i].joined - 1];
	}
}

static bool is_whole(const struct tp_job_steps *steps, const struct tp_job_rank *first, size_t k)
{
	bool is_there = first->steps[k].is_judged;
	for (size_t c = 0; c < steps->n_ranks && is_there; c++)
		is_there = !isnan(steps->own_ns[k * steps->stride + c]);
	return is_there;
}

/* The difference between a step's length on one rank and on another, as a share. */
static double spread_of(const struct tp_job_steps *steps, size_t k)
{
	return 1 - steps->shortest_ns[k] / steps->longest_ns[k];
}

/* Returns the largest spread of steps that need no further look. */
static double find_spread_limit(const struct tp_job_steps *steps, const struct tp_job_rank *first)
{
	double *spreads = tp_alloc((first->n_steps + 1) * sizeof(*spreads));
	size_t n = 0;
	for (size_t k = 0; k < first->n_steps; k++)
		if (is_whole(steps, first, k))
			spreads[n++] = spread_of(steps, k);
	double median = n ? tp_stats_median(spreads, n) : 0;
	free(spreads);
	return fmin(TP_JOB_LENGTHS_MAX,
		    fmax(TP_JOB_SPREAD_MIN, TP_JOB_SPREAD_MEDIANS_MAX * median));
}

/* True if the border between a step and the next one is at the wrong time on one rank: it has one
 * that is longer than usual and one that is shorter by as much, while those of the others are as
 * usual. The others of a rank that is late wait for it, so that one of their steps is longer. */
static bool is_border_shifted(const struct tp_job_steps *steps, size_t k, double limit)
{
	const struct tp_job_shift *shift = &steps->shifts[k];
	double moved_ns = shift_ns(shift->shift_ns);
	if (!(fmax(spread_of(steps, k), spread_of(steps, k + 1)) > limit) || !(moved_ns > 0))
		return false;
	for (size_t i = 0; i < 2; i++) {
		double others_ns = shift[i].sum_ns - fabs(shift->shift_ns[i]);
		if (!(others_ns / (double)(steps->n_ranks - 1) < moved_ns / 2))
			return false;
	}
	return true;
}

/* Keeps only the steps that all ranks have, with borders that agree: the work beyond a wrong border
 * would make ranks seem late in turn. */
static void keep_whole_steps(struct tp_job_steps *steps, const struct tp_job_rank *first)
{
	uint32_t *numbers = tp_alloc((first->n_steps + 1) * sizeof(*numbers));
	double limit = find_spread_limit(steps, first);
	bool is_start_wrong = false;
	for (size_t k = 0; k < first->n_steps; k++) {
		const double *row = &steps->own_ns[k * steps->stride];
		bool is_end_wrong = k + 1 < first->n_steps && is_border_shifted(steps, k, limit);
		bool is_wrong = is_start_wrong || is_end_wrong;
		is_start_wrong = is_end_wrong;
		if (!is_whole(steps, first, k))
			continue;
		steps->job->n_misplaced += is_wrong;
		if (is_wrong)
			continue;
		memmove(&steps->own_ns[steps->n_steps * steps->stride], row,
			steps->n_ranks * sizeof(*row));
		steps->length_ns[steps->n_steps++] = steps->length_ns[k] / (double)steps->n_ranks;
		numbers[k] = (uint32_t)steps->n_steps;
	}
	number_steps(steps, numbers);
	free(numbers);
}

/* True for a recording with less than half of the steps: it would leave few common steps for all
 * others. */
static bool is_short(const struct tp_job_rank *first, const size_t *match)
{
	size_t n = 0;
	size_t n_all = 0;
	for (size_t k = 0; k < first->n_steps; k++) {
		n_all += first->steps[k].is_judged;
		n += first->steps[k].is_judged && match[k] != TP_JOB_NO_STEP;
	}
	return 2 * n < n_all;
}

/* The first aligned rank of each host: the others have its clock. */
struct references {
	struct tp_map by_host; /* hash of the host name -> index */
	struct reference {
		const struct tp_job_rank *rank;
		size_t *match;
		enum tp_job_join by;
	} * items;
	size_t n, capacity;
};

static void release_references(struct references *references)
{
	for (size_t i = 0; i < references->n; i++)
		free(references->items[i].match);
	free(references->items);
	tp_map_release(&references->by_host);
}

static enum tp_job_join align(struct references *references, const struct tp_job_rank *first,
			      struct tp_job_rank *rank, size_t *match)
{
	size_t n = first->n_steps;
	uint64_t key = rank->host ? tp_hash_bytes(rank->host, strlen(rank->host)) : 0;
	uint64_t index;
	if (rank->host && references->items && tp_map_get(&references->by_host, key, &index)) {
		const struct reference *known = &references->items[index];
		rank->skew_ns = known->rank->skew_ns;
		if (strcmp(known->rank->host, rank->host) == 0 &&
		    tp_job_align_through(known->rank, known->match, n, rank, match))
			return known->by;
	}
	enum tp_job_join by = tp_job_align(first, rank, match, &rank->skew_ns);
	if (by == TP_JOB_BY_LENGTHS && rank->host) {
		struct reference reference = {.rank = rank,
					      .by = by,
					      .match = tp_alloc((n + 1) * sizeof(*match))};
		memcpy(reference.match, match, n * sizeof(*match));
		tp_map_set(&references->by_host, key, references->n);
		TP_ARRAY_PUSH(references->items, references->n, references->capacity) = reference;
	}
	return by;
}

static bool is_candidate(const struct tp_job_rank *first, const struct tp_job_rank *rank)
{
	return can_join(rank) && has_same_steps(first, rank);
}

void tp_job_steps_build(struct tp_job_steps *steps, struct tp_job *job)
{
	int first_rank = find_first(job);
	*steps = (struct tp_job_steps){.job = job};
	if (first_rank < 0)
		return;
	const struct tp_job_rank *first = &job->ranks[first_rank];
	size_t n = first->n_steps;
	size_t *match = tp_alloc((n + 1) * sizeof(*match));
	enum tp_job_join weakest = TP_JOB_BY_CLOCK;
	struct references references = {0};
	for (size_t i = 0; i < job->n_ranks; i++)
		steps->stride += is_candidate(first, &job->ranks[i]);
	steps->ranks = tp_alloc((steps->stride + 1) * sizeof(*steps->ranks));
	steps->own_ns = tp_alloc((n + 1) * steps->stride * sizeof(*steps->own_ns));
	steps->length_ns = tp_alloc((n + 1) * sizeof(*steps->length_ns));
	steps->longest_ns = tp_alloc((n + 1) * sizeof(*steps->longest_ns));
	steps->shortest_ns = tp_alloc((n + 1) * sizeof(*steps->shortest_ns));
	steps->shifts = tp_alloc((n + 1) * sizeof(*steps->shifts));
	for (size_t i = 0; i < job->n_ranks; i++) {
		struct tp_job_rank *rank = &job->ranks[i];
		if (!is_candidate(first, rank))
			continue;
		enum tp_job_join by = align(&references, first, rank, match);
		rank->is_joined = by != TP_JOB_NOT_JOINED && !is_short(first, match);
		if (!rank->is_joined)
			continue;
		weakest = by > weakest ? by : weakest;
		add_column(steps, i, n, match);
	}
	free(match);
	release_references(&references);
	if (steps->n_ranks > 1)
		keep_whole_steps(steps, first);
	job->joined_by = steps->n_ranks > 1 && steps->n_steps ? weakest : TP_JOB_NOT_JOINED;
}

void tp_job_steps_release(struct tp_job_steps *steps)
{
	free(steps->ranks);
	free(steps->own_ns);
	free(steps->length_ns);
	free(steps->longest_ns);
	free(steps->shortest_ns);
	free(steps->shifts);
}
