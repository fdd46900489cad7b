/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the late rank's activity in a step with that of the others: first by function, because
 * two functions of one kind of work differ only in their names, then by kind of work. */
#include "job_cause.h"

#include "analyze/thresholds.h"
#include "job_gain.h"

#include <math.h>
#include <string.h>

static bool is_other(const struct tp_job_rank *rank)
{
	return rank->is_joined && !rank->is_late;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || strcmp(a ? a : "", b ? b : "") == 0; /* texts of digests exist once */
}

/* Names are short (job_rank.c): samples fall now into a generator expression, now into the function
 * around it. */
static bool is_same_function(const struct tp_job_code *a, const struct tp_job_code *b)
{
	return is_same_text(a->function, b->function) && is_same_text(a->file, b->file);
}

static double step_ns(const struct tp_job_code *code)
{
	return code->step_ns;
}

/* Excludes waits for a CPU, which hit a rank wherever it is. */
static double work_ns(const struct tp_job_code *code)
{
	return fmax(0, code->step_ns - code->queue_ns);
}

/* Returns the time to assume for a place that the rank's list does not have. If the rank has more
 * places than its list holds, it is the time of the last one in the list, an upper bound: a place
 * that is merely not listed makes no difference between ranks. */
static double left_out_ns(const struct tp_job_rank *rank)
{
	bool has_more = rank->n_codes && rank->n_places > rank->n_codes;
	return has_more ? rank->codes[rank->n_codes - 1].step_ns : 0;
}

static double sum_function(const struct tp_job_rank *rank, const struct tp_job_code *code,
			   double (*time_ns)(const struct tp_job_code *))
{
	double ns = 0;
	bool is_listed = false;
	for (size_t i = 0; i < rank->n_codes; i++) {
		if (!is_same_function(&rank->codes[i], code))
			continue;
		is_listed = true;
		ns += time_ns(&rank->codes[i]);
	}
	return is_listed ? ns : left_out_ns(rank);
}

static double function_ns(const struct tp_job_rank *rank, const struct tp_job_code *code)
{
	return sum_function(rank, code, step_ns);
}

static double function_work_ns(const struct tp_job_rank *rank, const struct tp_job_code *code)
{
	return sum_function(rank, code, work_ns);
}

static double line_ns(const struct tp_job_rank *rank, const struct tp_job_code *code)
{
	bool is_listed = false;
	for (size_t i = 0; i < rank->n_codes; i++) {
		if (!is_same_function(&rank->codes[i], code))
			continue;
		is_listed = true;
		if (rank->codes[i].line == code->line)
			return rank->codes[i].step_ns;
	}
	return is_listed ? 0 : left_out_ns(rank);
}

typedef double code_time_fn(const struct tp_job_rank *rank, const struct tp_job_code *code);

static double mean_of_others(const struct tp_job *job, code_time_fn *time,
			     const struct tp_job_code *code)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		if (!is_other(&job->ranks[i]))
			continue;
		sum += time(&job->ranks[i], code);
		n++;
	}
	return n ? sum / (double)n : 0;
}

static double label_of_others(const struct tp_job *job, int label)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		if (!is_other(&job->ranks[i]))
			continue;
		sum += job->ranks[i].label_ns[label];
		n++;
	}
	return n ? sum / (double)n : 0;
}

static void find_label(struct tp_job *job, const struct tp_job_rank *late)
{
	double most = 0;
	for (int label = 0; label < TP_N_LABELS; label++) {
		double others = label_of_others(job, label);
		if (tp_label_part((enum tp_label)label) == TP_PART_COMMUNICATION ||
		    late->label_ns[label] - others <= most)
			continue;
		most = late->label_ns[label] - others;
		job->late_label = (enum tp_label)label;
		job->late_label_ns = late->label_ns[label];
		job->others_label_ns = others;
	}
}

/* True for a place in which the rank mostly waits for a CPU. */
static bool is_cpu_wait(const struct tp_job_code *code)
{
	return code->label == TP_LABEL_IDLE_RUNNABLE || code->label == TP_LABEL_DATALOADER_QUEUE;
}

/* Returns the function with the largest surplus, and the line that has most of the function's
 * surplus. A surplus counts by its share of the function: what the others hardly do explains more
 * than what all do, where some difference is chance. */
