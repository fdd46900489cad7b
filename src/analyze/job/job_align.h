/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the steps of one rank with those of another. */
#ifndef TRAINPROF_SRC_ANALYZE_JOB_JOB_ALIGN_H
#define TRAINPROF_SRC_ANALYZE_JOB_JOB_ALIGN_H

#include "trainprof/model/job_result.h"

#define TP_JOB_NO_STEP SIZE_MAX

/*
 * Sets match[k] to the step of `rank` that is step k of `first`, or to TP_JOB_NO_STEP. On one host
 * both have the same clock. Otherwise the lengths of steps are compared, because a job that waits
 * for its slowest rank makes all ranks' steps long and short together; if they are inconclusive,
 * the first recorded steps are assumed to be the same. *skew_ns is the clock of `rank` minus that
 * of `first`, from these steps.
 */
enum tp_job_join tp_job_align(const struct tp_job_rank *first, const struct tp_job_rank *rank,
			      size_t *match, int64_t *skew_ns);

/* The same through a reference rank on the same host, whose match with n steps of the first rank is
 * known: both have one clock. Returns false if too few steps match. */
bool tp_job_align_through(const struct tp_job_rank *reference, const size_t *reference_match,
			  size_t n, const struct tp_job_rank *rank, size_t *match);

#endif
