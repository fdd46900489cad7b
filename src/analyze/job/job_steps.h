/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that all joined ranks of a job have: a row per step, a column per rank. */
#ifndef TRAINPROF_SRC_ANALYZE_JOB_JOB_STEPS_H
#define TRAINPROF_SRC_ANALYZE_JOB_JOB_STEPS_H

#include "trainprof/model/job_result.h"

/* The difference of the lengths of a step and the next one from those that are usual for each
 * rank. */
struct tp_job_shift {
	double sum_ns;      /* sizes of these changes, over ranks, of this step */
	double shift_ns[2]; /* of the rank with the largest opposite changes, in both steps */
};

struct tp_job_steps {
	struct tp_job *job; /* borrowed */
	size_t *ranks;      /* heap: indexes into job->ranks, by column */
	size_t n_ranks;
	size_t stride;  /* capacity in columns */
	double *own_ns; /* heap: n_steps x stride, times without exchanges and waits for others; NAN
			   = missing step, only while the table is filled */
	double *length_ns;           /* heap: n_steps, mean of the ranks */
	double *longest_ns;          /* heap: n_steps, the longest of the ranks */
	double *shortest_ns;         /* heap: n_steps, the shortest of the ranks */
	struct tp_job_shift *shifts; /* heap: by step */
	size_t n_steps;
};

/* Joins what can be joined: sets is_joined, skew_ns and the step numbers of ranks, and the job's
 * joined_by. The table is empty if no rank has enough judged steps. */
void tp_job_steps_build(struct tp_job_steps *steps, struct tp_job *job);
void tp_job_steps_release(struct tp_job_steps *steps);

#endif