static const struct tp_job_code *find_code(const struct tp_job *job, const struct tp_job_rank *late,
					   code_time_fn *function_time)
{
	const struct tp_job_code *best = NULL;
	double most = 0;
	double most_of_line = 0;
	for (size_t i = 0; i < late->n_codes; i++) {
		const struct tp_job_code *code = &late->codes[i];
		double own = function_time(late, code);
		double surplus = own - mean_of_others(job, function_time, code);
		double weight = surplus > 0 ? surplus * surplus / own : 0;
		double of_line = code->step_ns - mean_of_others(job, line_ns, code);
		bool is_same = best && is_same_function(best, code);
		/* A place that explains less than a quarter of the delay is not reported. */
		if ((function_time == function_work_ns && is_cpu_wait(code)) ||
		    4 * surplus < job->late_ns ||
		    (is_same ? of_line <= most_of_line : weight <= most))
			continue;
		best = code;
		most = weight;
		most_of_line = of_line;
	}
	return best;
}

/* A rank with more work also waits longer for CPUs, in whatever function it is then: so places with
 * work come first. */
static const struct tp_job_code *choose_code(const struct tp_job *job,
					     const struct tp_job_rank *late)
{
	const struct tp_job_code *code = find_code(job, late, function_work_ns);
	return code ? code : find_code(job, late, function_ns);
}

/* ---- kind of difference ---------------------------------------------------------------------- */

/* Returns true for the function's first line in the list, so that each function counts once. */
static bool is_first_line(const struct tp_job_rank *rank, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_same_function(&rank->codes[i], &rank->codes[index]))
			return false;
	return true;
}

/* The time of a function on the late rank divided by its time on the others, and the sampling error
 * as a share of that ratio. */
struct function_factor {
	double factor;
	double error;
};

struct function_factors {
	struct function_factor of[TP_JOB_PLACES_MAX]; /* functions that both have */
	size_t n;
	bool has_own; /* one of its functions the others do not have, or in too few samples */
};

/* Returns the square of the sampling error of a time: it is of n samples, give or take the root of
 * n. Waits for a CPU are no work, but their samples are as uncertain. */
static double squared_error(const struct tp_job_rank *rank, const struct tp_job_code *code)
{
	return rank->sample_ns * function_ns(rank, code);
}

static struct function_factor factor_of(const struct tp_job *job, const struct tp_job_rank *late,
					const struct tp_job_code *code)
{
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++)
		n += is_other(&job->ranks[i]);
	double own = function_work_ns(late, code);
	double others = mean_of_others(job, function_work_ns, code);
	double own_error = sqrt(squared_error(late, code)) / own;
	double others_error = sqrt(mean_of_others(job, squared_error, code) / (double)n) / others;
	return (struct function_factor){own / others, hypot(own_error, others_error)};
}

static struct function_factors compare_functions(const struct tp_job *job,
						 const struct tp_job_rank *late)
{
	struct function_factors all = {0};
	for (size_t i = 0; i < late->n_codes; i++) {
		const struct tp_job_code *code = &late->codes[i];
		/* Short functions have few samples: their factors are unreliable. */
		if (!is_first_line(late, i) || 10 * function_work_ns(late, code) < late->own_ns)
			continue;
		bool is_common = mean_of_others(job, function_work_ns, code) > 0;
		struct function_factor one = {0};
		if (is_common)
			one = factor_of(job, late, code);
		all.has_own |= !is_common || one.error > TP_JOB_FACTOR_ERROR_MAX;
		if (is_common)
			all.of[all.n++] = one;
	}
	return all;
}

/* Functions differ a little in what makes them slow, and twice the error of sampling. */
static bool is_about_same(const struct function_factor *a, const struct function_factor *b)
{
	double spread_max = TP_JOB_FACTORS_MAX * exp(2 * hypot(a->error, b->error));
	return a->factor < spread_max * b->factor && b->factor < spread_max * a->factor;
}

/* Returns true if all functions take longer than with the others, by about the same factor. */
static bool is_all_longer(const struct function_factors *all)
{
	for (size_t i = 0; i < all->n; i++) {
		if (all->of[i].factor <= 1)
			return false;
		for (size_t k = 0; k < i; k++)
			if (!is_about_same(&all->of[i], &all->of[k]))
				return false;
	}
	return all->n > 1 && !all->has_own;
}

