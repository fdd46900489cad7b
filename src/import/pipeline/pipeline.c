/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the operations of a job in pipeline stages. */
#include "pipeline.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

void tp_pipeline_init(struct tp_pipeline *job)
{
	*job = (struct tp_pipeline){0};
	const struct tp_op_type *known;
	while ((known = tp_op_type_at(job->n_types)))
		job->types[job->n_types++] = (struct tp_pipeline_type){known->name, known};
}

void tp_pipeline_release(struct tp_pipeline *job)
{
	tp_arena_release(&job->arena);
	tp_map_release(&job->rank_ids);
	tp_map_release(&job->step_ids);
	free(job->steps);
	free(job->ops);
	*job = (struct tp_pipeline){0};
}

struct tp_pipeline_rank *tp_pipeline_rank(struct tp_pipeline *job, int64_t number)
{
	uint64_t index;
	if (tp_map_get(&job->rank_ids, (uint64_t)number, &index))
		return &job->ranks[index];
	if (job->n_ranks == TP_RANKS_MAX) {
		job->has_more_ranks = true;
		return NULL;
	}
	tp_map_set(&job->rank_ids, (uint64_t)number, job->n_ranks);
	struct tp_pipeline_rank *rank = &job->ranks[job->n_ranks++];
	*rank = (struct tp_pipeline_rank){.number = number,
					  .pipeline = -1,
					  .stage = -1,
					  .tensor = -1};
	return rank;
}

void tp_pipeline_skip(struct tp_pipeline_rank *rank, const char *why)
{
	if (!rank->n_skipped++)
		rank->skipped_because = why;
}

size_t tp_pipeline_type(struct tp_pipeline *job, const char *name, size_t len)
{
	/* Names that are kept end at their first NUL, and a file may contain one. */
	len = strnlen(name, len);
	for (size_t i = 0; i < job->n_types; i++)
		if (strncmp(job->types[i].name, name, len) == 0 && !job->types[i].name[len])
			return i;
	if (job->n_types == TP_PIPELINE_TYPES_MAX)
		return TP_PIPELINE_TYPES_MAX;
	job->types[job->n_types].name = tp_arena_strndup(&job->arena, name, len);
	return job->n_types++;
}

/* Returns the index of the step; TP_PIPELINE_STEPS_MAX if there are too many. */
static size_t step_find(struct tp_pipeline *job, int64_t number)
{
	uint64_t index;
	if (tp_map_get(&job->step_ids, (uint64_t)number, &index))
		return index;
	if (job->n_steps == TP_PIPELINE_STEPS_MAX)
		return TP_PIPELINE_STEPS_MAX;
	const struct tp_pipeline_step step = {.number = number,
					      .start_ns = UINT64_MAX,
					      .met_as = (uint32_t)job->n_steps};
	tp_map_set(&job->step_ids, (uint64_t)number, job->n_steps);
	TP_ARRAY_PUSH(job->steps, job->n_steps, job->steps_capacity) = step;
	return job->n_steps - 1;
}

static const char *check_op(const struct tp_pipeline *job, int64_t step,
			    const struct tp_pipeline_op *op)
{
	if (op->type >= TP_PIPELINE_TYPES_MAX)
		return "more types of operations than can be distinguished";
	if (step < 0)
		return "an operation of no step";
	if (op->end_ns < op->start_ns || op->end_ns > INT64_MAX)
		return "an operation without times that make sense";
	if (job->n_ops == TP_PIPELINE_OPS_MAX)
		return "more operations than are kept in memory";
	return NULL;
}

void tp_pipeline_add(struct tp_pipeline *job, struct tp_pipeline_rank *rank, int64_t step,
		     const struct tp_pipeline_op *op)
{
	const char *why = check_op(job, step, op);
	size_t index = why ? 0 : step_find(job, step);
	if (!why && index == TP_PIPELINE_STEPS_MAX)
		why = "more steps than are kept in memory";
	if (why) {
		tp_pipeline_skip(rank, why);
		return;
	}
	struct tp_pipeline_step *of = &job->steps[index];
	if (op->start_ns < of->start_ns)
		of->start_ns = op->start_ns;
	if (op->end_ns > of->end_ns)
		of->end_ns = op->end_ns;
	struct tp_pipeline_op added = *op;
	added.step = (uint32_t)index;
	added.rank = (uint16_t)(rank - job->ranks);
	TP_ARRAY_PUSH(job->ops, job->n_ops, job->ops_capacity) = added;
}
