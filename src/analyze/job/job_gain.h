/* SPDX-License-Identifier: Apache-2.0 */
/* Computes what a job gains without its late ranks, and how uncertain that is where CPUs lack. */
#ifndef TRAINPROF_SRC_ANALYZE_JOB_JOB_GAIN_H
#define TRAINPROF_SRC_ANALYZE_JOB_JOB_GAIN_H

#include "analyze/numeric/stats.h"
#include "trainprof/model/job_result.h"

/* Returns how long the rank waits for a CPU in a step. */
double tp_job_cpu_wait_ns(const struct tp_job_rank *rank);
/* Returns the factor by which steps that are shorter by `ns` are faster. */
double tp_job_gain_of(const struct tp_job *job, double ns);
/* Sets the gain with its interval, and lacks_cpus. Needs the ranks' own times, and which are joined
 * and late; `without` is the length of a step as the next rank determines it. */
void tp_job_set_gain(struct tp_job *job, const struct tp_estimate *without);
/* Returns the mean time in a step for which the other ranks wait for a CPU. */
double tp_job_others_cpu_wait_ns(const struct tp_job *job);

#endif
