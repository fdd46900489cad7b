/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which step of one rank is which of another. */
#ifndef TRAINPROF_SRC_ANALYZE_JOB_JOB_ALIGN_H
#define TRAINPROF_SRC_ANALYZE_JOB_JOB_ALIGN_H

#include "trainprof/model/job_result.h"

#define TP_JOB_NO_STEP SIZE_MAX

/*
 * match[k]: the step of `rank` that is step k of `first`, or TP_JOB_NO_STEP. On one host both have
 * the same clock. Otherwise the lengths of steps tell, because a job that waits for its slowest
 * rank makes all ranks' steps long and short together; where they do not tell, the first steps that
 * were seen count as the same. *skew_ns is the clock of `rank` minus that of `first`, by these
 * steps.
 */
enum tp_job_join tp_job_align(const struct tp_job_rank *first, const struct tp_job_rank *rank,
			      size_t *match, int64_t *skew_ns);

/* The same by a rank of the same host, whose match with n steps of the first is known: both have
 * one clock. False: too few steps are the same. */
bool tp_job_align_through(const struct tp_job_rank *reference, const size_t *reference_match,
			  size_t n, const struct tp_job_rank *rank, size_t *match);

#endif