static double cpu_wait_ns(const struct tp_job_rank *rank, const struct tp_job_code *unused)
{
	(void)unused;
	return tp_job_cpu_wait_ns(rank);
}

static double busy_ns(const struct tp_job_rank *rank, const struct tp_job_code *unused)
{
	return fmax(0, rank->own_ns - cpu_wait_ns(rank, unused));
}

/* If all ranks lack CPUs, more work leads to more waits for CPUs: these waits do not explain the
 * delay. */
static bool is_without_cpu(const struct tp_job *job, const struct tp_job_rank *late)
{
	double waits = cpu_wait_ns(late, NULL);
	double others = mean_of_others(job, cpu_wait_ns, NULL);
	return waits - others >= TP_JOB_CPU_WAIT_MIN * job->late_ns &&
	       waits * mean_of_others(job, busy_ns, NULL) >
		       TP_JOB_FACTORS_MAX * others * busy_ns(late, NULL);
}

/* Returns the share of a rank's known work in functions that another rank has, too, up to the
 * other's time in them. */
static double common_share(const struct tp_job_rank *rank, const struct tp_job_rank *other)
{
	double known = 0;
	double common = 0;
	for (size_t i = 0; i < rank->n_codes; i++) {
		if (!is_first_line(rank, i))
			continue;
		double own = function_ns(rank, &rank->codes[i]);
		known += own;
		common += fmin(own, function_ns(other, &rank->codes[i]));
	}
	/* If most of the work is unknown, the common share is unknown, too. */
	return known > 0 && 2 * known >= rank->own_ns ? common / known : 1;
}

/* A slow loader adds work to that of the others; a pipeline stage has different work instead. */
static bool is_other_stage(const struct tp_job *job, const struct tp_job_rank *late)
{
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		if (is_other(rank) && (common_share(late, rank) >= TP_JOB_COMMON_MAX ||
				       common_share(rank, late) >= TP_JOB_COMMON_MAX))
			return false;
	}
	return true;
}

static enum tp_job_late_kind kind_of(const struct tp_job *job, const struct tp_job_rank *late)
{
	const struct function_factors all = compare_functions(job, late);
	const struct tp_job_code *code = job->late_code;
	double own = code ? function_ns(late, code) : 0;
	double others = code ? mean_of_others(job, function_ns, code) : 0;
	if (is_without_cpu(job, late))
		return TP_JOB_LATE_WITHOUT_CPU;
	if (is_other_stage(job, late))
		return TP_JOB_LATE_OTHER_STAGE;
	if (is_all_longer(&all))
		return TP_JOB_LATE_SLOWER_CPU;
	if (!code)
		return TP_JOB_LATE_UNKNOWN;
	return others < TP_JOB_SAME_WORK_MIN * own ? TP_JOB_LATE_OTHER_WORK : TP_JOB_LATE_MORE_WORK;
}

/* True if the mean of the others at that place is only known to be no larger. */
static bool is_bound(const struct tp_job *job, const struct tp_job_code *code)
{
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		bool is_listed = false;
		for (size_t k = 0; k < rank->n_codes; k++)
			is_listed |= is_same_function(&rank->codes[k], code);
		if (is_other(rank) && !is_listed && left_out_ns(rank) > 0)
			return true;
	}
	return false;
}

void tp_job_find_cause(struct tp_job *job)
{
	const struct tp_job_rank *late = &job->ranks[job->late];
	find_label(job, late);
	job->late_code = choose_code(job, late);
	job->late_kind = kind_of(job, late);
	if (!job->late_code)
		return;
	job->others_code_ns = mean_of_others(job, line_ns, job->late_code);
	job->others_code_is_bound = is_bound(job, job->late_code);
	/* The kind of work at the found place is more specific than a surplus of a label elsewhere,
	 * unless the rank lacks a CPU. */
	if (tp_label_part(job->late_code->label) != TP_PART_COMMUNICATION &&
	    job->late_kind != TP_JOB_LATE_WITHOUT_CPU) {
		job->late_label = job->late_code->label;
		job->late_label_ns = late->label_ns[job->late_label];
		job->others_label_ns = label_of_others(job, (int)job->late_label);
	}
}
