/* SPDX-License-Identifier: Apache-2.0 */
/* A job of ranks with known work and waits, for tests of joining them. */
#include "job_scene.h"

#include "trainprof/analyze/job_join.h"
#include "trainprof/base/memory.h"

/* A small random generator, so that every run is the same. */
static uint64_t noise_ns(uint64_t *state, uint64_t most_ns)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return most_ns ? (*state >> 33) % most_ns : 0;
}

void job_scene_init(struct job_scene *scene, bool is_even)
{
	uint64_t state = 1;
	tp_job_init(&scene->job);
	for (size_t k = 0; k < JOB_SCENE_STEPS; k++)
		scene->length_ns[k] =
			40 * JOB_SCENE_MS + (is_even ? 0 : noise_ns(&state, 5 * JOB_SCENE_MS));
}

struct tp_job_rank *job_scene_add(struct job_scene *scene, int64_t number, const char *host,
				  uint64_t own_ns, uint64_t skew_ns, size_t first_step)
{
	struct tp_job *job = &scene->job;
	uint64_t state = (uint64_t)number + 7;
	struct tp_job_rank rank = {.number = number,
				   .n_ranks = 0,
				   .host = host,
				   .directory = "rank",
				   .end = TP_END_EXITED,
				   .step_ns = 42e6};
	uint64_t at = 1000 * JOB_SCENE_MS + skew_ns;
	rank.started_ns = at;
	rank.steps = tp_alloc(JOB_SCENE_STEPS * sizeof(*rank.steps));
	for (size_t k = 0; k < JOB_SCENE_STEPS; k++) {
		uint64_t length = scene->length_ns[k];
		uint64_t own = own_ns + noise_ns(&state, JOB_SCENE_MS);
		if (k >= first_step)
			rank.steps[rank.n_steps++] =
				(struct tp_job_step){.start_ns = at,
						     .end_ns = at + length,
						     .peer_ns = length > own ? length - own : 0,
						     .is_judged = true};
		at += length;
	}
	rank.n_judged = rank.n_steps;
	rank.ended_ns = at;
	rank.label_ns[TP_LABEL_COMPUTE_MATH] = (double)own_ns;
	rank.label_ns[TP_LABEL_COMMUNICATION_WAIT] = 42e6 - (double)own_ns;
	TP_ARRAY_PUSH(job->ranks, job->n_ranks, job->ranks_capacity) = rank;
	return &job->ranks[job->n_ranks - 1];
}

int64_t job_scene_late(const struct job_scene *scene)
{
	return scene->job.late == TP_JOB_NO_RANK ? -1 : scene->job.ranks[scene->job.late].number;
}
