/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins the ranks of a job by their steps and finds the rank that is last (docs/design/ranks.md).
 *
 * In a step that all ranks do together the last one waits least. A rank's own time in a step is its
 * length without exchanges and waits for others. The longest own time determines the step, and its
 * difference from the next longest is the gain of the job if the last rank becomes as fast as the
 * next.
 */
#include "trainprof/analyze/job_join.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "job_cause.h"
#include "job_cost.h"
#include "job_ends.h"
#include "job_gain.h"
#include "job_steps.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The joined ranks by their mean own time. */
struct comparison {
	struct tp_job_steps steps;
	double *mean_own_ns;           /* heap: by column */
	size_t *order;                 /* heap: columns, largest mean first */
	struct tp_estimate without_ns; /* length of a step as determined by the next rank */
};

/* ---- the last rank --------------------------------------------------------------------------- */

struct rank_mean {
	size_t index;
	double mean_ns;
};

static int by_mean(const void *a, const void *b)
{
	const struct rank_mean *x = a;
	const struct rank_mean *y = b;
	if (x->mean_ns != y->mean_ns)
		return x->mean_ns > y->mean_ns ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static void order_columns(struct comparison *j)
{
	struct rank_mean *means = tp_alloc(j->steps.n_ranks * sizeof(*means));
	j->mean_own_ns = tp_alloc(j->steps.n_ranks * sizeof(*j->mean_own_ns));
	j->order = tp_alloc(j->steps.n_ranks * sizeof(*j->order));
	for (size_t k = 0; k < j->steps.n_steps; k++)
		for (size_t c = 0; c < j->steps.n_ranks; c++)
			j->mean_own_ns[c] +=
				j->steps.own_ns[k * j->steps.stride + c] / (double)j->steps.n_steps;
	for (size_t c = 0; c < j->steps.n_ranks; c++)
		means[c] = (struct rank_mean){.index = c, .mean_ns = j->mean_own_ns[c]};
	qsort(means, j->steps.n_ranks, sizeof(*means), by_mean);
	for (size_t c = 0; c < j->steps.n_ranks; c++)
		j->order[c] = means[c].index;
	free(means);
}

/* Sets the sums over steps; counts for each rank the steps in which it was last. */
static void sum_steps(struct comparison *j)
{
	struct tp_job *job = j->steps.job;
	double wait = 0;
	double exchange = 0;
	double total = 0;
	for (size_t k = 0; k < j->steps.n_steps; k++) {
		const double *row = &j->steps.own_ns[k * j->steps.stride];
		size_t last = 0;
		double sum = 0;
		for (size_t c = 0; c < j->steps.n_ranks; c++) {
			last = row[c] > row[last] ? c : last;
			sum += row[c];
		}
		double next = 0;
		for (size_t c = 0; c < j->steps.n_ranks; c++)
			if (c != last && row[c] > next)
				next = row[c];
		if (row[last] - next > 0)
			job->ranks[j->steps.ranks[last]].n_last++;
		wait += row[last] - sum / (double)j->steps.n_ranks;
		exchange += fmax(0, j->steps.length_ns[k] - row[last]);
		total += j->steps.length_ns[k];
	}
	job->n_steps = j->steps.n_steps;
	job->step_ns = total / (double)j->steps.n_steps;
	job->wait_ratio = total > 0 ? wait / total : 0;
	job->exchange_ratio = total > 0 ? exchange / total : 0;
	for (size_t c = 0; c < j->steps.n_ranks; c++) {
		struct tp_job_rank *rank = &job->ranks[j->steps.ranks[c]];
		rank->n_joined = j->steps.n_steps;
		rank->own_ns = j->mean_own_ns[c];
		rank->wait_ns = fmax(0, job->step_ns - rank->own_ns);
	}
}

/* Returns how many ranks are late together: those above the widest gap in the upper half. */
static size_t count_late(const struct comparison *j)
{
	size_t best = 1;
	double widest = -1;
	for (size_t n = 1; n <= j->steps.n_ranks / 2; n++) {
		double gap = j->mean_own_ns[j->order[n - 1]] - j->mean_own_ns[j->order[n]];
		if (gap > widest) {
			widest = gap;
			best = n;
		}
	}
	return best;
}

/* Measures the delay of the late ranks: the difference between the nearest pair of a late and
 * another rank. */
static void measure_gap(struct comparison *j, size_t n_late)
{
	struct tp_job *job = j->steps.job;
	struct tp_estimate gap;
	double *values = tp_alloc(j->steps.n_steps * sizeof(*values));
	size_t inner = j->order[n_late - 1];
	size_t outer = j->order[n_late];
	for (size_t k = 0; k < j->steps.n_steps; k++)
		values[k] = j->steps.own_ns[k * j->steps.stride + inner] -
			    j->steps.own_ns[k * j->steps.stride + outer];
	tp_stats_mean(values, j->steps.n_steps, &gap);
	/* Length of the step without that delay: computed per step, because both vary together. */
	for (size_t k = 0; k < j->steps.n_steps; k++)
		values[k] = j->steps.length_ns[k] - values[k];
	tp_stats_mean(values, j->steps.n_steps, &j->without_ns);
	j->without_ns.low = fmax(j->without_ns.low, TP_JOB_WITHOUT_MIN * j->without_ns.value);
	free(values);
	job->late_ns = gap.value;
	job->late_low_ns = gap.low;
	job->late_high_ns = gap.high;
	job->n_last = 0;
	for (size_t i = 0; i < n_late; i++)
		job->n_last += job->ranks[j->steps.ranks[j->order[i]]].n_last;
}

static const char *common_host(const struct comparison *j, size_t n_late)
{
	const struct tp_job *job = j->steps.job;
	const char *host = job->ranks[j->steps.ranks[j->order[0]]].host;
	size_t n_there = 0;
	for (size_t c = 0; host && c < j->steps.n_ranks; c++) {
		const char *other = job->ranks[j->steps.ranks[c]].host;
		n_there += other && strcmp(other, host) == 0;
	}
	for (size_t i = 0; host && i < n_late; i++) {
		const char *other = job->ranks[j->steps.ranks[j->order[i]]].host;
		if (!other || strcmp(other, host) != 0)
			return NULL;
	}
	return host && n_late == n_there && job->n_hosts > 1 && n_there > 1 ? host : NULL;
}

static void set_late(struct comparison *j, size_t n_late)
{
	struct tp_job *job = j->steps.job;
	job->late = (int)j->steps.ranks[j->order[0]];
	job->n_late = n_late;
	for (size_t i = 0; i < n_late; i++)
		job->ranks[j->steps.ranks[j->order[i]]].is_late = true;
	tp_job_set_gain(job, &j->without_ns);
	job->slow_host = common_host(j, n_late);
	job->verdict = job->slow_host ? TP_JOB_SLOW_HOST : TP_JOB_LATE_RANK;
	job->is_sure = (double)job->n_last >= TP_JOB_LAST_MIN * (double)job->n_steps;
	if (!job->is_sure)
		job->because = "it is last in fewer than half of the steps";
	if (job->lacks_cpus && job->late_ns < tp_job_others_cpu_wait_ns(job)) {
		job->is_sure = false;
		job->because = "ranks wait longer for CPUs than for it";
	}
	tp_job_find_cause(job);
}

/* Counts readable ranks that were not joined. */
static size_t count_not_joined(const struct tp_job *job)
{
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++)
		n += !job->ranks[i].unreadable && !job->ranks[i].is_duplicate &&
		     !job->ranks[i].is_joined;
	return n;
}

