/* SPDX-License-Identifier: Apache-2.0 */
/* Names the properties of a job, and frees it. */
#include "trainprof/model/job_result.h"

#include <stdlib.h>

const char *tp_job_join_name(enum tp_job_join join)
{
	static const char *const names[] = {"none", "clock", "lengths", "order", "shares"};
	return (unsigned)join < TP_N_JOB_JOINS ? names[join] : "none";
}

const char *tp_job_verdict_name(enum tp_job_verdict verdict)
{
	static const char *const names[] = {"late_rank", "slow_host", "in_turn",
					    "all_wait",  "even",      "cannot_tell"};
	return (unsigned)verdict < TP_N_JOB_VERDICTS ? names[verdict] : "cannot_tell";
}

const char *tp_job_late_kind_name(enum tp_job_late_kind kind)
{
	static const char *const names[] = {"unknown",    "other_work",  "more_work",
					    "slower_cpu", "without_cpu", "other_stage"};
	return (unsigned)kind < TP_N_JOB_LATE_KINDS ? names[kind] : "unknown";
}

void tp_job_release(struct tp_job *job)
{
	for (size_t i = 0; i < job->n_ranks; i++)
		free(job->ranks[i].steps);
	free(job->ranks);
	tp_strtab_release(&job->texts);
	tp_arena_release(&job->arena);
	*job = (struct tp_job){0};
}
