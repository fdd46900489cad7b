/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates what a job gains without its late ranks.
 *
 * Without the delay a step is as long as the next rank makes it. Where ranks compete for CPUs, that
 * changes in two ways, which widen the interval:
 *
 * - A late rank no longer takes a CPU from the others, or takes it at another time. On a CPU it
 *   delays one of them at a time. So the waits of one of them change by at most the time that it
 *   works, shared among them.
 * - All ranks reach the exchange together. While others were waiting for the late rank, their work
 *   and that of the exchange had the CPUs for themselves.
 */
#include "job_gain.h"

#include "analyze/thresholds.h"

#include <math.h>
#include <string.h>

/* Means and sums over the joined ranks that are not late. */
struct others {
	size_t n;
	double cpu_wait_ns; /* mean */
	double own_ns;      /* largest */
	double least_ns;    /* largest own time without waits for CPUs */
	/* On the host of the late rank. */
	size_t n_host, n_host_late;
	double host_busy_ns; /* sum */
	double n_cpus;       /* of the host, if each of its ranks could use all; or 0 */
};

double tp_job_cpu_wait_ns(const struct tp_job_rank *rank)
{
	return rank->label_ns[TP_LABEL_IDLE_RUNNABLE] + rank->label_ns[TP_LABEL_DATALOADER_QUEUE];
}

double tp_job_gain_of(const struct tp_job *job, double ns)
{
	double least = job->step_ns * 0.01; /* limits the gain to a factor of 100 */
	double rest = job->step_ns - fmax(0, ns);
	return job->step_ns / fmax(rest, least);
}

/* Ranks that could use only some of the host's CPUs may each be bound to others: how many they have
 * together is unknown. */
static void add_to_host(struct others *sum, const struct tp_job_rank *rank, double busy_ns)
{
	bool is_first = sum->n_host + sum->n_host_late == 0;
	bool has_all = rank->n_cpus >= rank->n_host_cpus && rank->n_host_cpus > 0;
	sum->n_cpus = has_all && (is_first || sum->n_cpus > 0) ? rank->n_host_cpus : 0;
	sum->n_host_late += rank->is_late;
	if (rank->is_late)
		return;
	sum->n_host++;
	sum->host_busy_ns += busy_ns;
}

static struct others sum_others(const struct tp_job *job)
{
	const char *host = job->ranks[job->late].host;
	struct others sum = {0};
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		double cpu_wait_ns = tp_job_cpu_wait_ns(rank);
		double busy_ns = fmax(0, rank->own_ns - cpu_wait_ns);
		if (!rank->is_joined)
			continue;
		if (strcmp(host ? host : "", rank->host ? rank->host : "") == 0)
			add_to_host(&sum, rank, busy_ns);
		if (rank->is_late)
			continue;
		sum.n++;
		sum.cpu_wait_ns += cpu_wait_ns;
		sum.own_ns = fmax(sum.own_ns, rank->own_ns);
		sum.least_ns = fmax(sum.least_ns, busy_ns);
	}
	if (sum.n)
		sum.cpu_wait_ns /= (double)sum.n;
	return sum;
}

double tp_job_others_cpu_wait_ns(const struct tp_job *job)
{
	return sum_others(job).cpu_wait_ns;
}

/* Returns how long the ranks of the late rank's host need if each works as long as the others and
 * all CPUs are busy. Time in which they sleep counts as work: this is no lower bound of a step. */
static double all_work_ns(const struct others *sum)
{
	if (!sum->n_host || sum->n_cpus <= 0)
		return 0;
	double mean_ns = sum->host_busy_ns / (double)sum->n_host;
	return mean_ns * (double)(sum->n_host + sum->n_host_late) / sum->n_cpus;
}

void tp_job_set_gain(struct tp_job *job, const struct tp_estimate *without)
{
	struct others sum = sum_others(job);
	double exchange_ns = job->exchange_ratio * job->step_ns;
	double change_ns = fmin(sum.cpu_wait_ns, (double)job->n_late * sum.own_ns / (double)sum.n);
	double low_ns =
		fmax(without->low - 2 * change_ns, fmin(sum.least_ns + exchange_ns, without->low));
	double high_ns = without->high;
	job->lacks_cpus = sum.cpu_wait_ns >= TP_JOB_CPU_WAITS_MAX * without->value;
	if (job->lacks_cpus)
		high_ns = fmax(high_ns, all_work_ns(&sum) + exchange_ns);
	high_ns += 2 * change_ns;
	job->gain = tp_job_gain_of(job, job->late_ns);
	job->gain_low = fmax(1, tp_job_gain_of(job, job->step_ns - high_ns));
	job->gain_high = tp_job_gain_of(job, job->step_ns - low_ns);
}