/* Marks the verdict as uncertain if a rank that is missing, unreadable or was not compared could
 * change it. */
static void note_missing(struct tp_job *job)
{
	if ((!job->n_missing && !job->n_unreadable && !count_not_joined(job)) ||
	    job->exchange_ratio < TP_JOB_WAIT_MIN)
		return;
	job->is_sure = false;
	job->because = "all ranks wait, and a rank that was not compared may be later still";
}

/* Returns true if the late ranks come after the others in most steps: this is certain even where
 * the delay varies so much that its mean is not, as that of a throttled rank. */
static bool is_mostly_last(const struct comparison *j, size_t n_late)
{
	struct tp_estimate share;
	double *is_later = tp_alloc(j->steps.n_steps * sizeof(*is_later));
	size_t inner = j->order[n_late - 1];
	size_t outer = j->order[n_late];
	for (size_t k = 0; k < j->steps.n_steps; k++) {
		const double *row = &j->steps.own_ns[k * j->steps.stride];
		is_later[k] = row[inner] > row[outer];
	}
	tp_stats_mean(is_later, j->steps.n_steps, &share);
	free(is_later);
	return share.low > TP_JOB_MOSTLY_LAST_MIN;
}

static void judge(struct comparison *j)
{
	struct tp_job *job = j->steps.job;
	order_columns(j);
	sum_steps(j);
	size_t n_late = count_late(j);
	measure_gap(j, n_late);
	bool is_late = job->late_low_ns > 0 || is_mostly_last(j, n_late);
	if (is_late && job->late_ns >= TP_JOB_LATE_MIN * job->step_ns) {
		set_late(j, n_late);
	} else if (job->wait_ratio >= TP_JOB_WAIT_MIN &&
		   (job->wait_ratio >= job->exchange_ratio ||
		    job->exchange_ratio < TP_JOB_EXCHANGE_MIN)) {
		job->verdict = TP_JOB_IN_TURN;
		job->is_sure = true;
	} else if (job->exchange_ratio >= TP_JOB_EXCHANGE_MIN) {
		job->verdict = TP_JOB_ALL_WAIT;
		job->is_sure = !job->n_missing && !job->n_unreadable;
	} else {
		job->verdict = TP_JOB_EVEN;
		job->is_sure = true;
	}
	note_missing(job);
}

static const char *reason_not_joined(const struct tp_job *job, const struct comparison *j)
{
	size_t n_readable = 0;
	for (size_t i = 0; i < job->n_ranks; i++)
		n_readable += !job->ranks[i].unreadable && !job->ranks[i].is_duplicate;
	if (n_readable < 2)
		return "fewer than two ranks can be read";
	if (j->steps.n_ranks < 2)
		return "fewer than two ranks have steps that are the same";
	return "the ranks have too few steps in common";
}

/* ---- without steps --------------------------------------------------------------------------- */

static void drop_steps(struct tp_job *job, const char *why)
{
	job->joined_by = TP_JOB_NOT_JOINED;
	job->not_joined = why;
	job->verdict = TP_JOB_CANNOT_TELL;
	job->because = why;
	job->is_sure = false;
	job->n_steps = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		job->ranks[i].is_joined = false;
		job->ranks[i].n_last = 0;
	}
}

static double total_of(const struct tp_job_rank *rank)
{
	double total = 0;
	for (int label = 0; label < TP_N_LABELS; label++)
		total += rank->label_ns[label];
	return total;
}

/* Scales all times to those of one second. */
static void scale_to_second(struct tp_job_rank *rank)
{
	double factor = 1e9 / total_of(rank);
	rank->own_ns = 1e9;
	for (int label = 0; label < TP_N_LABELS; label++) {
		rank->label_ns[label] *= factor;
		if (tp_label_part((enum tp_label)label) == TP_PART_COMMUNICATION)
			rank->own_ns -= rank->label_ns[label];
	}
	for (size_t i = 0; i < rank->n_codes; i++)
		rank->codes[i].step_ns *= factor;
	rank->wait_ns = 1e9 - rank->own_ns;
	rank->is_joined = true;
}

/* The rank that waits least in total is the late one, if the difference is large: without steps no
 * more can be concluded. */
static void judge_by_shares(struct tp_job *job)
{
	int last = TP_JOB_NO_RANK;
	double next_ns = 0;
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		struct tp_job_rank *rank = &job->ranks[i];
		if (rank->unreadable || rank->is_duplicate || total_of(rank) <= 0)
			continue;
		scale_to_second(rank);
		n++;
		if (last == TP_JOB_NO_RANK || rank->own_ns > job->ranks[last].own_ns) {
			next_ns = last == TP_JOB_NO_RANK ? 0 : job->ranks[last].own_ns;
			last = (int)i;
		} else if (rank->own_ns > next_ns) {
			next_ns = rank->own_ns;
		}
	}
	if (n < 2)
		return;
	job->joined_by = TP_JOB_BY_SHARES;
	job->step_ns = 1e9;
	if (job->ranks[last].own_ns - next_ns < TP_JOB_SHARES_MIN * 1e9)
		return;
	job->late = last;
	job->n_late = 1;
	job->ranks[last].is_late = true;
	job->late_ns = job->ranks[last].own_ns - next_ns;
	job->late_high_ns = job->late_ns;
	job->gain = job->gain_high = tp_job_gain_of(job, job->late_ns);
	job->gain_low = 1;
	job->verdict = TP_JOB_LATE_RANK;
	job->because = "steps were not found; it is the one that waits least in all";
	tp_job_find_cause(job);
}

void tp_job_join(struct tp_job *job)
{
	struct comparison j = {0};
	tp_job_count_ranks(job);
	tp_job_find_ends(job);
	tp_job_find_cost(job);
	/* A rank that waits for a rank that is gone shows nothing about its earlier pace. */
	bool is_complete = !job->hang_ns && job->ended == TP_JOB_NO_RANK && !job->n_missing &&
			   !job->n_unreadable;
	tp_job_steps_build(&j.steps, job);
	if (job->joined_by != TP_JOB_NOT_JOINED && j.steps.n_steps >= TP_JOB_STEPS_MIN)
		judge(&j);
	else
		drop_steps(job, reason_not_joined(job, &j));
	/* The ranks may wait for one whose steps were not found. */
	if (job->verdict == TP_JOB_ALL_WAIT && count_not_joined(job) && is_complete)
		drop_steps(job, "not all ranks have steps that were found");
	if (job->joined_by == TP_JOB_NOT_JOINED && is_complete)
		judge_by_shares(job);
	tp_job_steps_release(&j.steps);
	free(j.mean_own_ns);
	free(j.order);
}
